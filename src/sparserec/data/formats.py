"""Forms that logs come in, by name: ours, and those that other packages bring in one class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sparserec.data.columns import Columns
from sparserec.data.errors import MalformedLineError, UnreadableFileError
from sparserec.data.frames import frame_columns
from sparserec.data.lightgcn import read_lightgcn
from sparserec.data.sniff import LATE, Form, check_text, choose_columns, positions, read_bytes, sniff
from sparserec.settings import find_kind, plugins

if TYPE_CHECKING:
    from sparserec.data.reading import ReadOptions

SUFFIXES = {".txt", ".csv", ".tsv", ".inter", ".parquet", ".pq", ".dat", ".data"}
"""How files of ours end."""
BETWEEN = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}


class Format:
    """One form. From outside: how its files end, and `read`."""

    words: ClassVar[str] = ""
    """What it is called in reports."""
    suffixes: ClassVar[tuple[str, ...]] = ()

    def read(self, path: Path) -> Any:
        """The file as a data frame, an Arrow table, pairs .., whatever `read_source` takes from Python."""
        raise NotImplementedError

    def columns(self, path: Path, form: Form, options: ReadOptions) -> tuple[Columns, dict[str, str]]:
        """Ids, ratings, times and weights of a file, and the column of each role."""
        found, _, roles = frame_columns(self.read(path), options.wanted, str(path), options.rated)
        return found, roles

    def describe(self, form: Form) -> str:
        return self.words or form.kind


class LightGCNText(Format):
    words = "LightGCN text (user item item ...)"

    def columns(self, path: Path, form: Form, options: ReadOptions) -> tuple[Columns, dict[str, str]]:
        return read_lightgcn({"train": path})["train"], {}


class Parquet(Format):
    words = "Parquet"

    def columns(self, path: Path, form: Form, options: ReadOptions) -> tuple[Columns, dict[str, str]]:
        from sparserec.data.arrow_columns import table_columns

        roles = choose_columns(parquet_names(path), options.wanted, str(path))
        table = read_parquet(path, list(dict.fromkeys(roles.values())))
        return table_columns(table, roles, str(path), lambda row: f"{path}: row {row}", options.rated), roles


class TextTable(Format):
    def columns(self, path: Path, form: Form, options: ReadOptions) -> tuple[Columns, dict[str, str]]:
        from sparserec.data.arrow_columns import table_columns

        table, roles = read_text_table(path, form, options.wanted)
        locate = lambda row: f"{path}:{text_line(path, row, form.header)}"  # noqa: E731
        return table_columns(table, roles, str(path), locate, options.rated, untyped=True), roles

    def describe(self, form: Form) -> str:
        header = "with" if form.header else "no"
        return self.words or f"text table, {BETWEEN[form.delimiter]} between columns, {header} header"


class Inter(TextTable):
    words = "RecBole .inter"


class MovieLens(TextTable):
    words = "MovieLens text (user::item::rating::time)"


FORMATS: dict[str, type[Format]] = {
    "lightgcn": LightGCNText,
    "table": TextTable,
    "lines": TextTable,
    "inter": Inter,
    "movielens": MovieLens,
    "parquet": Parquet,
}


def find_format(name: str) -> Format:
    """The form of this name: one of ours, of an installed package, or package.module:Class."""
    instance: Format = find_kind(name, FORMATS, "formats")()
    return instance


def form_of(path: Path, wanted: str | None = None, header: bool | None = None, named: bool = False) -> Form:
    """The form of a file: the one that is asked for, that of another package by how it ends, or what its first lines
    look like.
    """
    name, suffix = wanted, path.suffix.lower()
    if wanted is None and suffix not in SUFFIXES:
        name = next((one for one in plugins("formats") if suffix in find_format(one).suffixes), None)
    if name is not None and name not in FORMATS:
        find_format(name)
        return Form(name, header=False)
    return sniff(path, wanted, header, named)


def all_suffixes() -> set[str]:
    """How files end that may be data."""
    return SUFFIXES.union(*(find_format(name).suffixes for name in plugins("formats")))


_ITEM_FILES = {"ratings.dat": "movies.dat", "u.data": "u.item", "ratings.csv": "movies.csv"}


def item_file(file: Path) -> Path | None:
    """The file beside a data file that says what its items are called: `name.item` of `name.inter`, MovieLens' own."""
    name = file.name.removesuffix(".gz")
    known = f"{name.split('.')[0]}.item" if name.endswith(".inter") else _ITEM_FILES.get(name)
    beside = None if known is None else file.with_name(known)
    return beside if beside is not None and beside.is_file() else None


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
    import pyarrow as pa
    from pyarrow import csv

    needed = list(dict.fromkeys(roles.values()))
    quoted: Any = '"' if form.delimiter in ",;" else False
    convert = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=needed)
    read = csv.ReadOptions(column_names=names, skip_rows=0, skip_rows_after_names=1 if form.header else 0)
    parse = csv.ParseOptions(delimiter=form.delimiter, quote_char=quoted)
    try:
        return csv.read_csv(pa.BufferReader(data), read, parse, convert), roles
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise _explain(data, path, form, names, str(error)) from None


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


def parquet_names(path: Path) -> list[str]:
    """The names of all columns."""
    from pyarrow import parquet

    with _explaining(path):
        return parquet.read_schema(path).names  # type: ignore[no-any-return]


def read_parquet(path: Path, columns: list[str] | None = None) -> Any:
    """All columns, or the named ones."""
    from pyarrow import parquet

    with _explaining(path):
        return parquet.ParquetFile(path).read(columns=columns)


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    import pyarrow as pa

    read_bytes(path, 4)  # a missing, unreadable or empty file gets its own message
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0]
        raise UnreadableFileError(
            f"{path}: damaged or truncated Parquet file ({first}); write it again"
        ) from None
