"""EASE: the linear item-to-item model with a zero diagonal that predicts train best, in closed form (Steck, WWW 2019).

    P = (X^T X + l2 I)^-1,   weights_ij = -P_ij / P_jj off the diagonal

The inverse is as dense as the catalogue is wide, so its size is limited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse
from pydantic import Field

from sparserec.classics.base import ClassicSettings, histories
from sparserec.data import Interactions
from sparserec.device import fake_quantise
from sparserec.errors import SettingError
from sparserec.evaluation import Scorer

ROWS_AT_ONCE = 256


class EASE(ClassicSettings):
    l2: float = Field(300.0, gt=0)
    """Weight of the squared weights."""
    choices: ClassVar = {"l2": (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)}
    most_items: ClassVar = 10_000

    def fit(self, train: Interactions) -> ItemWeights:
        if train.n_items > self.most_items:
            raise SettingError(
                f"EASE on {train.n_items:,} items: its weights are items x items, at most {self.most_items:,} are taken"
            )
        seen = histories(train)
        gram = (seen.T @ seen).toarray()
        gram[np.diag_indices_from(gram)] += self.l2
        inverse = scipy.linalg.inv(gram, overwrite_a=True, check_finite=False)
        weights = np.divide(inverse, -np.diag(inverse), out=inverse)
        np.fill_diagonal(weights, 0.0)
        return ItemWeights(weights)


@dataclass(frozen=True, eq=False)
class ItemWeights:
    """A weight from every item to every other."""

    weights: np.ndarray  # (items, items) float32

    @property
    def parameters(self) -> int:
        return self.weights.size - len(self.weights)

    @property
    def columns(self) -> int:
        return len(self.weights)

    def stored_bytes(self, bits: int) -> int:
        return -(-self.weights.size * bits // 8) + 2 * len(self.weights)

    def quantised(self, bits: int) -> ItemWeights:
        rounded = np.empty_like(self.weights)
        for start in range(0, len(rounded), ROWS_AT_ONCE):  # the codec computes in float64
            some = slice(start, start + ROWS_AT_ONCE)
            rounded[some] = fake_quantise(self.weights[some], bits)
        return ItemWeights(rounded)

    def scorer(self, history: scipy.sparse.csr_matrix) -> Scorer:
        return lambda users: history[users] @ self.weights
