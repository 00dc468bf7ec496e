"""Which files of a folder are the data: train/valid/test files, one known file, or parts of one table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sparserec.data.errors import UnknownFormatError, UnreadableFileError
from sparserec.data.related import Wanted, one_table, same_but_digits

_PART_WORDS = {
    "train": "train", "training": "train", "valid": "valid", "val": "valid", "validation": "valid", "dev": "valid",
    "test": "test", "testing": "test",
}  # fmt: skip
_DATA_SUFFIXES = {".txt", ".csv", ".tsv", ".inter", ".parquet", ".pq", ".dat", ".data"}
_OTHER_TABLES = {".item", ".user", ".kg", ".link"}
_KNOWN_FILES = (
    "ratings.dat",
    "u.data",
    "ratings.csv",
    "ratings.parquet",
    "interactions.csv",
    "interactions.parquet",
)
_ITEM_FILES = {"ratings.dat": "movies.dat", "u.data": "u.item", "ratings.csv": "movies.csv"}
_NAMES_SHOWN = 8


@dataclass(frozen=True)
class FoundFiles:
    """The files to read."""

    parts: dict[str, list[Path]]
    """Files of train and, where there are any, valid and test; one part may have many."""
    ignored: tuple[str, ...] = ()
    """Tables of the folder that are not read."""

    @property
    def note(self) -> str:
        """What was left out, in words."""
        more = f" and {len(self.ignored) - _NAMES_SHOWN} more" if len(self.ignored) > _NAMES_SHOWN else ""
        return f"not read: {', '.join(self.ignored[:_NAMES_SHOWN])}{more}" if self.ignored else ""


def find_files(path: Path, wanted: Wanted) -> FoundFiles:
    """The files of each part of a file or folder; `wanted` names the columns the caller asked for."""
    if path.is_file():
        return FoundFiles({"train": [path]})
    if not path.exists():
        raise UnreadableFileError(f"{path}: no such file or folder; check the path")
    tables = [file for file in sorted(path.rglob("*")) if _is_table(file, path)]
    parts = _parts_of(path, [file for file in tables if _suffix(file) in _DATA_SUFFIXES], wanted)
    data = [file for files in parts.values() for file in files]
    read = {*data, *map(item_file, data)}
    left = (file for file in tables if file not in read)
    return FoundFiles(parts, tuple(str(file.relative_to(path)) for file in left))


def item_file(file: Path) -> Path | None:
    """The file beside a data file that says what its items are called: `name.item` of `name.inter`, MovieLens' own."""
    name = file.name.removesuffix(".gz")
    known = f"{name.split('.')[0]}.item" if name.endswith(".inter") else _ITEM_FILES.get(name)
    beside = None if known is None else file.with_name(known)
    return beside if beside is not None and beside.is_file() else None


def _parts_of(folder: Path, files: list[Path], wanted: Wanted) -> dict[str, list[Path]]:
    own = _own_parts(folder, files)
    if own:
        return own
    for known in _KNOWN_FILES:
        if (folder / known).is_file():
            return {"train": [folder / known]}
    for suffixes in ({".inter"}, {".parquet", ".pq"}, {".csv", ".tsv"}, _DATA_SUFFIXES):
        alike = [file for file in files if _suffix(file) in suffixes]
        if alike:
            return {"train": one_table(folder, alike, wanted)}
    raise UnknownFormatError(
        f"{folder}: no data file in this folder; expected train.txt and test.txt, a .inter file, or CSV or "
        "Parquet parts"
    )


def _is_table(file: Path, root: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    return (
        file.is_file()
        and not hidden
        and _suffix(file) in _DATA_SUFFIXES | _OTHER_TABLES
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
