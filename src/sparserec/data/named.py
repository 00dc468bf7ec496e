"""Finding, fetching and checking named data sets, and turning what a user typed into a Source."""

from __future__ import annotations

import difflib
import json
import os
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparserec.data.columns import Source
from sparserec.data.download import download
from sparserec.data.errors import DownloadError, UnknownFormatError, WrongDataError
from sparserec.data.reading import read_source
from sparserec.data.world import make_world
from sparserec.errors import DataError, SettingError
from sparserec.files import cache_folder, replacing, write_text

# Named data sets: where they come from, under which terms, and how to tell that a copy is the right one.
#
# Names say which variant: "gowalla" alone means a different set of users in other toolkits.

_LIGHTGCN = "https://raw.githubusercontent.com/gusye1234/LightGCN-PyTorch/947ca2b3b1d2d3545b114145710cb06c4e57b3d2/data"
_GROUPLENS = "https://files.grouplens.org/datasets/movielens"
_LIGHTGCN_LICENCE = (
    "none known to us; published with the research code of LightGCN, ask its authors before redistributing"
)
_MOVIELENS_LICENCE = (
    "research use with acknowledgement; no redistribution, no commercial use without permission"
)


@dataclass(frozen=True)
class RemoteFile:
    """A file to download; `members` says which entries of a zip archive are kept, and under which names."""

    url: str
    name: str
    sha256: str | None = None
    """Only of files we held; None means unverified: the hash is shown at the first download."""
    members: dict[str, str] = field(default_factory=dict)

    @property
    def products(self) -> tuple[str, ...]:
        """Names of the files that are there once this one is fetched."""
        return tuple(self.members.values()) if self.members else (self.name,)


@dataclass(frozen=True)
class NamedSet:
    """One entry of the catalogue."""

    name: str
    title: str
    page: str
    licence: str
    users: int
    items: int
    parts: dict[str, int]
    files: tuple[RemoteFile, ...] = ()
    aliases: tuple[str, ...] = ()
    pair_hashes: dict[str, str] = field(default_factory=dict)
    """Interactions.pair_hash of parts whose pairs we held."""

    @property
    def built_in(self) -> bool:
        """Generated, not downloaded."""
        return not self.files


def _of_lightgcn(
    folder: str,
    title: str,
    sizes: tuple[int, int, int, int],  # users, items, train, test
    terms: str = "",
    test_sha256: str | None = None,
    pair_hashes: tuple[str, ...] = (),
) -> NamedSet:
    users, items, train, test = sizes
    return NamedSet(
        name=f"{folder}-lightgcn",
        title=f"{title}, 10-core, split of NGCF and LightGCN",
        page="https://github.com/gusye1234/LightGCN-PyTorch",
        licence=_LIGHTGCN_LICENCE + terms,
        users=users,
        items=items,
        parts={"train": train, "test": test},
        files=(
            RemoteFile(f"{_LIGHTGCN}/{folder}/train.txt", "train.txt"),
            RemoteFile(f"{_LIGHTGCN}/{folder}/test.txt", "test.txt", test_sha256),
        ),
        aliases=(folder, "yelp") if folder == "yelp2018" else (folder,),
        pair_hashes=dict(zip(("train", "test"), pair_hashes)),
    )


def _movielens(size: str, title: str, sizes: tuple[int, int, int], files: tuple[str, ...]) -> NamedSet:
    users, items, ratings = sizes
    members = {f"ml-{size}/{name}": name for name in (*files, "README")}
    return NamedSet(
        name=f"movielens-{size}",
        title=title,
        page=f"https://grouplens.org/datasets/movielens/{size}/",
        licence=_MOVIELENS_LICENCE,
        users=users,
        items=items,
        parts={"train": ratings},
        files=(RemoteFile(f"{_GROUPLENS}/ml-{size}.zip", f"ml-{size}.zip", members=members),),
        aliases=(f"ml-{size}",),
    )


_SETS = (
    NamedSet(
        name="world",
        title="built-in sample: a year of visits to the places of a made-up city",
        page="generated",
        licence="Apache-2.0, as this package",
        users=3000,
        items=2000,
        parts={"train": 120_407},
        pair_hashes={"train": "634b0dae1b805c3e341fa928534f6aff734a4dc3d8fbe21249af0aa81e181cdf"},
    ),
    _of_lightgcn(
        "gowalla",
        "Gowalla check-ins",
        (29_858, 40_981, 810_128, 217_242),
        test_sha256="099a2a73924e4b754dc6efd730d764f492321b53c38eb93298850c83acf57be3",
        pair_hashes=(
            "58f9b1178c9efbe96c91a466d861480fb2c235b52ffafaca7aad1ff35cc961d5",
            "9abd34a81b2b87db1a011e12c71c5687fb62e3b28663fecbe36442a6dab748b0",
        ),
    ),
    _of_lightgcn(
        "yelp2018",
        "Yelp 2018 challenge reviews",
        (31_668, 38_048, 1_237_259, 324_147),
        "; derived from the Yelp data set, whose terms apply",
        "9cd9b37926cd1447a06625ffa7914527573fb097c10cb0bbdb1d1b8ded3742fe",
        (
            "d47ef6ab4e4b06ab3122c402708ef39dc398bc31d8124b53b1687d54bded5678",
            "36da8d9a01f6c2ec534f917297d65612656e95e401080a92a1ee5b3668bdb77e",
        ),
    ),
    _of_lightgcn(
        "amazon-book",
        "Amazon book reviews",
        (52_643, 91_599, 2_380_730, 603_378),
        "; derived from the Amazon review data of UCSD",
    ),
    _movielens("100k", "MovieLens 100K ratings, with titles", (943, 1682, 100_000), ("u.data", "u.item")),
    _movielens(
        "1m",
        "MovieLens 1M ratings, with titles and genres",
        (6040, 3706, 1_000_209),
        ("ratings.dat", "movies.dat"),
    ),
)
CATALOGUE: dict[str, NamedSet] = {entry.name: entry for entry in _SETS}


def find_named(name: str) -> NamedSet | None:
    """The entry of a name or alias, in any case."""
    wanted = name.lower()
    return next((entry for entry in CATALOGUE.values() if wanted in (entry.name, *entry.aliases)), None)


def get_named(name: str, also: str = "") -> NamedSet:
    """The entry of a name or alias; the message about an unknown one begins with `also` and names the nearest."""
    entry = find_named(name)
    if entry is None:
        known = [word for known in CATALOGUE.values() for word in (known.name, *known.aliases)]
        near = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UnknownFormatError(f"{also}no data set {name!r}; {hint}there are: {', '.join(CATALOGUE)}")
    return entry


FETCHED = "fetched.json"


def download_folder() -> Path:
    """Where downloads go."""
    return cache_folder() / "data"


def locate(entry: NamedSet, data_dir: Path | str | None = None) -> Path | None:
    """The folder that has the files of a set: in `data_dir`, in SPARSEREC_DATA or in the cache."""
    wanted = [name for file in entry.files for name in file.products if name != "README"]

    def here(folder: Path) -> bool:
        return bool(wanted) and all((folder / name).is_file() for name in wanted)

    roots = [data_dir, os.environ.get("SPARSEREC_DATA") or None, download_folder()]
    for root in (Path(root) for root in roots if root is not None):
        for folder in (root / entry.name, *(root / alias for alias in entry.aliases)):
            if here(folder):
                return folder
        if here(root):  # under no telling name: whether it is this set, counts and pair hashes say
            with suppress(DataError):
                verify(read_source(root), entry, str(root))
                return root
    return None


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
    path, name = Path(text), str(text)
    if path.exists() or (find_named(name) is None and any(mark in name for mark in "/\\.")):
        return read_source(path, **options)
    return load_entry(get_named(name, f"no file {text!r} here, and "), data_dir, **options)


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
    unverified = "counts checked; no hash known (unverified)"
    how = "all pairs checked against their hash" if entry.pair_hashes else unverified
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
