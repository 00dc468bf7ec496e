"""Who is linked to whom: the normalised adjacency as int32 CSR, built from sorted pairs in one pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparserec.data import Interactions
from sparserec.errors import DataError

MOST_ENTRIES = 2**31 - 1
"""Offsets are int32: half the bytes of int64."""


@dataclass(frozen=True)
class Adjacency:
    """Rows are nodes, users first. `weights` is 1/sqrt(degree_row * degree_column) and the matrix is symmetric, or it
    is one-way: rows of users hold the weights of their items, rows of items are empty."""

    n_users: int
    n_items: int
    offsets: np.ndarray  # int32 (nodes + 1,)
    neighbours: np.ndarray  # int32 (non-zeros,), ascending within a row
    weights: np.ndarray  # float32 (non-zeros,)
    self_loops: bool
    item_weights: np.ndarray
    """float32 (items,): what an item weighs in a new user's history, before it is divided by the root of its size."""
    item_lengths: np.ndarray | None = None
    """float32 (items,): how long the vectors of items are made, where a recommender says; None: as they come."""
    pair_weights: np.ndarray | None = None
    """float32 (pairs,): how much each train pair, sorted by user, counts in a loss of whole histories; None: alike."""

    @property
    def n_nodes(self) -> int:
        return self.n_users + self.n_items

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.neighbours.nbytes + self.weights.nbytes

    def degrees(self) -> np.ndarray:
        """Stored entries per row: the degree used for normalisation, a self-loop included."""
        return np.diff(self.offsets)


def build_adjacency(train: Interactions, self_loops: bool = False) -> Adjacency:
    """Normalised bipartite adjacency of the train pairs; a node without neighbours gets an empty row."""
    n_users, n_items = train.n_users, train.n_items
    entries = 2 * len(train) + self_loops * (n_users + n_items)
    if entries > MOST_ENTRIES:
        raise DataError(f"{entries:,} adjacency entries; at most {MOST_ENTRIES:,} are supported")
    # Pairs are sorted by user, so a stable sort by item leaves users ascending within an item.
    by_item = np.argsort(train.items, kind="stable")
    halves = [(train.user_counts(), train.items, n_users), (train.item_counts(), train.users[by_item], 0)]
    degree = np.concatenate([counts for counts, _, _ in halves]).astype(np.int64)
    neighbours = np.concatenate([other.astype(np.int32) + np.int32(shift) for _, other, shift in halves])
    if self_loops:
        # A user's own id precedes its items; an item's own id follows its users: both rows stay ascending.
        ends = np.cumsum(degree)
        starts = ends - degree
        places = np.concatenate([starts[:n_users], ends[n_users:]])
        neighbours = np.insert(neighbours, places, np.arange(n_users + n_items, dtype=np.int32))
        degree = degree + 1
    offsets = np.zeros(n_users + n_items + 1, np.int32)
    np.cumsum(degree, out=offsets[1:])
    inverse_root = np.zeros(len(degree), np.float32)
    np.divide(1.0, np.sqrt(degree, dtype=np.float64), out=inverse_root, where=degree > 0, casting="unsafe")
    weights = np.repeat(inverse_root, degree)
    weights *= inverse_root[neighbours]
    neighbours = neighbours.astype(np.int32, copy=False)
    item_weights = (1.0 / np.sqrt(np.maximum(degree[n_users:], 1.0))).astype(np.float32)
    return Adjacency(n_users, n_items, offsets, neighbours, weights, self_loops, item_weights)


def build_histories(train: Interactions, item_exponent: float, length_exponent: float = 0.0) -> Adjacency:
    """One-way adjacency in which a user reads their items with weight size^-1/2 * degree^-item_exponent, whatever the
    length of the items' vectors, degree^length_exponent.
    """
    n_users, n_items, sizes = train.n_users, train.n_items, train.user_counts()
    offsets = np.zeros(n_users + n_items + 1, np.int32)
    np.cumsum(np.concatenate([sizes, np.zeros(n_items, np.int32)]), out=offsets[1:])
    degrees = np.maximum(train.item_counts(), 1).astype(np.float64)
    item_weights = (degrees ** -(item_exponent + length_exponent)).astype(np.float32)
    lengths = (degrees**length_exponent).astype(np.float32)
    of_user = (1.0 / np.sqrt(np.maximum(sizes, 1.0))).astype(np.float32)
    weights = np.repeat(of_user, sizes) * item_weights[train.items]
    neighbours = train.items + np.int32(n_users)
    scales = item_weights, lengths, train.weights
    return Adjacency(n_users, n_items, offsets, neighbours, weights, False, *scales)


# Numbering the nodes so that neighbours lie close in memory.
#
# The multiply gathers a row per edge. When nodes that share neighbours have near numbers, those rows are still in the
# cache. The strongest NMF component of a node is such a grouping, and comes free with the mask initialisation.


def by_degree(train: Interactions) -> tuple[np.ndarray, np.ndarray]:
    """Busiest users and items first."""
    users, items = -train.user_counts(), -train.item_counts()
    return np.argsort(users, kind="stable"), np.argsort(items, kind="stable")


def by_group(train: Interactions, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By group (one per node, users first), the busiest first within a group."""
    users, items = group[: train.n_users], group[train.n_users :]
    return np.lexsort((-train.user_counts(), users)), np.lexsort((-train.item_counts(), items))
