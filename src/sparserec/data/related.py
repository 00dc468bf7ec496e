"""Which tables of a folder belong together: parts of one table have the same columns, or names that
differ in digits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sparserec.data.errors import MissingColumnError, UnknownFormatError
from sparserec.data.file_bytes import read_text_head
from sparserec.data.naming import choose_columns
from sparserec.data.parquet_files import parquet_names
from sparserec.data.sniff import sniff

_NAMELESS = "\0nameless"  # no column is called that
Wanted = dict[str, str | None]
"""The column the caller named for each role, if any."""


def same_but_digits(files: Sequence[Path], folder: Path) -> bool:
    """Whether the names of files in a folder differ in nothing but numbers, as part-0 and part-1 do."""
    return len({re.sub(r"\d+", "0", file.relative_to(folder).as_posix()) for file in files}) == 1


def one_table(folder: Path, files: list[Path], wanted: Wanted) -> list[Path]:
    """The files that are parts of the one table of interactions; several such tables are the caller's to
    choose from.
    """
    if len(files) == 1:
        return files
    tables: dict[tuple[str, ...], list[Path]] = {}
    for file in files:
        tables.setdefault(_columns(file, folder), []).append(file)
    named = [paths for columns, paths in tables.items() if _has_both(columns, wanted)]
    nameless = [paths for columns, paths in tables.items() if columns and columns[0] == _NAMELESS]
    usable = named or nameless
    if len(usable) == 1:
        return usable[0]
    names = ", ".join(str(paths[0].relative_to(folder)) for paths in usable or tables.values())
    if usable:
        raise UnknownFormatError(
            f"{folder}: several tables could be the interactions ({names}); give the path of one"
        )
    raise MissingColumnError(
        f"{folder}: no table has both a user and an item column ({names}); name them with `user_col` and `item_col`"
    )


def _columns(file: Path, folder: Path) -> tuple[str, ...]:
    """What the parts of one table share: column names, or form and name of the file where columns have no names."""
    try:
        form = sniff(file)
    except UnknownFormatError:  # not a table at all
        return ()
    if form.kind == "parquet":
        return tuple(parquet_names(file))
    if form.header:
        first = next(line for line in read_text_head(file).splitlines() if line.strip())
        return tuple(cell.strip().strip('"') for cell in first.split(form.delimiter))
    place = re.sub(r"\d+", "0", file.relative_to(folder).as_posix())
    return (_NAMELESS, form.describe(), place)


def _has_both(columns: tuple[str, ...], wanted: Wanted) -> bool:
    try:
        choose_columns(columns, wanted, "")
    except MissingColumnError:
        return False
    return True
