"""One training step: propagate the batch's rows block by block, take the loss, send the gradient back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sparserec.data import Batch
from sparserec.graph import Adjacency, ColumnFilter
from sparserec.graph.multiply import Backend
from sparserec.recommenders import Recommender, rows_of
from sparserec.table import Ledger, Table, Update


@dataclass
class Stepper:
    """Everything one step needs; lives as long as a phase of training."""

    recommender: Recommender
    graph: Adjacency
    table: Table
    seed: int
    backend: Backend = "auto"
    filter: ColumnFilter = field(init=False)
    largest_rows: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.filter = ColumnFilter(self.graph, self.recommender.taps, self.table.shape.width, self.backend)

    def run(self, batch: Batch, step: int, learning_rate: float) -> float:
        """Update the table with one batch; returns the loss before the update, regulariser included."""
        graph, table, filters = self.graph, self.table, self.filter
        rows = rows_of(batch, graph.n_users, graph.n_items)
        self.largest_rows = max(self.largest_rows, len(rows.rows))
        change = self.recommender.perturb(self.seed, step, graph, table.shape.dim)
        filters.begin(rows.rows, change.weights, change.transposed_weights)
        outputs = [np.empty((len(rows.rows), table.shape.dim), np.float32) for _ in filters.taps]
        for block, (start, width) in enumerate(table.shape.blocks):
            table.fill(block, filters.input(width), change.dropout)
            filters.forward(width, [out[:, start : start + width] for out in outputs], change.noise, start)
        loss = self.recommender.loss(outputs, rows, self.seed, step)
        row_decay = np.zeros(graph.n_nodes, np.float32)
        row_decay[rows.rows] = loss.ego_decay * rows.counts
        penalty = table.ego_penalty(row_decay) if loss.ego_decay else 0.0
        update = Update(step, learning_rate, row_decay, change.dropout)
        for block, (start, width) in enumerate(table.shape.blocks):
            gradient = filters.adjoint(width, [g[:, start : start + width] for g in loss.gradients])
            table.receive(block, gradient, update)
        table.finish_step(update)
        return loss.value + penalty

    def ledger(self) -> Ledger:
        """Bytes of a step by role, the table's included."""
        rows = 2 * len(self.filter.taps) * self.largest_rows * self.table.shape.dim * 4
        return {
            **self.table.ledger(),
            "scratch": self.filter.nbytes,
            "rows": rows,
            "graph": self.graph.nbytes,
        }


def propagate_all(
    recommender: Recommender, graph: Adjacency, table: Table, backend: Backend = "auto"
) -> np.ndarray:
    """Output vectors of all nodes without noise or dropout, shape (nodes, dim): what scores are made from."""
    from sparserec.table import EntryDropout

    filters = ColumnFilter(graph, recommender.taps[:1], table.shape.width, backend)
    filters.begin(None)
    vectors = np.empty((graph.n_nodes, table.shape.dim), np.float32)
    for block, (start, width) in enumerate(table.shape.blocks):
        table.fill(block, filters.input(width), EntryDropout())
        filters.forward(width, [vectors[:, start : start + width]])
    return vectors
