"""Methods and bases, a line each, for people who choose. Plain data: listing it loads nothing else.

`python -m sparserec.describe` writes `catalogue.json` from the classes, where each line stands; a test holds the two
together.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from sparserec.settings import Group, plugins

Memory = Literal["sparse", "dense", "codes", "network"]
"""What a training holds: sparse grows with the budget, dense with the full table, codes with two books, network with
the activations of all rows."""


@dataclass(frozen=True)
class MethodLine:
    """One way to spend a parameter budget."""

    idea: str
    trainings: float
    """Length of all phases in plain trainings, at most, with default settings."""
    memory: Memory
    paper: str


@dataclass(frozen=True)
class BaseLine:
    """One base recommender."""

    idea: str
    multiplications: int
    """By the graph, in one step."""
    rows: Literal["users and items", "items"]
    """Who has parameters."""
    paper: str


def _stored(group: Group) -> dict[str, Any]:
    read: dict[str, dict[str, Any]] = json.loads(
        files("sparserec").joinpath("catalogue.json").read_text(encoding="utf-8")
    )
    return read[group]


def others(group: Group) -> dict[str, str]:
    """Names that installed packages bring, and where from."""
    return {name: one.value for name, one in plugins(group).items()}


METHOD_LINES = {name: MethodLine(**line) for name, line in _stored("methods").items()}
BASE_LINES = {name: BaseLine(**line) for name, line in _stored("bases").items()}
