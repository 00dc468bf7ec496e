"""One training step: propagate the batch's rows block by block, take the loss, send the gradient back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch

from sparserec.data import Batch
from sparserec.graph import Adjacency, Backend, ColumnFilter, decay_gradient, drop_entries
from sparserec.recommenders import GraphRecommender, Loss, Perturbation, RowBatch, rows_of
from sparserec.table import Ledger, Table, Update


@dataclass
class Stepper:
    """Everything one step needs; lives as long as a phase of training."""

    recommender: GraphRecommender
    graph: Adjacency
    table: Table
    seed: int
    backend: Backend = "auto"
    dtype: torch.dtype = torch.float32
    weight_decay: float = 0.0
    """Adam's coupled decay on every entry, beside what the recommender decays."""
    filter: ColumnFilter = field(init=False)
    largest_rows: int = field(init=False, default=0)
    _spare: np.ndarray | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        taps, width = self.recommender.taps, self.table.shape.width
        self.filter = ColumnFilter(self.graph, taps, width, self.backend, self.dtype)

    def run(self, batch: Batch, step: int, learning_rate: float) -> float:
        """Update the table with one batch; returns the loss before the update, regulariser included."""
        graph, table, filters = self.graph, self.table, self.filter
        rows = rows_of(batch, graph.n_users, graph.n_items, table.shape.width)
        self.largest_rows = max(self.largest_rows, len(rows.rows))
        own_loss = table.begin_step(rows.rows, rows.counts)
        change = self.recommender.perturb(self.seed, step, graph, table.shape.dim)
        filters.begin(rows.rows, change.weights, change.transposed_weights)
        loss = self._loss(rows, change, step)
        row_decay = np.full(graph.n_nodes, self.weight_decay, np.float32)
        row_decay[rows.rows] += loss.ego_decay * rows.counts
        penalty = table.ego_penalty(row_decay) if loss.ego_decay or self.weight_decay else 0.0
        update = Update(step, learning_rate, row_decay, change.dropout)
        everywhere = None
        for block, (start, width) in enumerate(table.shape.blocks):
            if loss.output_decay:
                everywhere, part = self._output_decay(block, change, loss.output_decay)
                penalty += part
            row_gradients = [gradient[:, start : start + width] for gradient in loss.gradients]
            table.receive(block, filters.adjoint(width, row_gradients, everywhere), update)
        table.finish_step(update)
        return loss.value + penalty + own_loss

    def _loss(self, rows: RowBatch, change: Perturbation, step: int) -> Loss:
        """Forward pass on the batch's rows, the loss, and its gradient on the outputs before their dropout."""
        table, filters, shape = self.table, self.filter, (len(rows.rows), self.table.shape.dim)
        number = torch.empty(0, dtype=self.dtype).numpy().dtype
        outputs = [np.empty(shape, number) for _ in filters.taps]
        for block, (start, width) in enumerate(table.shape.blocks):
            table.fill(block, filters.input(width), change.dropout)
            filters.forward(width, [out[:, start : start + width] for out in outputs], change.noise, start)
        mask = change.output_dropout
        if mask.rate:
            drop_entries(outputs[0], rows.rows, mask.key, mask.rate)
        filters.end_forward()
        loss = self.recommender.loss(outputs, rows, self.seed, step)
        if mask.rate:
            drop_entries(loss.gradients[0], rows.rows, mask.key, mask.rate)
        return loss

    def _output_decay(self, block: int, change: Perturbation, decay: float) -> tuple[np.ndarray, float]:
        """Gradient and value of `decay` times half the squared outputs of all nodes, for one block.

        Outputs of all nodes are never kept, so the block is propagated a second time.
        """
        start, width = self.table.shape.blocks[block]
        if self._spare is None:
            number = torch.empty(0, dtype=self.dtype).numpy().dtype
            self._spare = np.empty(self.graph.n_nodes * self.table.shape.width, number)
        output = self._spare[: self.graph.n_nodes * width].reshape(-1, width)
        self.table.fill(block, self.filter.input(width), change.dropout)
        self.filter.forward_all(width, [output], change.noise, start)
        mask = change.output_dropout
        return output, decay_gradient(output, start, mask.key, mask.rate, decay)

    def ledger(self) -> Ledger:
        """Bytes of a step by role, the table's included."""
        rows = 2 * len(self.filter.taps) * self.largest_rows * self.table.shape.dim * 4
        return {
            **self.table.ledger(),
            "scratch": self.filter.nbytes + (0 if self._spare is None else self._spare.nbytes),
            "rows": rows,
            "graph": self.graph.nbytes,
        }
