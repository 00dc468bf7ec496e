"""Which files of a folder are the data: train/valid/test files, one known file, or parts of one table."""

from __future__ import annotations

from pathlib import Path

from sparserec.data.problems import UnknownFormatError, UnreadableFileError

_PART_WORDS = {
    "train": "train", "training": "train", "valid": "valid", "val": "valid", "validation": "valid", "dev": "valid",
    "test": "test", "testing": "test",
}  # fmt: skip
_DATA_SUFFIXES = {".txt", ".csv", ".tsv", ".inter", ".parquet", ".pq", ".dat", ".data"}
_KNOWN_FILES = (
    "ratings.dat",
    "u.data",
    "ratings.csv",
    "ratings.parquet",
    "interactions.csv",
    "interactions.parquet",
)


def find_files(path: Path) -> dict[str, list[Path]]:
    """Files of each part (train, valid, test) of a file or folder; one part may have many files."""
    if path.is_file():
        return {"train": [path]}
    if not path.exists():
        raise UnreadableFileError(f"{path}: no such file or folder; check the path")
    files = [file for file in sorted(path.rglob("*")) if _is_data(file, path)]
    own = _own_parts([file for file in files if file.parent == path])
    if "train" in own:
        return own
    for known in _KNOWN_FILES:
        if (path / known).is_file():
            return {"train": [path / known]}
    for suffixes in ({".inter"}, {".parquet", ".pq"}, {".csv", ".tsv"}, _DATA_SUFFIXES):
        parts = [file for file in files if _suffix(file) in suffixes]
        if parts:
            return {"train": parts}
    raise UnknownFormatError(
        f"{path}: no data file in this folder; expected train.txt and test.txt, a .inter file, or CSV or Parquet parts"
    )


def _is_data(file: Path, root: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    return (
        file.is_file()
        and not hidden
        and _suffix(file) in _DATA_SUFFIXES
        and not file.stem.lower().startswith("readme")
    )


def _suffix(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes or [""])[-1]


def _own_parts(files: list[Path]) -> dict[str, list[Path]]:
    """`train.txt`, `val.csv.gz`, and RecBole's `name.train.inter`."""
    found: dict[str, list[Path]] = {}
    for file in files:
        words = file.name.lower().split(".")[:-1]
        part = next((_PART_WORDS[word] for word in words if word in _PART_WORDS), None)
        if part is not None:
            found.setdefault(part, []).append(file)
    several = next((paths for paths in found.values() if len(paths) > 1), None)
    if several:
        names = ", ".join(file.name for file in several)
        raise UnknownFormatError(
            f"{files[0].parent}: several files for one part ({names}); name them one by one"
        )
    return {part: found[part] for part in ("train", "valid", "test") if part in found}
