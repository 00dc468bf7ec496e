"""dense: every entry of the full table is trained. The reference that any budget is measured against."""

from __future__ import annotations

from sparserec.methods.base import Context, Method, Phase
from sparserec.table import DenseTable, Table


class Dense(Method):
    name = "dense"
    idea = "every entry is trained; no budget"
    shardable = shardable_by_rows = True

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        return DenseTable.create(context.shape(), context.initial(context.dim))
