"""taper: SparseRec with more entries than the budget, the surplus pruned row by row, and a rest of the training after.

Ours, from what the comparison showed (docs/log.md). A dense table to prune needs the memory that we set out to save;
SparseRec at a few times the budget does not. Nothing is grown after the first cut, and a validation score of a wider
table counts no more once it is cut. The cuts are settings of sparserec (methods/cuts.py): this is the name and the
schedule they are compared under.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from sparserec.methods.base import Context, Phase, PhaseResult, StepInfo
from sparserec.methods.cuts import CutSettings
from sparserec.methods.plain import OneTraining
from sparserec.methods.sparserec import SparseRec, SparseRecSettings
from sparserec.table import Table


class TaperSettings(CutSettings):
    start_ratio: float = Field(2.0, ge=1)
    """Entries before the cuts, in budgets; never more than the whole table."""
    exploring: SparseRecSettings = SparseRecSettings()
    """How the wide table starts and explores: sparserec's settings but those of its cuts."""

    @model_validator(mode="after")
    def _cuts_are_said_once(self) -> Self:
        unset = CutSettings()
        for name in CutSettings.model_fields:
            if getattr(self.exploring, name) != getattr(unset, name):
                raise ValueError(f"{name}: a setting of taper itself, not of exploring")
        return self


class Taper(OneTraining):
    name = "taper"
    sparse_state = True

    def __init__(self, settings: TaperSettings) -> None:
        self.settings = settings
        cuts = {name: getattr(settings, name) for name in CutSettings.model_fields}
        self.explorer = SparseRec(settings.exploring.model_copy(update=cuts))
        self.wants_factors = self.explorer.wants_factors
        self.sparse_state, self.shardable = self.explorer.sparse_state, self.explorer.shardable
        self.shardable_by_rows = self.explorer.shardable_by_rows
        self.begins_dense = self.explorer.begins_dense

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        return self.explorer.next_phase(context, done)

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        return self.explorer.start(context, phase, previous)

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        return self.explorer.after_step(context, table, now)
