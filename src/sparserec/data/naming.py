"""Which column is which: common names for user, item, rating and time; weights are named by who wants them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from sparserec.data.errors import MissingColumnError

# role: names in order of preference, lower case without punctuation
SYNONYMS: dict[str, tuple[str, ...]] = {
    "user": (
        "userid", "user", "uid", "useridx", "username", "customerid", "customer", "memberid", "visitorid",
        "reviewerid", "accountid", "clientid", "listenerid", "readerid", "playerid", "personid", "sessionid", "u",
    ),
    "item": (
        "itemid", "item", "iid", "itemidx", "movieid", "movie", "productid", "product", "parentasin", "asin",
        "businessid", "bookid", "book", "songid", "trackid", "artistid", "placeid", "poiid", "venueid", "locationid",
        "articleid", "newsid", "videoid", "gameid", "recipeid", "contentid", "isbn", "sku", "stockcode", "place", "i",
    ),
    "rating": (
        "rating", "ratings", "stars", "score", "overall", "weight", "value", "preference", "count", "plays",
    ),
    "time": (
        "timestamp", "time", "datetime", "date", "ts", "unixtime", "unixreviewtime", "createdat", "eventtime",
        "visittime", "checkintime",
    ),
}  # fmt: skip
_POSITIONS = ("user", "item", "rating", "time")
_INDEX_NAMES = {"", "unnamed", "index", "level0", "indexlevel0"}  # what pandas calls the column of row labels


def plain_name(name: str) -> str:
    """A column name without case, punctuation and RecBole's `:type`."""
    return re.sub(r"[^a-z0-9]", "", name.split(":")[0].lower())


def looks_like_header(cells: Sequence[str]) -> bool:
    """Whether a first line names a user or an item column."""
    names = {plain_name(cell) for cell in cells}
    return bool(names & set(SYNONYMS["user"])) or bool(names & set(SYNONYMS["item"]))


def is_index_name(name: str) -> bool:
    """Whether a column is called as data frames call their row labels: "", "Unnamed: 0", "index" ..."""
    return plain_name(name) in _INDEX_NAMES


def numbered_names(names: Sequence[str]) -> list[str]:
    """The names that are 0, 1, 2, ... beside an index or alone, as pandas writes a frame without names; else none."""
    own = [name for name in names if not is_index_name(name)]
    return own if len(own) > 1 and own == [str(number) for number in range(len(own))] else []


def choose_columns(
    names: Sequence[str], wanted: dict[str, str | None], where: str, third_is_time: bool = False
) -> dict[str, str]:
    """Column of each role: the one the caller named, else the best known name; user and item must exist.

    An empty name means "ignore this role". Columns called 0, 1, 2 ... have their roles by position.
    """
    by_place = positions(numbered_names(names), third_is_time)
    chosen: dict[str, str] = {}
    for role, synonyms in SYNONYMS.items():
        name_given = wanted.get(role)
        if name_given:
            chosen[role] = _named(names, name_given, role, where)
        elif name_given is None:
            taken = set(chosen.values()) | {name for name in wanted.values() if name}
            found = _known(names, synonyms, taken) or by_place.get(role)
            if found is not None and found not in taken:
                chosen[role] = found
    if wanted.get("weight"):  # never guessed: plays may be anything
        chosen["weight"] = _named(names, str(wanted["weight"]), "weight", where)
    for role in ("user", "item"):
        if role not in chosen:
            raise MissingColumnError(
                f"{where}: no {role} column found among {', '.join(map(repr, names))}; name it with `{role}_col`"
            )
    for role, name in chosen.items():
        if list(names).count(name) > 1:
            raise MissingColumnError(
                f"{where}: several columns are called {name!r} ({role}); rename the others"
            )
    return chosen


def positions(columns: Sequence[str], third_is_time: bool) -> dict[str, str]:
    """Roles of columns whose names say nothing: user, item, rating, time in this order, or user, item, time."""
    roles = ("user", "item", "time") if len(columns) == 3 and third_is_time else _POSITIONS
    return dict(zip(roles, columns))


def _named(names: Sequence[str], name_given: str, role: str, where: str) -> str:
    for name in names:
        if name == name_given or name.split(":")[0] == name_given:
            return name
    near = difflib.get_close_matches(name_given, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(map(repr, names))}"
    raise MissingColumnError(f"{where}: no column {name_given!r} (`{role}_col`); {hint}")


def _known(names: Sequence[str], synonyms: tuple[str, ...], taken: set[str]) -> str | None:
    plain = {plain_name(name): name for name in reversed(names) if name not in taken}
    return next((plain[synonym] for synonym in synonyms if synonym in plain), None)
