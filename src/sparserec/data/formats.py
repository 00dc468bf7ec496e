"""Forms that logs come in, by name: ours, and those that other packages bring in one class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sparserec.data.columns import Columns
from sparserec.data.frames import frame_columns
from sparserec.data.lightgcn import read_lightgcn
from sparserec.data.naming import choose_columns
from sparserec.data.parquet_files import parquet_names, read_parquet
from sparserec.data.sniff import Form, read_text_table, sniff, text_line
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
