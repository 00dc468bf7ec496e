"""From a history or a known user to a vector, and from a vector to scores: once for item vectors, once for
table and graph, once for lists of neighbours.

All scorers have the same methods. Items are indices here; ids are the business of `model.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .filter import GraphFilter, Pair
from .fold_in import LARGEST_WEIGHT as LARGEST_WEIGHT
from .fold_in import ItemWeights
from .table import Table
from .tables import AnyTable


@dataclass(frozen=True)
class History:
    """Distinct known items with non-zero weights, in the caller's order."""

    items: np.ndarray  # (n,) int64
    weights: np.ndarray  # (n,) float64


def insertion_weights(history: History, degree: np.ndarray, self_loops: bool) -> tuple[np.ndarray, float]:
    """Weights of the edges that tie a new user to the items of its history, and of its own self-loop."""
    loop = 1 if self_loops else 0
    size = len(history.items)
    degrees = np.maximum(degree[history.items].astype(np.float64) + loop, 1.0)
    return history.weights * (1.0 / np.sqrt((size + loop) * degrees)), loop / (size + 1)


@dataclass(frozen=True)
class ItemsScorer:
    """Final item vectors are stored; users are folded in, or are the one stored vector."""

    score: AnyTable
    fold: tuple[AnyTable, ...]
    degree: np.ndarray
    self_loops: bool
    user_vector: np.ndarray | None = None
    item_weights: ItemWeights | None = None  # since 1.1; without them those of the degrees

    def from_history(self, history: History) -> np.ndarray:
        """Vector of a new user: weighted rows of the fold-in tables (of the scoring table where there are none)."""
        weights, sigma = self._edges(history)
        return self._powers(sigma, lambda table: table.rowsum(weights, history.items))

    def known(self, user: int) -> np.ndarray:
        assert self.user_vector is not None
        return self.user_vector.astype(np.float64)

    def scores(self, vector: np.ndarray) -> np.ndarray:
        return self.score.dots(vector)

    def contributions(self, history: History, item: int) -> np.ndarray:
        """What each item of the history adds to the score of `item`."""
        weights, sigma = self._edges(history)
        target = self.score.row(item)
        return weights * self._powers(sigma, lambda table: table.dots_of(target, history.items))

    def similarities(self, item: int) -> np.ndarray:
        """Cosine of every item's vector with that of `item`."""
        return _divided(self.score.dots(self.score.row(item)), self._lengths[item] * self._lengths)

    def _edges(self, history: History) -> tuple[np.ndarray, float]:
        if self.item_weights is None:
            return insertion_weights(history, self.degree, self.self_loops)
        return self.item_weights.edges(history.items, history.weights), 0.0

    def _powers(self, sigma: float, of: Callable[[AnyTable], np.ndarray]) -> np.ndarray:
        """Something of each fold-in table, times the powers of `sigma`, added up."""
        first, *others = self.fold or (self.score,)
        total, factor = of(first), 1.0
        for table in others:
            factor *= sigma
            total = total + factor * of(table)
        return total

    @cached_property
    def _lengths(self) -> np.ndarray:
        return self.score.lengths()


@dataclass(frozen=True)
class NeighboursScorer:
    """Each item has a list of items and values; a user is the weighted sum of the lists of a history."""

    lists: Table
    degree: np.ndarray
    item_weights: ItemWeights

    def from_history(self, history: History) -> np.ndarray:
        """Scores of all items: they stand in for a vector."""
        return self.lists.rowsum(self.item_weights.edges(history.items, history.weights), history.items)

    def known(self, user: int) -> np.ndarray:
        raise AssertionError("such a file holds no users")

    def scores(self, vector: np.ndarray) -> np.ndarray:
        return vector

    def contributions(self, history: History, item: int) -> np.ndarray:
        """What the list of each item of the history says of `item`."""
        values = [self.lists.value(row, item) for row in history.items.tolist()]
        return self.item_weights.edges(history.items, history.weights) * np.array(values)

    def similarities(self, item: int) -> np.ndarray:
        """Its own list."""
        return self.lists.row(item)


@dataclass(frozen=True)
class FullScorer:
    """The layer-0 table and the graph are stored; final vectors are never built."""

    layer0: AnyTable
    filter: GraphFilter
    weight: np.ndarray  # (layers + 1,) coefficients of the filter
    item_norm: np.ndarray | None = None

    @property
    def users(self) -> int:
        return len(self.filter.user_norm)

    def from_history(self, history: History) -> np.ndarray:
        """Vector of a user inserted one-way: exact, because nobody else's vector changes."""
        weights, sigma = insertion_weights(history, self.filter.graph.item_degree, self.filter.self_loops)
        on_items = np.zeros(len(self.filter.item_norm))
        on_items[history.items] = weights
        return self._product(self.filter.spread(self._insertion_coefficients(sigma), (None, on_items)))

    def known(self, user: int) -> np.ndarray:
        """Final vector of a stored user: the filter on a one-hot vector, then one sparse product."""
        one_hot = np.zeros(self.users)
        one_hot[user] = 1.0
        return self._product(self.filter.spread(self.weight, (one_hot, None)))

    def scores(self, vector: np.ndarray) -> np.ndarray:
        return self._reach(self.weight, vector)

    def contributions(self, history: History, item: int) -> np.ndarray:
        """What each item of the history adds to the score of `item`."""
        weights, sigma = insertion_weights(history, self.filter.graph.item_degree, self.filter.self_loops)
        reach = self._reach(self._insertion_coefficients(sigma), self._item_vector(item))
        return weights * reach[history.items]

    def similarities(self, item: int) -> np.ndarray:
        """Inner products, or cosines where the file holds the lengths of the final vectors."""
        products = self._reach(self.weight, self._item_vector(item))
        if self.item_norm is None:
            return products
        norms = self.item_norm.astype(np.float64)
        return _divided(products, norms[item] * norms)

    def _insertion_coefficients(self, sigma: float) -> np.ndarray:
        if len(self.weight) == 1:  # no layer to insert into: matrix factorisation averages item rows
            return self.weight
        shifted = self.weight[1:].copy()
        for j in range(len(shifted) - 2, -1, -1):
            shifted[j] = shifted[j] + sigma * shifted[j + 1]
        return shifted

    def _item_vector(self, item: int) -> np.ndarray:
        one_hot = np.zeros(len(self.filter.item_norm))
        one_hot[item] = 1.0
        return self._product(self.filter.spread(self.weight, (None, one_hot)))

    def _product(self, nodes: Pair) -> np.ndarray:
        """Rows of the layer-0 table summed with a weight for each node."""
        sizes = self.users, len(self.filter.item_norm)
        parts = (np.zeros(size) if part is None else part for part, size in zip(nodes, sizes))
        return self.layer0.rowsum(np.concatenate(list(parts)))

    def _reach(self, coefficients: np.ndarray, vector: np.ndarray) -> np.ndarray:
        on_nodes = self.layer0.dots(vector)
        return self.filter.gather(coefficients, (on_nodes[: self.users], on_nodes[self.users :]))


Scorer = ItemsScorer | FullScorer | NeighboursScorer


def _divided(products: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
