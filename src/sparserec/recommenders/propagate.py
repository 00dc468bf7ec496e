"""From a table to vectors of all users and items: what scores, and what a device file, are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sparserec.graph import Adjacency, Backend, ColumnFilter, Tap
from sparserec.recommenders.fold_in import FoldIn
from sparserec.table import EntryDropout, Table


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


def filtered(
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
