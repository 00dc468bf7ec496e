"""Words from which the places of the built-in sample city get their names."""

from __future__ import annotations

CITY = "Veyra"

DISTRICTS = (
    "Lantern Square", "Harbour Steps", "Old Mint", "Willowgate", "Saltmarket", "Copper Hill", "Kingfisher Quay",
    "Observatory Park", "Tanners Row", "Mirabel", "Northlock", "Glasshouse Fields", "Ferry Bend", "Orchard End",
    "Stonewell", "Heron Bank",
)  # fmt: skip

# category: the words a place of that kind ends with
CATEGORIES = {
    "café": ("Café", "Coffee House", "Roasters", "Espresso Bar"),
    "bakery": ("Bakery", "Patisserie", "Bread Co.", "Ovens"),
    "restaurant": ("Kitchen", "Bistro", "Dining Room", "Table"),
    "bar": ("Bar", "Tavern", "Taproom", "Wine Cellar"),
    "museum": ("Museum", "Collection", "Gallery", "House of Art"),
    "music": ("Music Hall", "Jazz Club", "Stage", "Listening Room"),
    "bookshop": ("Books", "Bookshop", "Reading Room", "Press"),
    "garden": ("Garden", "Park", "Arboretum", "Terrace"),
    "cinema": ("Cinema", "Picture House", "Film Club", "Screen"),
    "sports": ("Climbing Hall", "Baths", "Boathouse", "Courts"),
    "market": ("Market", "Grocers", "Food Hall", "Provisions"),
    "workshop": ("Workshop", "Pottery", "Makers", "Print Studio"),
}

FIRST_WORDS = (
    "Amber", "Blue", "Brass", "Bright", "Cedar", "Clover", "Copper", "Coral", "Crimson", "Crooked", "Early", "Emerald",
    "Fabled", "Gentle", "Gilded", "Golden", "Green", "Hidden", "Honest", "Ivory", "Jolly", "Late", "Little", "Lucky",
    "Marble", "Mellow", "Merry", "Midnight", "Misty", "Paper", "Patient", "Pearl", "Quiet", "Red", "Rusty", "Scarlet",
    "Silver", "Singing", "Sleepy", "Velvet", "Wandering", "White", "Wild", "Winter",
)  # fmt: skip

SECOND_WORDS = (
    "Acorn", "Anchor", "Badger", "Barrel", "Beacon", "Bell", "Bicycle", "Bridge", "Candle", "Cat", "Compass", "Crow",
    "Door", "Fern", "Fiddle", "Finch", "Fox", "Gate", "Goose", "Hare", "Hedgehog", "Key", "Kite", "Ladder", "Lark",
    "Lighthouse", "Lion", "Moon", "Mushroom", "Needle", "Oak", "Otter", "Owl", "Pear", "Pigeon", "Plum", "Rabbit",
    "Sparrow", "Spoon", "Star", "Swan", "Thimble", "Tortoise", "Umbrella",
)  # fmt: skip
