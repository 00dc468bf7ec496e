"""Which column is which: common names for user, item, rating and time."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from sparserec.data.problems import MissingColumnError

# role: names in order of preference, lower case without punctuation
SYNONYMS: dict[str, tuple[str, ...]] = {
    "user": (
        "userid", "user", "uid", "useridx", "username", "customerid", "customer", "memberid", "visitorid", "reviewerid",
        "accountid", "clientid", "listenerid", "readerid", "playerid", "personid", "sessionid", "u",
    ),
    "item": (
        "itemid", "item", "iid", "itemidx", "movieid", "movie", "productid", "product", "parentasin", "asin", "businessid",
        "bookid", "book", "songid", "trackid", "artistid", "placeid", "poiid", "venueid", "locationid", "articleid",
        "newsid", "videoid", "gameid", "recipeid", "contentid", "isbn", "sku", "stockcode", "place", "i",
    ),
    "rating": ("rating", "ratings", "stars", "score", "overall", "weight", "value", "preference", "count", "plays"),
    "time": (
        "timestamp", "time", "datetime", "date", "ts", "unixtime", "unixreviewtime", "createdat", "eventtime",
        "visittime", "checkintime",
    ),
}  # fmt: skip
_POSITIONS = ("user", "item", "rating", "time")


def plain_name(name: str) -> str:
    """A column name without case, punctuation and RecBole's `:type`."""
    return re.sub(r"[^a-z0-9]", "", name.split(":")[0].lower())


def looks_like_header(cells: Sequence[str]) -> bool:
    """Whether a first line names a user or an item column."""
    names = {plain_name(cell) for cell in cells}
    return bool(names & set(SYNONYMS["user"])) or bool(names & set(SYNONYMS["item"]))


def choose_columns(names: Sequence[str], wanted: dict[str, str | None], where: str) -> dict[str, str]:
    """Column of each role: the one the caller named, else the best known name; user and item must exist.

    An empty name means "ignore this role".
    """
    chosen: dict[str, str] = {}
    for role, synonyms in SYNONYMS.items():
        asked = wanted.get(role)
        if asked:
            chosen[role] = _named(names, asked, role, where)
        elif asked is None:
            taken = set(chosen.values()) | {name for name in wanted.values() if name}
            found = _known(names, synonyms, taken)
            if found is not None:
                chosen[role] = found
    for role in ("user", "item"):
        if role not in chosen:
            raise MissingColumnError(
                f"{where}: no {role} column found among {', '.join(map(repr, names))}; name it with --{role}-col"
            )
    for role, name in chosen.items():
        if list(names).count(name) > 1:
            raise MissingColumnError(
                f"{where}: several columns are called {name!r} ({role}); rename the others"
            )
    return chosen


def positions(width: int, third_is_time: bool) -> dict[str, str]:
    """Roles of the columns "1", "2", ... of a table without header."""
    roles = ("user", "item", "time") if width == 3 and third_is_time else _POSITIONS
    return {role: str(position + 1) for position, role in enumerate(roles[:width])}


def _named(names: Sequence[str], asked: str, role: str, where: str) -> str:
    for name in names:
        if name == asked or name.split(":")[0] == asked:
            return name
    near = difflib.get_close_matches(asked, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(map(repr, names))}"
    raise MissingColumnError(f"{where}: no column {asked!r} (--{role}-col); {hint}")


def _known(names: Sequence[str], synonyms: tuple[str, ...], taken: set[str]) -> str | None:
    plain = {plain_name(name): name for name in reversed(names) if name not in taken}
    return next((plain[synonym] for synonym in synonyms if synonym in plain), None)
