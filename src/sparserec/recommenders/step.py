"""One training step: propagate the batch's rows block by block, take the loss, send the gradient back.

Where several processes train, each propagates the blocks it holds; they meet between the filter and the loss, where
scores of blocks, or columns of the batch's rows, are gathered.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sparserec.data import Batch
from sparserec.graph import Adjacency, Buffers, ColumnFilter, decay_gradient, drop_entries
from sparserec.recommenders.base import Loss, Perturbation
from sparserec.recommenders.rows import Gather, RowBatch, all_at_hand, rows_of
from sparserec.table import Ledger, Table, Update

if TYPE_CHECKING:
    from sparserec.recommenders.graph_base import GraphBase


@dataclass
class Stepper:
    """Everything one step needs; lives as long as a phase of training."""

    recommender: GraphBase
    graph: Adjacency
    table: Table
    seed: int
    dtype: torch.dtype = torch.float32
    weight_decay: float = 0.0
    """Adam's coupled decay on every entry, beside what the recommender decays."""
    filter: ColumnFilter = field(init=False)
    largest_rows: int = field(init=False, default=0)
    _buffers: Buffers = field(init=False, default_factory=Buffers)
    _spare: np.ndarray | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        taps, width = self.recommender.taps, self.table.shape.width
        self.filter = ColumnFilter(self.graph, taps, width, self.dtype)

    def run(self, batch: Batch, step: int, learning_rate: float) -> float:
        """Update the table with one batch; returns the loss before the update, regulariser included."""
        graph, table, filters = self.graph, self.table, self.filter
        rows = rows_of(batch, graph.n_users, graph.n_items, table.shape.width, self._gather, self._buffers)
        self.largest_rows = max(self.largest_rows, len(rows.rows))
        own_loss = table.begin_step(rows.rows, rows.counts)
        change = self.recommender.perturb(self.seed, step, graph, table.shape.dim)
        filters.begin(rows.rows, change.weights, change.transposed_weights)
        loss = self._loss(rows, change, step)
        row_decay = np.full(graph.n_nodes, self.weight_decay, np.float32)
        row_decay[rows.rows] += loss.ego_decay * rows.counts
        penalty = table.ego_penalty(row_decay) if loss.ego_decay or self.weight_decay else 0.0
        update = Update(step, learning_rate, row_decay, change.dropout)
        everywhere, parts = None, []
        for block, (start, width) in enumerate(table.shape.local_blocks):
            if loss.output_decay:
                everywhere, part = self._output_decay(block, change, loss.output_decay)
                parts.append(part)
            row_gradients = [gradient[:, start : start + width] for gradient in loss.gradients]
            table.receive(block, filters.adjoint(width, row_gradients, everywhere), update)
        table.finish_step(update)
        penalty += table.shape.sum_over_parts(parts) if parts else 0.0
        return loss.value + penalty + own_loss

    def _loss(self, rows: RowBatch, change: Perturbation, step: int) -> Loss:
        """Forward pass on the batch's rows, the loss, and its gradient on the outputs before their dropout."""
        table, filters, shape = self.table, self.filter, self.table.shape
        number, size = torch.empty(0, dtype=self.dtype).numpy().dtype, (len(rows.rows), shape.columns)
        outputs = [self._buffers.array(f"tap {tap}", size, number) for tap in range(len(filters.taps))]
        for block, (start, width) in enumerate(shape.local_blocks):
            table.fill(block, filters.input(width), change.dropout)
            parts = [out[:, start : start + width] for out in outputs]
            filters.forward(width, parts, change.noise, shape.first_column + start)
        mask = change.output_dropout
        if mask.rate:
            drop_entries(outputs[0], rows.rows, mask.key, mask.rate, shape.first_column)
        if not self.recommender.whole_rows:
            loss = self.recommender.loss(outputs, rows, self.seed, step)
        else:
            loss = self.recommender.loss([shape.whole_rows(out) for out in outputs], rows, self.seed, step)
            here = slice(shape.first_column, shape.first_column + shape.columns)
            loss = replace(loss, gradients=[gradient[:, here] for gradient in loss.gradients])
        if mask.rate:
            drop_entries(loss.gradients[0], rows.rows, mask.key, mask.rate, shape.first_column)
        return loss

    @property
    def _gather(self) -> Gather:
        """How the loss comes to what other processes hold: by scores of their blocks, or it has all columns anyway."""
        return all_at_hand if self.recommender.whole_rows else self.table.shape.gather

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
        shape = self.table.shape
        columns = shape.dim if self.recommender.whole_rows else shape.columns
        rows = 2 * len(self.filter.taps) * self.largest_rows * columns * 4
        return {
            **self.table.ledger(),
            "scratch": self.filter.nbytes + (0 if self._spare is None else self._spare.nbytes),
            "rows": rows,
            "graph": self.graph.nbytes,
        }

    def recorded(self) -> dict[str, Any]:
        return {"batch_rows": {"rows": self.largest_rows, "of": self.graph.n_nodes}}
