"""What makes a graph recommender: filter taps, what perturbs a training step, and a loss on the rows of a batch.

A recommender contains no propagation code and knows nothing of tables or methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sparserec.data import Batch
from sparserec.graph import Adjacency, Noise, Tap
from sparserec.recommenders.rows import RowBatch
from sparserec.settings import Settings
from sparserec.table import EntryDropout, InitialValues

NO_DROPOUT = EntryDropout()


@dataclass(frozen=True)
class Sampling:
    """How negatives are drawn for this recommender's loss."""

    negatives_per_edge: int = 1
    group_size: int = 1
    reject: bool = True


@dataclass(frozen=True)
class Perturbation:
    """Random changes of one training step; all pure functions of (seed, step), so both passes see the same."""

    dropout: EntryDropout = NO_DROPOUT
    noise: Noise | None = None
    weights: np.ndarray | None = None
    transposed_weights: np.ndarray | None = None
    output_dropout: EntryDropout = NO_DROPOUT
    """On the first tap's output, before the loss sees it."""


@dataclass(frozen=True)
class Loss:
    """Value of the batch loss and its gradient on the rows of every tap."""

    value: float
    gradients: Sequence[np.ndarray]  # per tap, (rows, dim)
    ego_decay: float = 0.0  # weight of half the squared layer-0 row, per occurrence of the row in the batch
    output_decay: float = 0.0  # weight of half the squared output, over all rows (not only the batch's)


class GraphRecommender(Protocol):
    """One base recommender with its settings whose users and items both have rows, filtered over the graph."""

    name: str
    settings: Settings
    user_rows: bool
    """Whether users have rows of parameters; without, a user is what the items of their history make of them."""
    taps: tuple[Tap, ...]
    self_loops: bool
    sampling: Sampling
    whole_rows: bool
    """Whether the loss needs all columns of a row at once; else scores, which are sums over columns, are enough."""

    def initial(self, seed: int, n_users: int, n_items: int, dim: int) -> InitialValues:
        """Initial values of the table as this recommender's authors chose them."""

    def perturb(self, seed: int, step: int, graph: Adjacency, dim: int) -> Perturbation:
        """Dropout and noise of one training step."""

    def loss(self, outputs: Sequence[np.ndarray], rows: RowBatch, seed: int, step: int) -> Loss:
        """Loss and gradients from the taps' outputs on the batch's rows; the outputs may be overwritten."""


__all__ = ["Batch", "GraphRecommender", "Loss", "Perturbation", "RowBatch", "Sampling"]
