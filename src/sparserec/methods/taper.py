"""taper: SparseRec with more entries than the budget, the surplus pruned row by row, and a rest of the training after.

Ours, from what the comparison showed (docs/log.md): a trained table that is pruned keeps nearly all its quality when
every row keeps its best few, and trains on to more. A dense table to prune needs the memory that we set out to save;
SparseRec at a few times the budget does not. The surplus goes along a cubic (Zhu and Gupta, arXiv 1710.01878). Nothing
is grown after the first cut, and a validation score of a wider table counts no more once it is cut.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from sparserec.exploration import active_target, mark_kept
from sparserec.methods.base import Context, Phase, PhaseResult, StepInfo
from sparserec.methods.plain import OneTraining
from sparserec.methods.sparserec import SparseRec, SparseRecSettings
from sparserec.settings import Settings
from sparserec.table import SparseTable, Table


class TaperSettings(Settings):
    start_ratio: float = Field(2.0, ge=1)
    """Entries before the cuts, in budgets; never more than the whole table."""
    cut_from: float = Field(0.5, ge=0, lt=1)
    """Share of the epochs at which cutting begins and exploring ends."""
    cut_until: float = Field(0.7, gt=0, le=1)
    """Share of the epochs at which the budget is reached."""
    exploring: SparseRecSettings = SparseRecSettings()
    """How the wide table starts and explores: sparserec's settings."""

    @model_validator(mode="after")
    def _cuts_take_time(self) -> Self:
        if self.cut_from >= self.cut_until:
            raise ValueError(f"cut_from {self.cut_from} must be below cut_until {self.cut_until}")
        return self


class Taper(OneTraining):
    name = "taper"
    sparse_state = True

    def __init__(self, settings: TaperSettings) -> None:
        self.settings = settings
        self.explorer = SparseRec(settings.exploring)
        self.wants_factors = self.explorer.wants_factors
        self.sparse_state, self.shardable = self.explorer.sparse_state, self.explorer.shardable
        self.shardable_by_rows = self.explorer.shardable_by_rows
        self.begins_dense = self.explorer.begins_dense

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        return self.explorer.next_phase(context, done)

    def _wide(self, context: Context) -> Context:
        """What the explorer is told: a larger budget."""
        return replace(context, density=min(1.0, self.settings.start_ratio * context.density))

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        return self.explorer.start(self._wide(context), phase, previous)

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        if not isinstance(table, SparseTable):
            return False
        settings, budget = self.settings, active_target(table.shape, context.density)
        done = now.step / now.last_step
        if done < settings.cut_from or table.parameters() < budget:
            self.explorer.after_step(self._wide(context), table, now)
        if done >= settings.cut_from and now.ends_epoch and table.parameters() > budget:
            wide = active_target(table.shape, self._wide(context).density)
            way = (done - settings.cut_from) / (settings.cut_until - settings.cut_from)
            before, wanted = table.parameters(), tapered(way, wide, budget)
            if wanted < before:
                cut_to(table, wanted, now.step)
                context.record("cut", dropped=before - wanted, active=wanted)
        return False


def tapered(way: float, wide: int, budget: int) -> int:
    """Entries wanted at this part of the way: `wide` up to 0, then down a cubic to exactly `budget` from 1 on."""
    left = 1.0 - min(max(way, 0.0), 1.0)
    return budget + round((wide - budget) * left**3)


def cut_to(table: SparseTable, count: int, step: int) -> None:
    """Keep `count` entries, the best of every row first; nothing grows from here on, so no gradients are summed."""
    table.set_candidates(None)
    keep = mark_kept(table, count)
    table.change_support(keep, [np.empty(0, np.int32) for _ in table.shape.blocks], step)
