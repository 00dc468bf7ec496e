"""dense: every entry of the full table is trained. The reference that any budget is measured against."""

from __future__ import annotations

from sparserec.methods.base import Context, OneTraining, Phase
from sparserec.settings import Settings
from sparserec.table import DenseTable, Table


class DenseSettings(Settings):
    pass


class Dense(OneTraining):
    name = "dense"
    settings_kind = DenseSettings
    idea = "every entry is trained; no budget"
    paper = "-"
    memory = "dense"
    sparse_state = False
    shardable = shardable_by_rows = True

    def __init__(self, settings: DenseSettings) -> None:
        self.settings = settings

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        return DenseTable.create(context.shape(), context.initial(context.dim))
