"""One entry for all inputs: look at what it is, read it, say what was understood."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import Field

from sparserec.data.columns import PART_NAMES, Columns, ReadReport, Source, build_source, join_parts
from sparserec.data.errors import EmptyDataError, MissingColumnError
from sparserec.data.folders import find_files
from sparserec.data.formats import find_format, form_of, item_file
from sparserec.data.frames import frame_columns
from sparserec.data.interactions import Interactions
from sparserec.data.lightgcn import read_lightgcn
from sparserec.errors import DataError, SettingError
from sparserec.settings import Settings


class ReadOptions(Settings):
    """How to understand the input where guessing is not enough."""

    user_col: str | None = None
    """Name of the user column (its position from 1 where there is no header)."""
    item_col: str | None = None
    """Name of the item column."""
    rating_col: str | None = None
    """Name of the rating column; empty to ignore ratings."""
    time_col: str | None = None
    """Name of the time column; empty to ignore times."""
    weight_col: str | None = None
    """Name of a column with the weight of each interaction in the loss (`value` for those of a matrix): a pair of
    weight 2 counts as if it were there twice."""
    count_repeats: bool = False
    """Whether a pair weighs as many as it has rows; otherwise repeats count once."""
    min_rating: float | None = None
    """Count only ratings of at least this as interactions."""
    core: int | None = None
    """Leave out users and items with fewer interactions than this, repeatedly."""
    draw_users: int | None = Field(None, ge=1)
    """Draw this many users and leave out the others, before `core` looks at what is left: a small version of a log."""
    draw_seed: int = Field(0, ge=0)
    """Decides who is drawn, whatever the order of the rows."""
    format: str | None = None
    """Overrule the guess: lightgcn, table, lines, inter, movielens, parquet or package.module:Class."""
    header: bool | None = None
    """Whether a text table starts with column names; guessed when not given."""

    @property
    def wanted(self) -> dict[str, str | None]:
        """Column asked for by role; None leaves it to guessing."""
        return {
            "user": self.user_col,
            "item": self.item_col,
            "rating": self.rating_col,
            "time": self.time_col,
            "weight": self.weight_col,
        }

    @property
    def rated(self) -> bool:
        """Whether rating values matter; otherwise they are not parsed, so that odd ones do no harm."""
        return self.min_rating is not None


def read_source(
    what: Any = None, *, train: Any = None, valid: Any = None, test: Any = None, **options: Any
) -> Source:
    """Read interactions from a path (file or folder) or a Python object; `options` are those of ReadOptions.

    Own train, valid and test inputs can be given by name instead of `what`, each a path or an object.
    """
    settings = ReadOptions.parse(options, "read options")
    if settings.core is not None and settings.core < 1:
        raise SettingError(f"core must be at least 1 (got {settings.core})")
    train = what if train is None else train
    if train is None:
        raise EmptyDataError("nothing to read: give a path, a data frame or pairs")
    if isinstance(train, Source | Interactions):
        if settings != ReadOptions() or valid is not None or test is not None:
            raise SettingError(
                f"{type(train).__name__} are read already: options and other parts go with files, frames and pairs"
            )
        return train if isinstance(train, Source) else Source.whole(train, "interactions")
    given = {name: value for name, value in zip(PART_NAMES, (train, valid, test)) if value is not None}
    if all(isinstance(value, (str, PathLike)) for value in given.values()):
        columns, report = _read_paths({name: Path(value) for name, value in given.items()}, settings)
    else:
        columns, report = _read_objects(given, settings)
    if "rating" in report.columns and not settings.rated:
        note = (
            f"ratings ({report.columns['rating']}) are not used, every row counts; `min_rating` sets a threshold, "
            "`weight_col` takes a column as weights"
        )
        report = replace(report, notes=report.notes + (note,))
    if settings.weight_col and not any(part.weights is not None for part in columns.values()):
        raise MissingColumnError(
            f"`weight_col` {settings.weight_col!r}: {report.format} has no columns to choose"
        )
    if settings.weight_col and settings.count_repeats:
        raise SettingError("`weight_col` and `count_repeats` both say what a pair weighs; give one of them")
    drawn = None if settings.draw_users is None else (settings.draw_users, settings.draw_seed)
    chosen = settings.min_rating, settings.core, drawn, settings.count_repeats
    source = build_source(columns, report, *chosen)
    return _name_items_from_beside(source)


def _read_objects(given: dict[str, Any], options: ReadOptions) -> tuple[dict[str, Columns], ReadReport]:
    parts: dict[str, Columns] = {}
    kind, roles = "", {}
    for name, value in given.items():
        if isinstance(value, (str, PathLike)):
            found, report = _read_paths({"train": Path(value)}, options)
            parts[name], kind, roles = found["train"], report.format, report.columns
        else:
            parts[name], kind, roles = frame_columns(value, options.wanted, f"{name} data", options.rated)
    return parts, ReadReport(kind, columns=roles)


def _read_paths(given: dict[str, Path], options: ReadOptions) -> tuple[dict[str, Columns], ReadReport]:
    found: dict[str, tuple[dict[str, list[Path]], list[str]]] = {
        name: ({"train": [path]}, []) if path.is_file() else find_files(path, options.wanted)
        for name, path in given.items()
    }
    files = (
        found["train"][0] if len(given) == 1 else {name: parts["train"] for name, (parts, _) in found.items()}
    )
    named = bool(options.user_col or options.item_col) and options.header is not False
    forms = {
        path: form_of(
            path, options.format, options.header, named=named and not str(options.user_col).isdigit()
        )
        for paths in files.values()
        for path in paths
    }
    all_files = tuple(str(path) for path in forms)
    described = ", ".join(Counter(find_format(form.kind).describe(form) for form in forms.values()))
    notes = [note for _, several in found.values() for note in several]
    notes += [f"{path.name}: {form.note}" for path, form in forms.items() if form.note][:4]
    if all(form.kind == "lightgcn" for form in forms.values()) and all(
        len(paths) == 1 for paths in files.values()
    ):
        parts = read_lightgcn({name: paths[0] for name, paths in files.items()})
        return parts, ReadReport(described, all_files, notes=tuple(notes))
    parts, roles = {}, {}
    for name, paths in files.items():
        read = [find_format(forms[path].kind).columns(path, forms[path], options) for path in paths]
        parts[name] = join_parts([columns for columns, _ in read])
        roles = read[0][1]
    return parts, ReadReport(described, all_files, roles, notes=tuple(notes))


def _name_items_from_beside(source: Source) -> Source:
    """The source with the titles and tags of a file that lies beside its data and is meant for it, if there is one."""
    if not source.report.files:
        return source
    path = item_file(Path(source.report.files[0]))
    if path is None:
        return source
    from sparserec.data.item_info import read_item_info

    try:
        return source.with_item_info(read_item_info(path, source.train.item_ids))
    except DataError as error:  # nobody asked for it: the interactions are good without
        return source.with_notes(f"{path.name} beside the data gives no titles: {error}")
