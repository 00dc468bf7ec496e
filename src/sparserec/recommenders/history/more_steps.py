"""A few more steps of base `history` after its training: the same batches and loss, for what a file will hold."""

from __future__ import annotations

import numpy as np
import torch

from sparserec.data import Interactions, UserSampler
from sparserec.graph import Adjacency
from sparserec.recommenders.history.batch import Histories, HistoryBatch
from sparserec.recommenders.history.dense import plain_gradient
from sparserec.recommenders.history.settings import HistorySettings
from sparserec.recommenders.history.sparse import SparseHistory
from sparserec.table import SparseTable

LAST_SHARE = 0.02
"""Of the first learning rate, at the last step; it falls geometrically."""


class MoreHistorySteps:
    """Batches of users, their loss, and how fast to learn from each of them."""

    def __init__(
        self, settings: HistorySettings, graph: Adjacency, train: Interactions, steps: int, seed: int = 0
    ) -> None:
        self.steps = steps
        self._histories = Histories(graph, settings, seed)
        self._sampler = UserSampler(train, settings.batch_of(graph.n_users), seed)
        self._sparse: SparseHistory | None = None

    @property
    def lengths(self) -> np.ndarray:
        """Of the vectors of items, float32."""
        return self._histories.lengths

    def batch(self, step: int) -> HistoryBatch:
        """Of a step, counted from 0."""
        users = self._sampler.batch(*divmod(step, self._sampler.steps_per_epoch))
        return self._histories.batch(users, step)

    def rate(self, first: float, step: int) -> float:
        return first * LAST_SHARE ** (step / max(self.steps - 1, 1))

    def of_rows(self, rows: torch.Tensor, step: int) -> torch.Tensor:
        """Gradient of rows that count as they are, of whatever length."""
        return plain_gradient(rows, self.batch(step))[1]

    def of_entries(self, table: SparseTable, step: int) -> np.ndarray:
        """Gradient of the entries of rows that count by their direction."""
        if self._sparse is None or self._sparse.table is not table:
            self._sparse = SparseHistory(table)
        return self._sparse.run(self.batch(step), step)[1]
