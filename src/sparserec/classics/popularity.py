"""Popularity: what most users chose, the same list for everybody but for what they know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from sparserec.classics.base import ClassicSettings
from sparserec.data import Interactions
from sparserec.evaluation import Scorer


class Popularity(ClassicSettings):
    """It has no settings."""

    def fit(self, train: Interactions) -> Counts:
        return Counts(train.item_counts().astype(np.float32))


@dataclass(frozen=True, eq=False)
class Counts:
    """How many users have each item. Whole numbers: no number of bits changes their order."""

    users_of_item: np.ndarray  # (items,) float32
    columns = 1

    @property
    def parameters(self) -> int:
        return len(self.users_of_item)

    def stored_bytes(self, bits: int) -> int:
        return self.users_of_item.nbytes

    def quantised(self, bits: int) -> Counts:
        return self

    def scorer(self, history: scipy.sparse.csr_matrix) -> Scorer:
        return lambda users: np.broadcast_to(self.users_of_item, (len(users), len(self.users_of_item)))
