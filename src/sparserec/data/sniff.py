"""What a file is: its bytes, what its columns are called, and the form that its first lines have."""

from __future__ import annotations

import difflib
import gzip
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from sparserec.data.errors import (
    EmptyDataError,
    EncodingError,
    MissingColumnError,
    UnknownFormatError,
    UnreadableFileError,
)
from sparserec.units import show_bytes

# Getting at the bytes of a file, with a named error for each way that fails.

MOST_UNPACKED, ALWAYS_UNPACKED = 100, 64_000_000
"""A .gz file may hold so many times its size, and so many bytes in any case: logs shrink to a tenth, attacks to a
thousandth."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """All bytes of a file, or its first `limit`; .gz is unpacked."""
    try:
        packed = path.suffix == ".gz"
        most = max(ALWAYS_UNPACKED, MOST_UNPACKED * path.stat().st_size) if packed else None
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            data = file.read(-1 if most is None else most + 1) if limit is None else file.read(limit)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UnreadableFileError(
            f"{path}: damaged or truncated gzip file ({error}); fetch or pack it again"
        ) from None
    except FileNotFoundError:
        raise UnreadableFileError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise UnreadableFileError(f"{path}: is a folder, expected a file") from None
    except OSError as error:
        raise UnreadableFileError(f"{path}: cannot be read ({error.strerror or error})") from None
    if most is not None and len(data) > most:
        raise UnreadableFileError(
            f"{path}: unpacks to more than {MOST_UNPACKED} times its size ({show_bytes(most)}), which no log does; "
            "unpack it yourself if you trust it"
        )
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if not data.strip():
        raise EmptyDataError(f"{path}: the file is empty")
    return data


def check_text(path: Path, data: bytes) -> None:
    """Raise when `data` is not UTF-8, naming the line."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise EncodingError(
            f"{path}:{line}: not UTF-8 text (byte 0x{data[error.start]:02x}); save the file as UTF-8"
        ) from None


def read_text_head(path: Path, limit: int = 65536) -> str:
    """The first whole lines of a text file, for looking at its form."""
    data = read_bytes(path, limit)
    if len(data) >= limit - 4 and b"\n" in data:
        data = data[: data.rindex(b"\n") + 1]
    check_text(path, data)
    if b"\0" in data:
        raise UnknownFormatError(
            f"{path}: a binary file of unknown form; give CSV, TSV, Parquet or LightGCN text"
        )
    return data.decode("utf-8")


# Which column is which: common names for user, item, rating and time; weights are named by who wants them.

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
            plain = {plain_name(name): name for name in reversed(names) if name not in taken}
            found = next((plain[one] for one in synonyms if one in plain), by_place.get(role))
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


# What the first lines look like.

_WHOLE = re.compile(r"-?\d+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_REFUSED = {
    ".zip": "unpack it first",
    ".7z": "unpack it first",
    ".tar": "unpack it first",
    ".xlsx": "save it as CSV",
    ".json": "write it as CSV or Parquet",
    ".jsonl": "write it as CSV or Parquet",
    ".pkl": "pickle files can run code and are not read; write CSV or Parquet",
    ".kg": "a RecBole knowledge graph holds no interactions, name the .inter file",
    ".link": "a RecBole list of linked entities holds no interactions, name the .inter file",
    ".item": "it describes items and holds no interactions, name the .inter file and give this one as metadata",
    ".user": "it describes users and holds no interactions, name the .inter file",
}
LATE = 1e8  # a third column this large is a time (1973 in seconds), not a rating
_COUNTED_ROWS = 10  # so many rows numbered 0, 1, 2, ... are no accident


@dataclass(frozen=True)
class Form:
    """The form of one file."""

    kind: str
    """A name of `formats`."""
    delimiter: str = ","
    header: bool = True
    index: bool = False
    """Whether the first column only counts the rows, as data frames write their labels."""
    note: str = ""
    """What a reader of the report should know about the guess."""


def sniff(path: Path, wanted: str | None = None, header: bool | None = None, named: bool = False) -> Form:
    """The form of a file; `wanted` and `header` overrule the guess, `named` says the caller named columns."""
    if wanted == "parquet" or (
        wanted is None and (path.suffix.lower() in (".parquet", ".pq") or read_bytes(path, 4) == b"PAR1")
    ):
        return Form("parquet")
    if path.suffix.lower() in _REFUSED and wanted is None:
        raise UnknownFormatError(f"{path}: {path.suffix} files are not read; {_REFUSED[path.suffix.lower()]}")
    lines = [line for line in read_text_head(path).splitlines() if line.strip()]
    if not lines:
        raise EmptyDataError(f"{path}: the file is empty")
    if wanted == "lightgcn":
        return Form("lightgcn", " ", False)
    if wanted == "inter" or (wanted is None and ".inter" in path.suffixes):
        return Form("inter", "\t", True)
    if wanted == "movielens" or (wanted is None and "::" in lines[0] and "," not in lines[0]):
        return Form("movielens", "\t", False)
    shown = lines[:50]
    splits = (
        mark for mark in "\t,;|" if mark in lines[0] and 2 * sum(mark in line for line in shown) >= len(shown)
    )
    delimiter = next(splits, " ")
    split = (line.split(None if delimiter == " " else delimiter) for line in lines)
    rows = [[cell.strip().strip('"') for cell in cells] for cells in split]
    if header is None:
        header = named or _has_header(rows) or (delimiter != " " and _has_numbered_header(rows))
    if wanted is None and delimiter == " " and not header and _is_lightgcn(rows):
        return Form("lightgcn", " ", False)
    if len(rows[0]) < 2:
        raise UnknownFormatError(
            f"{path}: the first line has one column ({lines[0][:60]!r}); expected a table with user and item columns, "
            "LightGCN text, RecBole .inter, MovieLens '::' or Parquet"
        )
    index, note = _row_labels(rows, header)
    return Form("table" if header else "lines", delimiter, header, index, note)


def _has_header(rows: list[list[str]]) -> bool:
    """A known column name, words above numbers, or words without a digit above ids that all have one."""
    if {plain_name(cell) for cell in rows[0]} & {*SYNONYMS["user"], *SYNONYMS["item"]}:
        return True
    if len(rows) < 2 or any(_NUMBER.fullmatch(cell) for cell in rows[0]):
        return False
    if any(_NUMBER.fullmatch(cell) for cell in rows[1]):
        return True
    below = [cell for row in rows[1:] for cell in row[:2]]
    return not re.search(r"\d", "".join(rows[0])) and all(re.search(r"\d", cell) for cell in below)


def _has_numbered_header(rows: list[list[str]]) -> bool:
    """What pandas writes above a frame without names: 0, 1, 2, ..., alone or after an empty cell above its
    row labels.
    """
    if is_index_name(rows[0][0]) and _counts_rows(rows[1:], fewest=1):
        return True
    return len(rows) > 1 and bool(numbered_names(rows[0])) and _stands_out(rows)


def _stands_out(rows: list[list[str]]) -> bool:
    """Whether a first line 0,1,2,... cannot be a row: a column below it holds texts, decimals or times throughout.

    Small whole numbers throughout leave it open; then three columns or more are names if neither id comes again.
    """
    below = list(zip(*rows[1:]))
    if any(not any(_is_small(cell) for cell in column) for column in below[: len(rows[0])]):
        return True
    return len(rows[0]) > 2 and len(rows) > 2 and "0" not in below[0] and "1" not in below[1]


def _is_small(cell: str) -> bool:
    return _WHOLE.fullmatch(cell) is not None and abs(int(cell)) < LATE


def _counts_rows(rows: list[list[str]], fewest: int) -> bool:
    """Whether the first cells are 0, 1, 2, ... or 1, 2, 3, ..."""
    first = [row[0] for row in rows]
    counted = (list(map(str, range(start, start + len(first)))) for start in (0, 1))
    return len(first) >= fewest and first in counted


def _row_labels(rows: list[list[str]], header: bool) -> tuple[bool, str]:
    """Whether the first column is an index, and what to say about that and about numbers as names."""
    numbered = numbered_names(rows[0])
    if header and is_index_name(rows[0][0]):
        label = f"column {rows[0][0]!r}" if rows[0][0] else "the first column, which has no name,"
        names = "; the others are called 0, 1, 2, ... and taken by position" if numbered else ""
        return True, f"{label} counts the rows and is not read{names}"
    if not header and len(rows[0]) > 2 and _counts_rows(rows, _COUNTED_ROWS):
        return True, "the first column counts the rows and is not read"
    if numbered and rows[0] == numbered:
        how = "names of columns, which are taken by position" if header else "a row; `header` says otherwise"
        return False, f"the first line ({','.join(rows[0])[:40]}) was read as {how}"
    return False, ""


def _is_lightgcn(rows: list[list[str]]) -> bool:
    """Lines of different lengths, or whole numbers with a first column that only grows.

    `user item weight` lines have one length and their users come again.
    """
    lengths = {len(row) for row in rows}
    if len(lengths) > 1 or max(lengths) > 4:
        return True
    if not all(_WHOLE.fullmatch(cell) for row in rows for cell in row):
        return False
    first = [int(row[0]) for row in rows]
    return lengths == {2} or all(before < after for before, after in pairwise(first))
