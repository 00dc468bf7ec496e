"""gse: guided stochastic exploration: grow by the gradient of a random sample of inactive entries (arXiv 2401.06898).

Before an exploration as many inactive entries are drawn as `sample_ratio` times the budget; the next batch's gradient
is kept for these alone, and those with the largest take the place of the smallest active entries. So nothing of the
size of the full table is ever made, not even for one batch. As in the released code: a fifth is dropped first, falling
along half a cosine, exploration ends at three fifths of the training, grown entries cannot be dropped at once. There
entries are drawn by what bounds their gradient; for a table that is how often the row occurs, so rows are drawn by
frequency and columns uniformly. Ours keeps Adam's moments with an own age per entry (theirs is SGD), and really is
sparse: the released code computes the whole gradient and looks at the sample.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.exploration import Growth, Scope, mark_largest
from sparserec.methods.base import Context, StepInfo
from sparserec.methods.exploring import Exploring, RuleSettings
from sparserec.settings import Between
from sparserec.table import SparseTable, Table


class GSESettings(RuleSettings):
    drop_fraction: Annotated[float, Between(0.05, 0.6)] = Field(0.2, ge=0, lt=1)
    """Share of active entries dropped at the first exploration."""
    explore_until: Annotated[float, Between(0.3, 1.0)] = Field(0.6, gt=0, le=1)
    """Share of the training after which the support stays fixed."""
    sample_ratio: float = Field(1.0, gt=0)
    """Draws before an exploration, in budgets; entries drawn twice or already active are left out."""
    rows: Literal["frequency", "uniform"] = "frequency"
    """How rows are drawn."""
    scope: Scope = "joint"
    """Rank users and items as one table, as the code ranks all layers, or each by itself with the magnitude split."""


class GSE(Exploring):
    name = "gse"
    settings_kind = GSESettings
    idea = "drop the smallest, grow by the gradient of a random sample"
    paper = "arXiv 2401.06898"

    def __init__(self, settings: GSESettings) -> None:
        self.settings, self.rule = settings, settings.rule(keep_value=False)

    def growth(self, context: Context, table: Any, now: StepInfo) -> Growth:
        return LargestOfSample(table)

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        """Explore with what the last batch said about the sample; draw one for the batch before an exploration."""
        assert isinstance(table, SparseTable)
        if table.watched is not None:
            self.explore_now(context, table, now)
        if self.due(context, now, ahead=1):
            rng = np.random.default_rng([context.seed, streams.GSE_SAMPLED, now.step])
            counts = np.concatenate(context.frequencies()).astype(np.float64)
            weights = counts if self.settings.rows == "frequency" else np.ones_like(counts)
            draws = round(self.settings.sample_ratio * table.parameters())
            table.watch(draw_inactive_entries(table, weights, draws, rng))
        return False


def draw_inactive_entries(
    table: SparseTable, weights: np.ndarray, draws: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Distinct inactive entries of `draws`, rows by weight and columns uniformly; ascending positions per block."""
    held, widths = table.shape.held, np.array([width for _, width in table.shape.all_blocks])
    ends = np.cumsum(weights) / weights.sum()
    sample = []
    for index, count in enumerate(rng.multinomial(draws, widths / widths.sum())):
        rows = np.searchsorted(ends, rng.random(count), side="right").astype(np.int32)
        columns = rng.integers(0, widths[index], count, dtype=np.int32)
        if index in held:
            drawn = np.unique(rows * np.int32(widths[index]) + columns)
            active = table.positions[table.block(index - held.start)]
            sample.append(np.setdiff1d(drawn, active, assume_unique=True))
    return sample


class LargestOfSample:
    """The watched entries with the largest gradients; ties by (block, row, column)."""

    def __init__(self, table: SparseTable) -> None:
        """The sample is spent: the table watches nothing after."""
        held = table.watched
        assert held is not None, "nothing was sampled"
        table.watch(None)
        self.processes = table.shape.processes
        self.sampled = int(self.processes.total(len(held.positions)))
        cuts = held.bounds[1:-1]
        self.positions, self.gradient = np.split(held.positions, cuts), np.split(np.abs(held.gradient), cuts)
        self.widths = [width for _, width in table.shape.blocks]

    @property
    def recorded(self) -> dict[str, int]:
        return {"sampled": self.sampled}

    def offer(self, table: SparseTable, active: np.ndarray) -> tuple[int, int]:
        edge = table.shape.n_users
        here = sum(int(np.searchsorted(one, edge * width)) for one, width in zip(self.positions, self.widths))
        users = int(self.processes.total(here))
        return users, self.sampled - users

    def take(self, rows: tuple[int, int], count: int) -> list[np.ndarray]:
        inside = [
            slice(*np.searchsorted(one, [rows[0] * width, rows[1] * width]))
            for one, width in zip(self.positions, self.widths)
        ]
        scores = np.concatenate([one[part] for one, part in zip(self.gradient, inside)])
        chosen = mark_largest(scores, count, self.processes)
        cuts = np.cumsum([part.stop - part.start for part in inside])[:-1]
        marks = np.split(chosen, cuts)
        return [one[part][mark] for one, part, mark in zip(self.positions, inside, marks)]

    def release(self) -> None:
        self.positions = self.gradient = []
