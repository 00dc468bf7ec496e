"""New users: their vector from a history, as if they had been inserted into the graph one-way.

A one-way user reads from the items of its history and changes nobody else, so its output is a sum over those items,

    y = sum_i a_i * sum_q sigma^q P^(q)_i,    P^(q) = sum_j w_(j+q+1) S^j E

with the filter's coefficients w, edge weights a_i and the weight sigma of the user's own self-loop (0 without
self-loops, which leaves P^(0) alone). The sum is what makes explanations exact: each item of the history adds its term.
A recommender without hops (matrix factorisation) has no P: the rows of the table take its place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FoldIn:
    """What is needed of every item to fold a history in."""

    tables: tuple[np.ndarray, ...]  # P^(q), each (items, dim); made by shipping.make_vectors
    item_weights: np.ndarray  # of each item in a history, see graph.Adjacency
    self_loops: bool

    def terms(self, items: np.ndarray) -> np.ndarray:
        """What each item of a history adds to the user's vector, float64 (items, dim)."""
        size = len(items) + int(self.self_loops)
        weights, sigma = (
            self.item_weights[items] / np.sqrt(max(size, 1)),
            int(self.self_loops) / (len(items) + 1),
        )
        reach = np.zeros((len(items), self.tables[0].shape[1]))
        for power, table in enumerate(self.tables):
            reach += sigma**power * table[items]
        return weights[:, None] * reach

    def vector(self, items: np.ndarray) -> np.ndarray:
        """Vector of a user with this history, float32 (dim,)."""
        return self.terms(items).sum(axis=0).astype(np.float32)
