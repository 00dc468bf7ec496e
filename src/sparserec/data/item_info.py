"""Names and tags of items from a data frame or a metadata file: CSV, TSV, Parquet, RecBole `.item` or MovieLens
`movies.dat`, `u.item`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data.errors import MalformedLineError, MissingColumnError, UnknownFormatError
from sparserec.data.formats import read_parquet
from sparserec.data.frames import as_table
from sparserec.data.interactions import IdMap, ItemInfo
from sparserec.data.sniff import SYNONYMS, check_text, plain_name, read_bytes

_ROLES = {
    "id": ("id", *SYNONYMS["item"]),
    "title": ("title", "name", "itemname", "movietitle", "producttitle", "productname", "label"),
    "tags": ("tags", "tag", "genres", "genre", "categories", "category", "class"),
}
_TAG_SEPARATORS = "|;,"
_RECBOLE_TYPES = (":token", ":token_seq", ":float", ":float_seq")
_LEAST_MATCH = 0.1  # of the items or of the file's rows; less is another catalogue's file


def read_item_info(what: Any, item_ids: IdMap) -> ItemInfo:
    """Titles and tags of a file or data frame, aligned with `item_ids`; an item without a name is called by its id."""
    path, rows = _rows(what)
    first_line, first = next(rows)
    roles = _roles(first, path)
    titles = [str(name) for name in item_ids.external()]
    tags: list[tuple[str, ...]] = [()] * len(titles)
    numbered = [(line, cells) for line, cells in rows if cells]
    if not _has_header(first):
        numbered.insert(0, (first_line, first))
    found = item_ids.index_of([_cell(cells, roles["id"], path, line) for line, cells in numbered])
    note = _match(found, len(item_ids), path)
    if not _has_header(first):
        _refuse_no_titles([cells[1] for _, cells in numbered if len(cells) > 1], path)
    spaced = "tags" in roles and first[roles["tags"]].endswith(":token_seq")
    for (line, cells), item in zip(numbered, found):
        if item >= 0:
            if "title" in roles:
                titles[item] = _cell(cells, roles["title"], path, line)
            if "tags" in roles:
                tags[item] = _split_tags(_cell(cells, roles["tags"], path, line), spaced)
    return ItemInfo(titles if "title" in roles else None, tags if "tags" in roles else None, note)


def _rows(what: Any) -> tuple[Path, Iterator[tuple[int, list[str]]]]:
    """Where item info is from, for messages, and its rows with their numbers."""
    if not isinstance(what, str | PathLike):
        return Path("metadata"), _frame_rows(what)
    path = Path(what)
    return path, _table_rows(read_parquet(path)) if path.suffix in (".parquet", ".pq") else _text_rows(path)


def _match(found: np.ndarray, items: int, path: Path) -> str:
    """Says how many items the file names; a file that hardly names any is refused."""
    known = found[found >= 0]
    named, rows = len(np.unique(known)), len(found)
    if named == 0:
        raise MissingColumnError(f"{path}: none of its {rows:,} ids is an item of the interactions")
    if named < _LEAST_MATCH * items and len(known) < _LEAST_MATCH * rows:
        raise MissingColumnError(
            f"{path}: names only {named:,} of the {items:,} items, and {rows - len(known):,} of its {rows:,} ids are "
            "no items: it seems to describe something else"
        )
    return f"{path.name} names {named:,} of the {items:,} items"


def _refuse_no_titles(titles: list[str], path: Path) -> None:
    """A second column without a name is taken for titles only if it looks like titles."""
    numbers = sum(title.strip().replace(".", "", 1).isdigit() for title in titles)
    different = len({title.strip() for title in titles})
    if numbers > len(titles) / 2 or (len(titles) > 20 and different < len(titles) / 10):
        what = "numbers" if numbers > len(titles) / 2 else f"only {different} different texts"
        raise MissingColumnError(
            f"{path}: the second column has {what}, not titles; name the columns in a first line: id, title, tags"
        )


def _roles(first: list[str], path: Path) -> dict[str, int]:
    """Column position of each role: by name, or id, title, tags in this order where there is no header."""
    plain = [plain_name(cell) for cell in first]
    ids = _ROLES["id"]
    if plain[0] in SYNONYMS["user"] and not set(plain) & set(ids):
        raise MissingColumnError(
            f"{path}: describes users ({first[0]}), not items; titles come from a table of items"
        )
    if not _has_header(first):
        return {"id": 0, "title": 1} if len(first) != 3 else {"id": 0, "title": 1, "tags": 2}
    roles = {}
    for role, names in _ROLES.items():
        position = next((plain.index(name) for name in names if name in plain), None)
        if position is not None:
            roles[role] = position
    if "id" not in roles or len(roles) < 2:
        raise MissingColumnError(
            f"{path}: expected columns id, title and/or tags, found {', '.join(map(repr, first))}"
        )
    return roles


def _has_header(first: list[str]) -> bool:
    known = {name for names in _ROLES.values() for name in names}
    typed = all(cell.endswith(_RECBOLE_TYPES) for cell in first)
    return typed or sum(plain_name(cell) in known for cell in first) >= 2


def _text_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    data = read_bytes(path)
    head = data[: data.find(b"\n") if b"\n" in data else None]
    movielens = b"::" in head or path.name == "u.item"
    if movielens:  # these files are older than UTF-8's victory
        text = data.decode("latin-1").replace("::", "\t")
    else:
        check_text(path, data)
        text = data.decode("utf-8")
    delimiter = next((mark for mark in "\t,;|" if mark in text[: max(len(head), 1)]), ",")
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, quotechar='"' if delimiter in ",;" else None)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise MalformedLineError(f"{path}:{reader.line_num}: {error}") from None


def _frame_rows(frame: Any) -> Iterator[tuple[int, list[str]]]:
    _, table = as_table(frame, "metadata")
    if table is None:
        raise UnknownFormatError(
            f"metadata: cannot read names of items from {type(frame).__name__}; give a file or a data frame with "
            "columns id, title and tags"
        )
    if not _has_header(table.column_names):
        raise MissingColumnError(
            "metadata: expected columns id, title and/or tags, found "
            + ", ".join(map(repr, table.column_names))
        )
    return _table_rows(table)


def _table_rows(table: Any) -> Iterator[tuple[int, list[str]]]:
    yield 0, table.column_names
    columns = [column.to_pylist() for column in table.columns]
    for number, cells in enumerate(zip(*columns), start=1):
        yield number, [_text(cell) for cell in cells]


def _text(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():  # ids that went through a column with gaps
        return str(int(cell))
    return "|".join(map(str, cell)) if isinstance(cell, list) else "" if cell is None else str(cell)


def _cell(cells: list[str], position: int, path: Path, line: int) -> str:
    if position >= len(cells):
        raise MalformedLineError(
            f"{path}:{line}: {len(cells)} columns, expected at least {position + 1}; fix the line"
        )
    return cells[position].strip()


def _split_tags(text: str, spaced: bool) -> tuple[str, ...]:
    """The tags of one item; `spaced` lists, RecBole's, have spaces between tags and no spaces within."""
    separator = " " if spaced else next((mark for mark in _TAG_SEPARATORS if mark in text), None)
    return tuple(tag.strip() for tag in (text.split(separator) if separator else [text]) if tag.strip())
