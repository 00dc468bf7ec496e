"""Finding, fetching and checking named data sets, and turning what a user typed into a Source."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

from sparserec.data.catalogue import NamedSet, RemoteFile, find_named, get_named
from sparserec.data.columns import Source
from sparserec.data.download import download
from sparserec.data.errors import DownloadError, UnknownFormatError, WrongDataError
from sparserec.data.reading import read_source
from sparserec.data.world import make_world
from sparserec.errors import DataError, SettingError
from sparserec.files import cache_folder, replacing, write_text

FETCHED = "fetched.json"


def download_folder() -> Path:
    """Where downloads go."""
    return cache_folder() / "data"


def locate(entry: NamedSet, data_dir: Path | str | None = None) -> Path | None:
    """The folder that has the files of a set: in `data_dir`, in SPARSEREC_DATA or in the cache."""
    wanted = [name for file in entry.files for name in file.products if name != "README"]
    roots = [data_dir, os.environ.get("SPARSEREC_DATA") or None, download_folder()]
    for root in (Path(root) for root in roots if root is not None):
        for folder in (root / entry.name, *(root / alias for alias in entry.aliases)):
            if _has_files(folder, wanted):
                return folder
        if _has_files(root, wanted) and _is_right(root, entry):
            return root
    return None


def _has_files(folder: Path, names: list[str]) -> bool:
    return bool(names) and all((folder / name).is_file() for name in names)


def _is_right(folder: Path, entry: NamedSet) -> bool:
    """Whether files under no telling folder name are this set, by counts and pair hash."""
    try:
        verify(read_source(folder), entry, str(folder))
    except DataError:
        return False
    return True


def fetch(
    entry: NamedSet, data_dir: Path | str | None = None, quiet: bool = False
) -> tuple[Path, dict[str, str]]:
    """Download what is missing; returns the folder and the SHA-256 of each file fetched now."""
    if entry.built_in:
        raise SettingError(f"data set {entry.name!r} is built in: there is nothing to fetch")
    folder = (Path(data_dir) if data_dir is not None else download_folder()) / entry.name
    hashes: dict[str, str] = {}
    for file in entry.files:
        if not all((folder / name).is_file() for name in file.products):
            hashes[file.name] = download(file, folder, quiet)
            if file.members:
                _unpack(file, folder)
    if hashes:
        urls = {file.name: {"url": file.url, "sha256": hashes.get(file.name)} for file in entry.files}
        write_text(folder / FETCHED, json.dumps(urls, indent=2) + "\n")
    return folder, hashes


def load_named(
    name: str, data_dir: Path | str | None = None, download: bool = True, quiet: bool = False, **options: Any
) -> Source:
    """Load a data set of the catalogue, fetching it if it is nowhere and `download` allows."""
    return load_entry(get_named(name), data_dir, download, quiet, **options)


def load_entry(
    entry: NamedSet,
    data_dir: Path | str | None = None,
    download: bool = True,
    quiet: bool = False,
    **options: Any,
) -> Source:
    """Load one entry. It is checked as it is before `options` (min_rating, core ...) change it."""
    if entry.built_in:
        if options:
            raise SettingError(
                f"data set {entry.name!r} is built in and takes no read options ({', '.join(options)})"
            )
        return verify(make_world(), entry, "generated")
    folder = locate(entry, data_dir)
    if folder is None:
        if not download:
            raise DownloadError(
                f"data set {entry.name!r} is not here; fetch it with: sparserec data fetch {entry.name}"
            )
        folder, _ = fetch(entry, data_dir, quiet)
    source = verify(read_source(folder), entry, str(folder))
    if options:
        source = read_source(folder, **options)
    return source


def resolve(text: str | Path, data_dir: Path | str | None = None, **options: Any) -> Source:
    """A Source from what a user typed: a path, or the name of a data set where no such path exists."""
    if Path(text).exists():
        return read_source(Path(text), **options)
    if find_named(str(text)) is not None:
        return load_named(str(text), data_dir, **options)
    if any(mark in str(text) for mark in "/\\."):
        return read_source(Path(text), **options)
    try:
        get_named(str(text))
    except UnknownFormatError as error:
        raise UnknownFormatError(f"no file {text!r} here, and {error}") from None
    raise AssertionError("find_named and get_named disagree")


def verify(source: Source, entry: NamedSet, where: str) -> Source:
    """Check counts and, where known, pair hashes; the order of items within a file does not matter."""
    found = {"users": source.train.n_users, "items": source.train.n_items}
    found |= {name: len(part) for name, part in source.parts.items()}
    expected = {"users": entry.users, "items": entry.items, **entry.parts}
    if found != expected:
        raise WrongDataError(
            f"{where}: this is not {entry.name}: expected {_counts(expected)}, found {_counts(found)}; "
            "other toolkits use the same name for other variants; give its path to use it as it is"
        )
    for name, pair_hash in entry.pair_hashes.items():
        if source.parts[name].pair_hash() != pair_hash:
            raise WrongDataError(f"{where}: the {name} pairs are not those of {entry.name}; fetch it again")
    how = (
        "all pairs checked against their hash"
        if entry.pair_hashes
        else "counts checked; no hash known (unverified)"
    )
    return source.with_notes(f"data set {entry.name}: {how}")


def _counts(numbers: dict[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def _unpack(file: RemoteFile, folder: Path) -> None:
    """Take only the named members out of an archive, then remove it."""
    archive = folder / file.name
    try:
        with zipfile.ZipFile(archive) as packed:
            for member, name in file.members.items():
                with replacing(folder / name) as temporary:
                    temporary.write_bytes(packed.read(member))
    except (zipfile.BadZipFile, KeyError) as error:
        raise DownloadError(
            f"{archive}: not the expected archive ({error}); the source may have changed"
        ) from None
    finally:
        archive.unlink(missing_ok=True)
