"""Which files of a folder are the data: train/valid/test files, one known file, or parts of one table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sparserec.data.errors import MissingColumnError, UnknownFormatError, UnreadableFileError
from sparserec.data.formats import all_suffixes, find_format, form_of, item_file, parquet_names
from sparserec.data.sniff import choose_columns, read_text_head

# Which tables of a folder belong together: parts of one table have the same columns, or names that
# differ in digits.

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
        form = form_of(file)
    except UnknownFormatError:  # not a table at all
        return ()
    if form.kind == "parquet":
        return tuple(parquet_names(file))
    if form.header:
        first = next(line for line in read_text_head(file).splitlines() if line.strip())
        return tuple(cell.strip().strip('"') for cell in first.split(form.delimiter))
    place = re.sub(r"\d+", "0", file.relative_to(folder).as_posix())
    return (_NAMELESS, find_format(form.kind).describe(form), place)


def _has_both(columns: tuple[str, ...], wanted: Wanted) -> bool:
    try:
        choose_columns(columns, wanted, "")
    except MissingColumnError:
        return False
    return True


_PART_WORDS = {
    "train": "train", "training": "train", "valid": "valid", "val": "valid", "validation": "valid", "dev": "valid",
    "test": "test", "testing": "test",
}  # fmt: skip
_OTHER_TABLES = {".item", ".user", ".kg", ".link"}
_KNOWN_FILES = (
    "ratings.dat",
    "u.data",
    "ratings.csv",
    "ratings.parquet",
    "interactions.csv",
    "interactions.parquet",
)
_NAMES_SHOWN = 8


def find_files(path: Path, wanted: Wanted) -> tuple[dict[str, list[Path]], list[str]]:
    """The files of each part of a folder, and a note about what else lies there; `wanted` are columns that the caller
    named.
    """
    if not path.exists():
        raise UnreadableFileError(f"{path}: no such file or folder; check the path")
    suffixes = all_suffixes()
    tables = [file for file in sorted(path.rglob("*")) if _is_table(file, path, suffixes | _OTHER_TABLES)]
    parts = _parts_of(path, [file for file in tables if _suffix(file) in suffixes], wanted)
    data = [file for files in parts.values() for file in files]
    read = {*data, *map(item_file, data)}
    left = [str(file.relative_to(path)) for file in tables if file not in read]
    more = f" and {len(left) - _NAMES_SHOWN} more" if len(left) > _NAMES_SHOWN else ""
    return parts, [f"not read: {', '.join(left[:_NAMES_SHOWN])}{more}"] if left else []


def _parts_of(folder: Path, files: list[Path], wanted: Wanted) -> dict[str, list[Path]]:
    own = _own_parts(folder, files)
    if own:
        return own
    for known in _KNOWN_FILES:
        if (folder / known).is_file():
            return {"train": [folder / known]}
    for suffixes in ({".inter"}, {".parquet", ".pq"}, {".csv", ".tsv"}, set(map(_suffix, files))):
        alike = [file for file in files if _suffix(file) in suffixes]
        if alike:
            return {"train": one_table(folder, alike, wanted)}
    raise UnknownFormatError(
        f"{folder}: no data file in this folder; expected train.txt and test.txt, a .inter file, or CSV or "
        "Parquet parts"
    )


def _is_table(file: Path, root: Path, suffixes: set[str]) -> bool:
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    return (
        file.is_file()
        and not hidden
        and _suffix(file) in suffixes
        and not file.stem.lower().startswith("readme")
    )


def _suffix(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes or [""])[-1]


def _own_parts(folder: Path, files: list[Path]) -> dict[str, list[Path]]:
    """`train.txt`, `val.csv.gz`, RecBole's `name.train.inter`; with a test file beside it also `log_train.csv`."""
    strict = _by_part(folder, files, r"[.]")
    loose = _by_part(folder, files, r"[._\-/ ]")
    found = strict if "train" in strict else loose if {"train", "test"} <= set(loose) else {}
    for paths in found.values():
        if not same_but_digits(paths, folder):
            names = ", ".join(file.name for file in paths)
            raise UnknownFormatError(f"{folder}: several files for one part ({names}); name them one by one")
    return {part: found[part] for part in ("train", "valid", "test") if part in found}


def _by_part(folder: Path, files: list[Path], between: str) -> dict[str, list[Path]]:
    """Files whose name has the word of a part, by part."""
    found: dict[str, list[Path]] = {}
    for file in files:
        words = re.split(between, file.relative_to(folder).as_posix().lower())[:-1]
        part = next((_PART_WORDS[word] for word in words if word in _PART_WORDS), None)
        if part is not None:
            found.setdefault(part, []).append(file)
    return found
