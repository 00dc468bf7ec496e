"""lottery: train the dense table, keep the positions of its largest entries, put them back to where they started and
train them again (one-shot lottery ticket; LTH-MRS, IJIS 2022, calls it OMP).

As there: users and items are ranked as one table and survivors go back to their initial values, which are a pure
function of seed and position, so nothing is stored for it. Ours prunes to the exact budget in one round (their
iterative variant takes ten to twenty full trainings at our densities) and stops on validation instead of test scores.
"""

from __future__ import annotations

import numpy as np

from sparserec.exploration import Scope, active_target, largest_support
from sparserec.methods.base import Context, Method, Phase
from sparserec.settings import Settings
from sparserec.table import DenseTable, SparseTable, Table


class LotterySettings(Settings):
    scope: Scope = "joint"
    """Rank users and items as one table, or cut both to the same density."""


class Lottery(Method):
    name = "lottery"
    settings_kind = LotterySettings
    idea = "train dense, keep the largest, begin again from their first values"
    paper = "IJIS 2022"
    trainings = 2
    begins_dense = True
    shardable = True

    def phases(self, context: Context) -> list[Phase]:
        dense = Phase("dense", context.epochs, holds=context.dense())
        return [dense, Phase("retrain", context.epochs, holds=context.sparse())]

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        if phase.name == "dense":
            return DenseTable.create(context.shape(), context.initial(context.dim))
        assert isinstance(previous, DenseTable)
        target = active_target(previous.shape, context.density)
        support = largest_support(previous.shape, np.abs(previous.matrix()), target, self.settings.scope)
        return SparseTable.create(previous.shape, support, context.initial(context.dim))
