"""magnitude: train the dense table, keep its largest entries, and, if asked, train those a little longer.

The public benchmark nearest to us (arXiv 2406.17335) found it as good as far more elaborate methods. As there: the
best few entries of every row are safe, and how many is chosen on validation. Ours adds the choice of ranking users
and items as one table, and training the pruned table on its fixed support.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from sparserec.exploration import Scope, active_target, largest_row_minimum, largest_support
from sparserec.methods.base import Context, Method, Phase
from sparserec.settings import Settings
from sparserec.table import DenseTable, SparseTable, Table


class MagnitudeSettings(Settings):
    scope: Scope = "tables"
    """Cut users and items to the same density, as the benchmark does, or rank them as one table."""
    row_minimum: int | None = Field(None, ge=0)
    """Entries that every row keeps; None: chosen on validation among 0, 1, 2, 4, ... up to what the budget allows."""
    fine_tune: float = Field(0.0, ge=0)
    """Length of the training after pruning, as a share of the recipe's; 0 for none, as the benchmark."""
    fine_tune_rate: float = Field(0.02, gt=0)
    """Learning rate of its first epoch; a search chose it (docs/log.md)."""


class Magnitude(Method):
    name = "magnitude"
    settings_kind = MagnitudeSettings
    idea = "train dense, keep the largest entries"
    paper = "arXiv 2406.17335"
    begins_dense = True
    shardable = True

    def phases(self, context: Context) -> list[Phase]:
        sparse, most = context.sparse(), context.budget // context.shape().n_rows
        tried = 0 if self.settings.row_minimum is not None else 1 + most.bit_length()
        phases = [
            Phase("dense", context.epochs, holds=context.dense()),
            Phase("prune", 0, scored_first=True, holds=sparse, judged=tried),
        ]
        if self.settings.fine_tune:
            epochs = max(1, round(self.settings.fine_tune * context.epochs))
            rate = self.settings.fine_tune_rate
            phases.append(Phase("fine-tune", epochs, scored_first=True, learning_rate=rate, holds=sparse))
        return phases

    def chosen(self, events: Sequence[dict[str, Any]]) -> dict[str, Any]:
        kept = [event["chosen"] for event in events if event["event"] == "row minimum"]
        return {"row_minimum": kept[-1]} if kept else {}

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        if phase.name == "dense":
            return DenseTable.create(context.shape(), context.initial(context.dim))
        if phase.name == "fine-tune":
            assert previous is not None
            return previous
        assert isinstance(previous, DenseTable)
        return self._prune(context, previous)

    def _prune(self, context: Context, table: DenseTable) -> SparseTable:
        """The pruned table; where the row minimum is open, the one with the best validation score."""
        scope, target = self.settings.scope, active_target(table.shape, context.density)
        most = largest_row_minimum(table.shape, target, scope)
        if self.settings.row_minimum is not None or context.validate is None:
            return pruned(table, target, scope, min(self.settings.row_minimum or 0, most))
        scores = {
            minimum: context.validate(pruned(table, target, scope, minimum)).score
            for minimum in [0, *(2**power for power in range(most.bit_length()))]
        }
        best = max(scores, key=lambda minimum: (scores[minimum], -minimum))
        context.record("row minimum", chosen=best, scores={str(key): score for key, score in scores.items()})
        return pruned(table, target, scope, best)


def pruned(table: DenseTable, target: int, scope: Scope, row_minimum: int = 0) -> SparseTable:
    """The `target` entries of largest magnitude, with their values and without moments."""
    support = largest_support(table.shape, np.abs(table.matrix()), target, scope, row_minimum)
    values = [block.reshape(-1)[positions] for block, positions in zip(table.values, support)]
    return SparseTable(table.shape, support, np.concatenate(values))
