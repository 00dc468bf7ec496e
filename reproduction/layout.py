"""What a report is made of: sections with text, figures and tables of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Mark = Literal["", "best", "second"]


@dataclass(frozen=True)
class Pair:
    """A cell of one of the paper's tables: ours above the published number, each with its place in its column."""

    ours: str
    published: str
    mark: Mark = ""
    published_mark: Mark = ""
    about: str = ""
    """What else there is to say of ours, such as its seeds."""


Line = Sequence["str | Pair"]


@dataclass
class Table:
    """A table of text; its first column, or as many as `names` says, names the lines."""

    title: str
    columns: list[str]
    lines: Sequence[Line]
    notes: list[str] = field(default_factory=list)
    groups: list[tuple[str, int]] = field(default_factory=list)
    """A line above the columns: titles and how many columns each spans."""
    names: int = 1


@dataclass
class Section:
    """A part of the report under a heading of its own."""

    name: str
    title: str
    text: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.text or self.tables or self.figures)


def marks(values: dict[str, float]) -> Callable[[str], Mark]:
    """Which names have the best value and which the second best; a column of one has neither."""
    places = sorted(set(values.values()), reverse=True)

    def mark(name: str) -> Mark:
        if name not in values or len(values) < 2:
            return ""
        place = places.index(values[name])
        return "best" if place == 0 else "second" if place == 1 else ""

    return mark
