"""Rows with more entries than the budget for a while, the surplus pruned row by row before the training ends.

From what the comparison showed (docs/log.md): a trained table that is pruned keeps nearly all its quality when every
row keeps its best few, and trains on to more. The surplus goes along a cubic (Zhu and Gupta, arXiv 1710.01878).
"""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from sparserec.exploration import active_target, mark_kept
from sparserec.methods.base import StepInfo
from sparserec.settings import Between, Settings
from sparserec.table import SparseTable


class CutSettings(Settings):
    start_ratio: Annotated[float, Between(1.0, 4.0)] = Field(1.0, ge=1)
    """Entries before the cuts, in budgets; never more than the whole table. 1: the budget from the start, no cuts."""
    cut_from: float = Field(0.5, ge=0, lt=1)
    """Share of the epochs at which cutting begins and exploring ends."""
    cut_until: float = Field(0.7, gt=0, le=1)
    """Share of the epochs at which the budget is reached."""

    @model_validator(mode="after")
    def _cuts_take_time(self) -> Self:
        if self.cut_from >= self.cut_until:
            raise ValueError(f"cut_from {self.cut_from} must be below cut_until {self.cut_until}")
        return self

    def wide(self, density: float) -> float:
        """The density before the cuts."""
        return min(1.0, self.start_ratio * density)

    def begun(self, now: StepInfo) -> bool:
        """Whether exploring has ended: nothing is grown after the first cut."""
        return self.start_ratio > 1 and now.step / now.last_step >= self.cut_from

    def wanted(self, table: SparseTable, density: float, now: StepInfo) -> int:
        """Entries that are left after this step.

        Cuts come where epochs end; where none ends between the last cut and the end of the training, after any step.
        """
        few = now.phase.epochs * (1.0 - self.cut_until) <= 1.0
        if not self.begun(now) or not (now.ends_epoch or few):
            return table.parameters()
        budget, wide = (active_target(table.shape, one) for one in (density, self.wide(density)))
        way = (now.step / now.last_step - self.cut_from) / (self.cut_until - self.cut_from)
        return min(table.parameters(), tapered(way, wide, budget))


def tapered(way: float, wide: int, budget: int) -> int:
    """Entries wanted at this part of the way: `wide` up to 0, then down a cubic to exactly `budget` from 1 on."""
    left = 1.0 - min(max(way, 0.0), 1.0)
    return budget + round((wide - budget) * left**3)


def cut_to(table: SparseTable, count: int, step: int, sizes: np.ndarray | None = None) -> None:
    """Keep `count` entries, the best `sizes` of every row first (None: of all rows as many); nothing grows from here
    on, so no gradients are summed.
    """
    table.set_candidates(None)
    keep = mark_kept(table, count, sizes)
    table.change_support(keep, [np.empty(0, np.int32) for _ in table.shape.blocks], step)
