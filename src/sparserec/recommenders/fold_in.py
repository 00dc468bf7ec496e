"""New users: their vector from a history, as if they had been inserted into the graph one-way.

A one-way user reads from the items of its history and changes nobody else, so its output is a sum over those items,

    y = sum_i a_i * sum_q sigma^q P^(q)_i,    P^(q) = sum_j w_(j+q+1) S^j E

with the filter's coefficients w, edge weights a_i and the weight sigma of the user's own self-loop (0 without
self-loops, which leaves P^(0) alone). The sum is what makes explanations exact: each item of the history adds its term.
A recommender without hops (matrix factorisation) has no P: the rows of the table take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
import torch

from sparserec.data import Interactions
from sparserec.graph import Adjacency, ColumnFilter, Tap
from sparserec.table import EntryDropout, Table


@dataclass(frozen=True)
class FoldIn:
    """Makes users from histories, one or all of them."""

    tables: tuple[np.ndarray, ...]  # P^(q), each (items, dim); made by a base
    graph: Adjacency

    def terms(self, items: np.ndarray) -> np.ndarray:
        """What each item of a history adds to the user's vector, float64 (items, dim)."""
        sigma = _own_loop(self.graph, np.array(len(items)))
        reach = np.zeros((len(items), self.tables[0].shape[1]))
        for power, table in enumerate(self.tables):
            reach += sigma**power * table[items]
        return edge_weights(self.graph, items, np.array(len(items)))[:, None] * reach

    def vector(self, items: np.ndarray) -> np.ndarray:
        """Vector of a user with this history, float32 (dim,)."""
        return self.terms(items).sum(axis=0).astype(np.float32)

    def users(self, given: Interactions | None = None) -> np.ndarray:
        """All users as if they were new: made from a history, `given` or that of train, float32 (users, dim)."""
        return self._folded(user_history(self.graph) if given is None else given_history(self.graph, given))

    def look_up(self) -> Callable[[np.ndarray], np.ndarray]:
        """Vectors of some users at a time, each made from what train holds of them: never all of a large log's."""
        history = user_history(self.graph)
        return lambda users: self._folded(history[users])

    def _folded(self, history: scipy.sparse.csr_matrix) -> np.ndarray:
        users = history @ self.tables[0]
        sigma = _own_loop(self.graph, np.diff(history.indptr)).astype(np.float32)[:, None]
        for power, table in enumerate(self.tables[1:], 1):
            users += sigma**power * (history @ table)
        return users


def edge_weights(graph: Adjacency, items: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The weight a_i of items in histories of these sizes, as if their users were in the graph, float64."""
    return graph.item_weights[items] / np.sqrt(np.maximum(sizes + int(graph.self_loops), 1))


def _own_loop(graph: Adjacency, sizes: np.ndarray) -> np.ndarray:
    """The weight sigma of the self-loop of users with so many items."""
    return int(graph.self_loops) / (sizes + 1.0)


def fold_taps(tap: Tap, self_loops: bool) -> tuple[Tap, ...]:
    """Taps of the fold-in tables P^(q) = sum_j w_(j+q+1) S^j E; one without self-loops, one per hop with them."""
    if len(tap) == 1:
        return (tap,)
    count = len(tap) - 1 if self_loops else 1
    return tuple(tap[q + 1 :] for q in range(count))


def user_history(graph: Adjacency) -> scipy.sparse.csr_matrix:
    """Users by items with the weight each item has in a folded-in user: 1/sqrt(degree of user * degree of item)."""
    ends = graph.offsets[: graph.n_users + 1]
    columns, weights = graph.neighbours[: ends[-1]], graph.weights[: ends[-1]]
    matrix = scipy.sparse.csr_matrix((weights, columns, ends), shape=(graph.n_users, graph.n_nodes))
    return matrix[:, graph.n_users :].tocsr()


def given_history(graph: Adjacency, given: Interactions) -> scipy.sparse.csr_matrix:
    """The same for histories outside the graph: users are inserted one-way, so degrees of items stay as they are."""
    weights = edge_weights(graph, given.items, given.user_counts()[given.users]).astype(np.float32)
    shape = (graph.n_users, graph.n_items)
    return scipy.sparse.csr_matrix((weights, given.items, given.offsets()), shape=shape)


# From a table to vectors of all users and items: what scores, and what a device file, are made from.


@dataclass(frozen=True)
class Vectors:
    """Float vectors of a trained model, before any cut or quantisation."""

    users: np.ndarray  # (users, dim) final vectors of trained users
    items: np.ndarray  # (items, dim) final vectors: what scores are made with
    fold: tuple[np.ndarray, ...]  # (items, dim) each: what a new user is made from, see fold_taps
    graph: Adjacency

    @property
    def folding(self) -> FoldIn:
        return FoldIn(self.fold, self.graph)


def scaled_rows(table: Table, graph: Adjacency) -> np.ndarray:
    """Rows of a table of items as long as the graph says, shape (items, dim); a row of zeros stays so."""
    shape = table.shape
    rows = torch.empty((shape.rows.stop - shape.rows.start, shape.dim))
    for block, (start, width) in enumerate(shape.blocks):
        table.fill(block, rows[:, start : start + width], EntryDropout())
    unit = shape.all_rows(torch.nn.functional.normalize(rows, dim=1, eps=1e-30).numpy())
    return unit if graph.item_lengths is None else unit * graph.item_lengths[:, None]


def filtered(graph: Adjacency, taps: Sequence[Tap], table: Table) -> list[np.ndarray]:
    """Outputs of all nodes by these taps, shape (nodes, columns held here) each, a column block at a time."""
    filters = ColumnFilter(graph, taps, table.shape.width)
    filters.begin(None)
    whole = [np.empty((graph.n_nodes, table.shape.columns), np.float32) for _ in taps]
    for block, (start, width) in enumerate(table.shape.local_blocks):
        table.fill(block, filters.input(width), EntryDropout())
        filters.forward(width, [out[:, start : start + width] for out in whole])
    return whole
