"""Looking at the first lines of a file to say what form it has."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from sparserec.data.errors import (
    EmptyDataError,
    EncodingError,
    MalformedLineError,
    UnknownFormatError,
    UnreadableFileError,
)
from sparserec.data.naming import choose_columns, is_index_name, looks_like_header, numbered_names, positions
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


# Text tables (CSV, TSV, .inter, `user item weight` lines, MovieLens `::`) to Arrow columns of text.


def read_text_table(path: Path, form: Form, wanted: dict[str, str | None]) -> tuple[Any, dict[str, str]]:
    """The needed columns as an Arrow table of texts, and the column of each role."""
    data = _regular(read_bytes(path), form)
    lines = [line for line in data.split(b"\n", 100)[:100] if line.strip()][:2] or [b""]
    texts = [line.decode("utf-8", "replace").rstrip("\r") for line in lines]
    first, last = ([cell.strip().strip('"') for cell in texts[at].split(form.delimiter)] for at in (0, -1))
    names = first if form.header else [str(position + 1) for position in range(len(first))]
    third_is_time = _third_is_time(last[1:] if form.index else last)
    if form.header:
        roles = choose_columns(names, wanted, str(path), third_is_time)
    else:
        named = {role: name for role, name in wanted.items() if name is not None}
        by_place = positions(names[1:] if form.index else names, third_is_time)
        free = {role: name for role, name in by_place.items() if name not in named.values()}
        guessed: dict[str, str | None] = {"rating": "", "time": "", **free, **named}
        roles = choose_columns(names, guessed, str(path))
    return _parse(data, path, form, names, list(dict.fromkeys(roles.values()))), roles


def text_line(path: Path, row: int, header: bool) -> int:
    """Line number (from 1) of data row `row` (from 0): blank lines are no rows. Slow, for error messages only."""
    left = row + (1 if header else 0)
    for number, line in enumerate(read_bytes(path).split(b"\n"), start=1):
        if line.strip():
            if left == 0:
                return number
            left -= 1
    return 0


def _regular(data: bytes, form: Form) -> bytes:
    """One separator of one byte between columns."""
    if form.kind == "movielens":
        return data.replace(b"::", b"\t")
    if form.delimiter == " " and any(run in data for run in (b"  ", b"\t", b" \n", b" \r", b"\n ")):
        return re.sub(rb" *(\r?\n) *", rb"\1", re.sub(rb"[ \t]+", b" ", data)).strip()
    return data


def _third_is_time(row: list[str]) -> bool:
    try:
        return len(row) == 3 and float(row[2]) >= LATE
    except ValueError:
        return False


def _parse(data: bytes, path: Path, form: Form, names: list[str], needed: Sequence[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    quoted: Any = '"' if form.delimiter in ",;" else False
    convert = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=list(needed))
    read = csv.ReadOptions(column_names=names, skip_rows=0, skip_rows_after_names=1 if form.header else 0)
    parse = csv.ParseOptions(delimiter=form.delimiter, quote_char=quoted)
    try:
        return csv.read_csv(pa.BufferReader(data), read, parse, convert)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise _explain(data, path, form, names, str(error)) from None


def _explain(data: bytes, path: Path, form: Form, names: list[str], message: str) -> MalformedLineError:
    """Find the first line with another number of columns; the fast parser does not say which it was."""
    check_text(path, data)
    for number, line in enumerate(data.decode("utf-8").splitlines(), start=1):
        cells = line.count(form.delimiter) + 1
        if line.strip() and cells != len(names) and '"' not in line:
            return MalformedLineError(
                f"{path}:{number}: {cells} columns where the first line has {len(names)} ({line[:60]!r}); fix the line"
            )
    return MalformedLineError(f"{path}: {message}")


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
    if looks_like_header(rows[0]):
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
