"""What stands in one line of a table: a variant in a setting, its trainings over seeds, and the published pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reproduction.cells import Cell
from reproduction.grid import Grid, read_stored
from reproduction.jobs import Job
from reproduction.recorded import FEWEST_EXPLORATIONS, Found
from sparserec.evaluation import Comparison, Spread, UserValues, paired_by_id, seed_spread
from sparserec.runs import PRECISION


class Published(NamedTuple):
    """What a paper says of one cell."""

    recall: float
    ndcg: float

    def of(self, metric: str) -> float:
        return self.recall if metric == "recall@20" else self.ndcg


@dataclass(frozen=True)
class Entry:
    """One line of a table."""

    cells: tuple[Cell, ...]
    found: dict[int, Found]
    """By seed."""
    published: Published | None
    states: dict[str, int]
    """Trainings by state."""
    problem: str | None
    """Why one of them cannot be trained."""

    @property
    def cell(self) -> Cell:
        return self.cells[0]

    @property
    def first(self) -> Found | None:
        """The result of the first seed that has one."""
        return self.found[min(self.found)] if self.found else None

    @property
    def explorations(self) -> int | None:
        """The fewest of all seeds; None where one was not counted."""
        counts = [found.explorations for found in self.found.values()]
        return None if None in counts or not counts else min(count for count in counts if count is not None)

    @property
    def is_sparserec(self) -> bool:
        """Whether its results may be called SparseRec."""
        count = self.explorations
        return self.cell.variant == "sparserec" and count is not None and count >= FEWEST_EXPLORATIONS

    @property
    def label(self) -> str:
        """What it is called: a training that hardly explored is not SparseRec, whatever its settings are."""
        config = self.cell.config
        if not self.found or config is None or config.method != "sparserec":
            return self.cell.label
        count = self.explorations
        if count is not None and count >= FEWEST_EXPLORATIONS:
            return self.cell.label
        times = "an unknown number of times" if count is None else f"{count} times"
        return f"not {self.cell.label}: explored {times}"

    def spread(self, metric: str, precision: str = PRECISION) -> Spread | None:
        """Mean and deviation over seeds of a test metric."""
        values = [
            value for found in self.found.values() if (value := found.metric(metric, precision)) is not None
        ]
        return seed_spread(values) if values else None

    def mean(self, metric: str) -> float:
        """Mean over seeds, below every other where there is none."""
        spread = self.spread(metric)
        return float("-inf") if spread is None else spread.mean


def gather(
    jobs: Iterable[Job], grid: Grid, setting: tuple[str, str, float], case: str | None = None
) -> list[Entry]:
    """The cells of a setting (and case) of a grid as entries, in the order of the grid."""
    by_variant: dict[str, list[tuple[Cell, Job]]] = {}
    for job in jobs:
        for cell in job.cells:
            if (cell.grid, cell.setting) == (grid.name, setting) and case in (None, cell.case):
                by_variant.setdefault(cell.variant, []).append((cell, job))
    return [_entry(pairs, grid.published) for pairs in by_variant.values()]


def _entry(pairs: list[tuple[Cell, Job]], group: str | None) -> Entry:
    problems = [job.problem for _, job in pairs if job.problem and job.found is None]
    return Entry(
        cells=tuple(cell for cell, _ in pairs),
        found={cell.seed: job.found for cell, job in pairs if job.found is not None},
        published=published_of(group, pairs[0][0]),
        states=dict(Counter(job.state for _, job in pairs)),
        problem=problems[0] if problems else None,
    )


def source_of(group: str) -> str:
    """Where the numbers of a group are from."""
    return str(read_stored("published")[group]["source"])


def published_of(group: str | None, cell: Cell) -> Published | None:
    """The published pair of a cell's data set, base, density and variant, None where nothing is published."""
    if group is None:
        return None
    by_density = read_stored("published")[group].get(cell.data, {}).get(cell.base, {})
    for density in (f"{cell.density}", "any"):
        if cell.variant in by_density.get(density, {}):
            return Published(*by_density[density][cell.variant])
    return None


def paired_test(first: Sequence[Found], second: Sequence[Found]) -> Comparison | None:
    """First minus second user by user, of whom each has the mean of all seeds; None where users are not recorded, or
    splits differ."""
    if len({found.row["split"]["hash"] for found in (*first, *second)}) > 1:
        return None
    mine, theirs = _mean_users(first), _mean_users(second)
    return None if mine is None or theirs is None else paired_by_id(mine, theirs)


def _mean_users(several: Iterable[Found]) -> UserValues | None:
    users = [found.users for found in several]
    ordered = [one.in_order() for one in users if one is not None]
    if len(ordered) < len(users) or not all(np.array_equal(one.ids, ordered[0].ids) for one in ordered):
        return None
    return UserValues(ordered[0].ids, np.mean([one.values for one in ordered], axis=0))
