"""The built-in sample: visits to named places of a made-up city, so that demo and tests need no download.

People live in a district and go to places near it, of kinds and in a style they like, famous ones more often. Only
additions, products and quotients of uniform draws are used: the same world comes out on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparserec.data.columns import Columns, ReadReport, Source, build_source
from sparserec.data.interactions import ItemInfo

# Words from which the places of the built-in sample city get their names.

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


N_USERS, N_PLACES, N_STYLES = 3000, 2000, 10
_ELSEWHERE, _NEARBY, _CENTRE = 0.01, 0.25, 0.05
_OTHER_CATEGORY, _OTHER_STYLE = 0.01, 0.1
_FEWEST_VISITS = 14
_LIKED = (1.0, 0.7, 0.5)
_YEAR_START, _YEAR_SECONDS = 1_704_067_200, 366 * 86_400


@dataclass(frozen=True)
class _Places:
    districts: np.ndarray
    categories: np.ndarray
    styles: np.ndarray
    fame: np.ndarray


def make_world(seed: int = 0) -> Source:
    """About 120,000 visits of 3,000 people to 2,000 places, with times, titles and tags; pure function of `seed`."""
    rng = np.random.Generator(np.random.PCG64(seed))
    places = _make_places(rng)
    info = ItemInfo(titles=_titles(rng, places.categories), tags=_tags(places))
    users, items = _visits(rng, places)
    times = _YEAR_START + (rng.random(len(users)) * _YEAR_SECONDS).astype(np.int64)
    columns = Columns(_names("u", N_USERS)[users], _names("p", N_PLACES)[items], times=times, where="world")
    report = ReadReport(f"built-in sample: a year in {CITY}, a made-up city")
    source = build_source({"train": columns}, report)
    known = np.array([int(name[1:]) for name in source.train.item_ids.external()])
    return source.with_item_info(info.take(known))


def _names(prefix: str, count: int) -> np.ndarray:
    return np.array([f"{prefix}{number:04d}" for number in range(count)])


def _draw(rng: np.random.Generator, choices: int, size: int) -> np.ndarray:
    return (rng.random(size) * choices).astype(np.int32)


def _make_places(rng: np.random.Generator) -> _Places:
    """Fame falls like one over rank, in a random order of places: the power law of real visit counts."""
    rank = np.argsort(rng.random(N_PLACES), kind="stable")
    return _Places(
        districts=_draw(rng, len(DISTRICTS), N_PLACES),
        categories=_draw(rng, len(CATEGORIES), N_PLACES),
        styles=_draw(rng, N_STYLES, N_PLACES),
        fame=1.0 / (rank + 40.0),
    )


def _visits(rng: np.random.Generator, places: _Places) -> tuple[np.ndarray, np.ndarray]:
    """Distinct places per person: the earliest of a race in which appealing places tend to come first."""
    users, items = [], []
    for user in range(N_USERS):
        appeal = _appeal(rng, places)
        # few people go out a lot: one over a uniform draw has a heavy tail
        count = int(_FEWEST_VISITS + 8 / (rng.random() + 0.03))
        draws = rng.random(N_PLACES)
        arrival = draws / ((1.0 - draws) * appeal)
        users.append(np.full(count, user))
        items.append(np.sort(np.argpartition(arrival, count)[:count]))
    return np.concatenate(users), np.concatenate(items)


def _appeal(rng: np.random.Generator, places: _Places) -> np.ndarray:
    """How likely one new person is to go to each place."""
    near = np.full(len(DISTRICTS), _ELSEWHERE)
    near[0] = _CENTRE
    home = int(rng.random() * len(DISTRICTS))
    near[[home - 1, (home + 1) % len(DISTRICTS)]] = _NEARBY
    near[home] = 1.0
    kinds = np.full(len(CATEGORIES), _OTHER_CATEGORY)
    kinds[np.argsort(rng.random(len(CATEGORIES)), kind="stable")[: len(_LIKED)]] = _LIKED
    styles = np.full(N_STYLES, _OTHER_STYLE)
    styles[_draw(rng, N_STYLES, 3)] = 1.0
    return places.fame * near[places.districts] * kinds[places.categories] * styles[places.styles]


def _titles(rng: np.random.Generator, categories: np.ndarray) -> list[str]:
    """A different name for each place: every pair of words is used before one comes again with another ending."""
    endings = list(CATEGORIES.values())
    pairs = np.argsort(rng.random(len(FIRST_WORDS) * len(SECOND_WORDS)), kind="stable")
    titles: dict[str, None] = {}
    for number, category in enumerate(categories):
        first, second = divmod(int(pairs[number % len(pairs)]), len(SECOND_WORDS))
        start = f"{FIRST_WORDS[first]} {SECOND_WORDS[second]}"
        offered = (f"{start} {endings[category][(number + k) % 4]}" for k in range(4))
        titles[next(title for title in offered if title not in titles)] = None
    return list(titles)


def _tags(places: _Places) -> list[tuple[str, ...]]:
    kinds = list(CATEGORIES)
    return [
        (DISTRICTS[district], kinds[category])
        for district, category in zip(places.districts, places.categories)
    ]
