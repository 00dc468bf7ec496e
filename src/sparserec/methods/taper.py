"""taper: start sparse but wider than the budget, let the smallest entries of every row go, finish on what is left.

Ours, from what pruning a trained table showed: entries that survive were trained from the first step, where grown ones
start from 0 halfway, and rows want equally many (docs/log.md). But a dense start needs the memory that we set out to
save. A start of a few times the budget, cut along a cubic (Zhu and Gupta, arXiv 1710.01878), costs one plain training,
and no gradient of an inactive entry is ever needed. The last phase trains the exact budget with fresh moments, and
only it is validated: a wider table must not win.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from pydantic import Field

from sparserec.exploration import active_target
from sparserec.exploration.by_row import even_support, mark_kept
from sparserec.methods.base import Context, Moment, Phase, PhaseResult
from sparserec.methods.exploring import SUPPORT
from sparserec.methods.plain import Unchanging
from sparserec.settings import Settings
from sparserec.table import Shape, SparseTable, Table


class TaperSettings(Settings):
    init: Literal["nmf", "uniform"] = "nmf"
    """Where the support starts, the same number in every row: at the factors' largest entries, then anywhere."""
    start_ratio: float = Field(2.0, ge=1)
    """Entries of a row at the start, in budgets of a row, rounded up; never more than the row has."""
    taper_share: float = Field(0.6, gt=0, lt=1)
    """Share of the epochs after which the budget is reached."""
    wide_share: float = Field(0.25, ge=0, lt=1)
    """Share of those epochs that nothing is cut in."""
    finish_rate: float = Field(0.004, gt=0)
    """Learning rate of the first epoch of the last phase."""
    nmf_iterations: int = Field(50, ge=1)
    """Iterations of coordinate descent."""


class Taper(Unchanging):
    name = "taper"
    sparse_state = True

    def __init__(self, settings: TaperSettings) -> None:
        self.settings = settings
        self.wants_factors = settings.nmf_iterations if settings.init == "nmf" else 0

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        cutting = min(max(1, round(self.settings.taper_share * context.epochs)), max(1, context.epochs - 1))
        rest = max(1, context.epochs - cutting)
        phases = [
            Phase("taper", cutting, validated=False),
            Phase("finish", rest, scored_first=True, learning_rate=self.settings.finish_rate),
        ]
        return phases[len(done)] if len(done) < len(phases) else None

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        if phase.name == "finish":
            assert isinstance(previous, SparseTable)
            return fresh(previous)
        shape = context.shape()
        per_row = widest_row(shape, active_target(shape, context.density), self.settings.start_ratio)
        factors = context.factors.load() if context.factors is not None else None
        support = even_support(shape, per_row, np.random.default_rng([context.seed, SUPPORT]), factors)
        return SparseTable.create(shape, support, context.initial(context.dim))

    def after_step(self, context: Context, table: Table, moment: Moment) -> bool:
        if moment.phase.name != "taper" or not moment.ends_epoch:
            return False
        assert isinstance(table, SparseTable)
        shape, settings = table.shape, self.settings
        budget = active_target(shape, context.density)
        wide = shape.n_rows * widest_row(shape, budget, settings.start_ratio)
        wanted = tapered(moment.step / moment.last_step, wide, budget, settings.wide_share)
        if wanted < table.parameters():
            before = table.parameters()
            cut_to(table, wanted, moment.step)
            moment.record("cut", dropped=before - wanted, active=wanted)
        return False


def widest_row(shape: Shape, budget: int, ratio: float) -> int:
    """Entries of every row at the start."""
    return min(math.ceil(ratio * budget / shape.n_rows), shape.dim)


def tapered(progress: float, wide: int, budget: int, wide_share: float) -> int:
    """Entries wanted at this share of the phase: `wide` at first, then down a cubic to exactly `budget` at its end."""
    left = 1.0 - max(0.0, progress - wide_share) / (1.0 - wide_share)
    return budget + round((wide - budget) * left**3)


def cut_to(table: SparseTable, count: int, step: int) -> None:
    """Keep `count` entries, the largest of every row."""
    keep = mark_kept(table, count)
    table.change_support(keep, [np.empty(0, np.int32) for _ in table.shape.blocks], step)


def fresh(table: SparseTable) -> SparseTable:
    """The same entries without moments: a phase counts its steps from 1."""
    support = [table.positions[table.block(index)] for index in range(len(table.shape.blocks))]
    return SparseTable(table.shape, support, table.values.copy())
