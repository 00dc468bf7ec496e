"""What a device file is made from: final item vectors, fold-in vectors, and how users come out of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
import torch

from sparserec.data import Interactions
from sparserec.graph import Adjacency, ColumnFilter, Tap
from sparserec.graph.multiply import Backend
from sparserec.recommenders import Recommender
from sparserec.table import EntryDropout, Table


@dataclass(frozen=True)
class Vectors:
    """Float vectors of a trained model, before any cut or quantisation."""

    users: np.ndarray  # (users, dim) final vectors of trained users
    items: np.ndarray  # (items, dim) final vectors: what scores are made with
    fold: tuple[np.ndarray, ...]  # (items, dim) each: what a new user is made from, see fold_taps
    graph: Adjacency


def fold_taps(tap: Tap, self_loops: bool) -> tuple[Tap, ...]:
    """Taps of the fold-in tables P^(q) = sum_j w_(j+q+1) S^j E; one without self-loops, one per hop with them."""
    if len(tap) == 1:
        return (tap,)
    count = len(tap) - 1 if self_loops else 1
    return tuple(tap[q + 1 :] for q in range(count))


def make_vectors(recommender: Recommender, graph: Adjacency, table: Table) -> Vectors:
    """Propagate once for the final vectors and the fold-in tables together, a column block at a time.

    Where users have no rows everybody is folded in, and unit rows of items are both tables.
    """
    if not recommender.user_rows:
        items = unit_rows(table)
        return Vectors(user_history(graph) @ items, items, (items,), graph)
    taps = (recommender.taps[0], *fold_taps(recommender.taps[0], recommender.self_loops))
    filters = ColumnFilter(graph, taps, table.shape.width)
    filters.begin(None)
    whole = [np.empty((graph.n_nodes, table.shape.dim), np.float32) for _ in taps]
    for block, (start, width) in enumerate(table.shape.blocks):
        table.fill(block, filters.input(width), EntryDropout())
        filters.forward(width, [out[:, start : start + width] for out in whole])
    n_users = graph.n_users
    return Vectors(whole[0][:n_users], whole[0][n_users:], tuple(out[n_users:] for out in whole[1:]), graph)


def unit_rows(table: Table) -> np.ndarray:
    """Rows of a table of items scaled to length one, shape (items, dim); a row of zeros stays so."""
    rows = torch.empty((table.shape.n_rows, table.shape.dim))
    for block, (start, width) in enumerate(table.shape.blocks):
        table.fill(block, rows[:, start : start + width], EntryDropout())
    return torch.nn.functional.normalize(rows, dim=1, eps=1e-30).numpy()


def propagate_all(
    recommender: Recommender, graph: Adjacency, table: Table, backend: Backend = "auto"
) -> np.ndarray:
    """Output vectors of all nodes without noise or dropout, shape (nodes, dim): what scores are made from."""
    if not recommender.user_rows:
        made = make_vectors(recommender, graph, table)
        return np.concatenate([made.users, made.items])
    filters = ColumnFilter(graph, recommender.taps[:1], table.shape.width, backend)
    filters.begin(None)
    vectors = np.empty((graph.n_nodes, table.shape.dim), np.float32)
    for block, (start, width) in enumerate(table.shape.blocks):
        table.fill(block, filters.input(width), EntryDropout())
        filters.forward(width, [vectors[:, start : start + width]])
    return vectors


def fold_in_users(
    graph: Adjacency, fold: tuple[np.ndarray, ...], given: Interactions | None = None
) -> np.ndarray:
    """All users as if they were new: made from a history, `given` or that of train, and the fold-in tables alone."""
    history = user_history(graph) if given is None else given_history(graph, given)
    made = history @ fold[0]
    counts = np.diff(history.indptr)
    decay = (1.0 / (counts + 1.0)).astype(np.float32)[:, None]
    for power, part in enumerate(fold[1:], 1):
        made += decay**power * (history @ part)
    return made


def user_history(graph: Adjacency) -> scipy.sparse.csr_matrix:
    """Users by items with the weight each item has in a folded-in user: 1/sqrt(degree of user * degree of item)."""
    ends = graph.offsets[: graph.n_users + 1]
    columns, weights = graph.neighbours[: ends[-1]], graph.weights[: ends[-1]]
    matrix = scipy.sparse.csr_matrix((weights, columns, ends), shape=(graph.n_users, graph.n_nodes))
    return matrix[:, graph.n_users :].tocsr()


def given_history(graph: Adjacency, given: Interactions) -> scipy.sparse.csr_matrix:
    """The same for histories outside the graph: users are inserted one-way, so the degrees of items stay as they are."""
    sizes = given.user_counts() + int(graph.self_loops)
    weights = (graph.item_weights[given.items] / np.sqrt(sizes[given.users])).astype(np.float32)
    shape = (graph.n_users, graph.n_items)
    return scipy.sparse.csr_matrix((weights, given.items, given.offsets()), shape=shape)
