"""A few more steps of base `history` after its training: the same batches and loss, for what a file will hold."""

from __future__ import annotations

import numpy as np

from sparserec.data import Interactions, UserSampler
from sparserec.graph import Adjacency
from sparserec.recommenders import History
from sparserec.training.history_batch import Histories, HistoryBatch

LAST_SHARE = 0.02
"""Of the first learning rate, at the last step; it falls geometrically."""


class MoreSteps:
    """Batches of users, and how fast to learn from each of them."""

    def __init__(
        self, base: History, graph: Adjacency, train: Interactions, steps: int, seed: int = 0
    ) -> None:
        self.steps = steps
        self._histories = Histories(graph, base.settings, seed)
        self._sampler = UserSampler(train, base.settings.batch_of(graph.n_users), seed)

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
