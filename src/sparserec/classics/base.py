"""What makes a classic: settings with values to choose from, and a fitted model that scores users from
their history.
"""

from __future__ import annotations

from typing import ClassVar, Protocol, Self

import numpy as np
import scipy.sparse

from sparserec.data import Interactions
from sparserec.evaluation import Scorer
from sparserec.settings import Settings


class Fitted(Protocol):
    """A recommender that was computed from train interactions; nothing about users is kept."""

    @property
    def parameters(self) -> int:
        """Numbers it scores with."""

    @property
    def columns(self) -> int:
        """Of the matrix they stand in."""

    def stored_bytes(self, bits: int) -> int:
        """What it weighs on disk, counted as tables are."""

    def quantised(self, bits: int) -> Fitted:
        """Itself after a round trip through codes of so many bits, one scale per row."""

    def scorer(self, history: scipy.sparse.csr_matrix) -> Scorer:
        """Scores of all items for users whose items are the rows of `history`."""


class ClassicSettings(Settings):
    """Settings of a classic, which is computed from them."""

    choices: ClassVar[dict[str, tuple[float, ...]]] = {}
    """Values that a search on validation tries, setting by setting in this order."""
    most_items: ClassVar[int | None] = None
    """Larger catalogues are refused."""

    def fit(self, train: Interactions) -> Fitted:
        """Compute the recommender."""
        raise NotImplementedError

    def with_value(self, name: str, value: float) -> Self:
        """The same with another value of one setting."""
        return self.model_copy(update={name: value})


def histories(part: Interactions) -> scipy.sparse.csr_matrix:
    """Users by items, 1 where there is an interaction."""
    ones = np.ones(len(part), np.float32)
    return scipy.sparse.csr_matrix((ones, part.items, part.offsets()), shape=(part.n_users, part.n_items))
