"""From a table to vectors of all users and items: what scores, and what a device file, are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sparserec.graph import Adjacency, Backend, ColumnFilter, Tap
from sparserec.recommenders import Recommender
from sparserec.table import EntryDropout, Table
from sparserec.vectors.fold_in import FoldIn, fold_taps, user_history


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


def make_vectors(recommender: Recommender, graph: Adjacency, table: Table) -> Vectors:
    """Propagate once for the final vectors and the fold-in tables together, a column block at a time.

    Where users have no rows everybody is folded in, and scaled rows of items are both tables.
    """
    if not recommender.user_rows:
        items = scaled_rows(table, graph)
        return Vectors(user_history(graph) @ items, items, (items,), graph)
    taps = (recommender.taps[0], *fold_taps(recommender.taps[0], recommender.self_loops))
    final, *fold = _filtered(graph, taps, table)
    n_users = graph.n_users
    return Vectors(final[:n_users], final[n_users:], tuple(out[n_users:] for out in fold), graph)


def scaled_rows(table: Table, graph: Adjacency) -> np.ndarray:
    """Rows of a table of items as long as the graph says, shape (items, dim); a row of zeros stays so."""
    shape = table.shape
    rows = torch.empty((shape.rows.stop - shape.rows.start, shape.dim))
    for block, (start, width) in enumerate(shape.blocks):
        table.fill(block, rows[:, start : start + width], EntryDropout())
    unit = shape.all_rows(torch.nn.functional.normalize(rows, dim=1, eps=1e-30).numpy())
    return unit if graph.item_lengths is None else unit * graph.item_lengths[:, None]


def propagate_all(
    recommender: Recommender, graph: Adjacency, table: Table, backend: Backend = "auto"
) -> np.ndarray:
    """Output vectors of all nodes without noise or dropout, shape (nodes, columns held here): what scores are
    made from.
    """
    if not recommender.user_rows:
        made = make_vectors(recommender, graph, table)
        return np.concatenate([made.users, made.items])
    return _filtered(graph, recommender.taps[:1], table, backend)[0]


def _filtered(
    graph: Adjacency, taps: Sequence[Tap], table: Table, backend: Backend = "auto"
) -> list[np.ndarray]:
    """Outputs of all nodes by these taps, shape (nodes, columns held here) each, a column block at a time."""
    filters = ColumnFilter(graph, taps, table.shape.width, backend)
    filters.begin(None)
    whole = [np.empty((graph.n_nodes, table.shape.columns), np.float32) for _ in taps]
    for block, (start, width) in enumerate(table.shape.local_blocks):
        table.fill(block, filters.input(width), EntryDropout())
        filters.forward(width, [out[:, start : start + width] for out in whole])
    return whole
