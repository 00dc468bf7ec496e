"""Looking at the first lines of a file to say what form it has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from sparserec.data.naming import looks_like_header
from sparserec.data.opening import read_bytes, read_text_head
from sparserec.data.problems import EmptyDataError, UnknownFormatError
from sparserec.errors import SettingError

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
}
FORMATS = ("lightgcn", "table", "lines", "inter", "movielens", "parquet")


@dataclass(frozen=True)
class Form:
    """The form of one file."""

    kind: str
    """One of FORMATS."""
    delimiter: str = ","
    header: bool = True

    def describe(self) -> str:
        """The form in words."""
        names = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}
        if self.kind in ("table", "lines"):
            return f"text table, {names[self.delimiter]} between columns, {'with' if self.header else 'no'} header"
        return {
            "lightgcn": "LightGCN text (user item item ...)",
            "inter": "RecBole .inter",
            "movielens": "MovieLens text (user::item::rating::time)",
            "parquet": "Parquet",
        }[self.kind]


def sniff(path: Path, wanted: str | None = None, header: bool | None = None, named: bool = False) -> Form:
    """The form of a file; `wanted` and `header` overrule the guess, `named` says the caller named columns."""
    if wanted is not None and wanted not in FORMATS:
        raise SettingError(f"unknown format {wanted!r}; known: {', '.join(FORMATS)}")
    if wanted == "parquet" or (wanted is None and _is_parquet(path)):
        return Form("parquet")
    if path.suffix.lower() in _REFUSED and wanted is None:
        raise UnknownFormatError(f"{path}: {path.suffix} files are not read; {_REFUSED[path.suffix.lower()]}")
    lines = _head_lines(path)
    if wanted == "lightgcn":
        return Form("lightgcn", " ", False)
    if wanted == "inter" or (wanted is None and ".inter" in path.suffixes):
        return Form("inter", "\t", True)
    if wanted == "movielens" or (wanted is None and "::" in lines[0] and "," not in lines[0]):
        return Form("movielens", "\t", False)
    delimiter = _delimiter(lines)
    rows = [_cells(line, delimiter) for line in lines]
    if header is None:
        header = named or _has_header(rows)
    if wanted is None and delimiter == " " and not header and _is_lightgcn(rows):
        return Form("lightgcn", " ", False)
    if len(rows[0]) < 2:
        raise UnknownFormatError(
            f"{path}: the first line has one column ({lines[0][:60]!r}); expected a table with user and item columns, "
            "LightGCN text, RecBole .inter, MovieLens '::' or Parquet"
        )
    return Form("table" if header else "lines", delimiter, header)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq") or read_bytes(path, 4) == b"PAR1"


def _head_lines(path: Path) -> list[str]:
    head = read_text_head(path)
    if "\0" in head:
        raise UnknownFormatError(
            f"{path}: a binary file of unknown form; give CSV, TSV, Parquet or LightGCN text"
        )
    lines = [line for line in head.splitlines() if line.strip()]
    if not lines:
        raise EmptyDataError(f"{path}: the file is empty")
    return lines


def _delimiter(lines: list[str]) -> str:
    """The separator that splits the first line and most of the following ones."""
    for candidate in ("\t", ",", ";", "|"):
        having = sum(candidate in line for line in lines[:50])
        if candidate in lines[0] and having >= 0.5 * len(lines[:50]):
            return candidate
    return " "


def _cells(line: str, delimiter: str) -> list[str]:
    cells = line.split() if delimiter == " " else line.split(delimiter)
    return [cell.strip().strip('"') for cell in cells]


def _has_header(rows: list[list[str]]) -> bool:
    """A known column name, words above numbers, or words without a digit above ids that all have one."""
    if looks_like_header(rows[0]):
        return True
    if len(rows) < 2 or any(_NUMBER.fullmatch(cell) for cell in rows[0]):
        return False
    if any(_NUMBER.fullmatch(cell) for cell in rows[1]):
        return True
    return not _has_digit("".join(rows[0])) and all(_has_digit(cell) for row in rows[1:] for cell in row[:2])


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


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
