"""A dense table times a mask: how most released sparse-training code works. Nothing is saved while it trains.

Values outside the mask are 0, but every entry has a gradient and Adam moments, which never stop moving. An entry that
is activated therefore starts at 0 with the moments of all the batches it was not part of.
"""

from __future__ import annotations

import numpy as np
import torch
from numba import prange

from sparserec.compiled import compiled
from sparserec.table.adam import BlockDropout, own_gradient
from sparserec.table.base import EntryDropout, Held, InitialValues, Ledger, Shape, State, Update
from sparserec.table.dense import DenseTable
from sparserec.table.sparse import SeenAsSparse, SparseTable


class MaskedTable(SeenAsSparse):
    """A dense table, which entries are active, and the gradient of the last batch."""

    kind = "masked"

    def __init__(self, dense: DenseTable, active: list[np.ndarray]) -> None:
        self.shape = dense.shape
        self.dense = dense
        self.active = active  # bool (rows, width) per block
        self.gradient = [np.zeros_like(block) for block in dense.values]
        self._no_decay = np.zeros(dense.shape.n_rows, np.float32)

    @classmethod
    def create(cls, shape: Shape, support: list[np.ndarray], initial: InitialValues) -> MaskedTable:
        """Random values on a given support, 0 elsewhere."""
        active = [np.zeros((shape.n_rows, width), bool) for _, width in shape.blocks]
        table = cls(DenseTable.create(shape, initial), active)
        table.set_active(support)
        return table

    def set_active(self, support: list[np.ndarray]) -> None:
        """Move the mask to these positions (row * width + column, per block); what it leaves becomes 0."""
        for block, active, positions in zip(self.dense.values, self.active, support):
            active[:] = False
            active.reshape(-1)[positions] = True
            _mask(active, block)

    def fill(self, block: int, out: torch.Tensor, dropout: EntryDropout) -> None:
        self.dense.fill(block, out, dropout)

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        """One Adam step on all entries, then the mask."""
        dense, last = self.dense, self.gradient[block]
        dropout = update.dropout.block(self.shape.blocks[block][0])
        _own_gradients(gradient.numpy(), dense.values[block], update.row_decay, dropout, last)
        dense.receive(
            block, torch.from_numpy(last), Update(update.step, update.learning_rate, self._no_decay)
        )
        _mask(self.active[block], dense.values[block])

    def ego_penalty(self, row_decay: np.ndarray) -> float:
        return self.dense.ego_penalty(row_decay)

    def parameters(self) -> int:
        return sum(int(np.count_nonzero(active)) for active in self.active)

    def support(self) -> list[np.ndarray]:
        """Active positions of each block, ascending."""
        return [np.flatnonzero(active).astype(np.int32) for active in self.active]

    def to_sparse(self) -> SparseTable:
        """The active entries alone, without moments."""
        support = self.support()
        values = [block.reshape(-1)[positions] for block, positions in zip(self.dense.values, support)]
        return SparseTable(self.shape, support, np.concatenate(values))

    def state(self) -> State:
        """The gradient is left out: the next step writes it before anyone reads it."""
        return self.dense.state() | {f"active.{index}": active for index, active in enumerate(self.active)}

    def load(self, state: State) -> None:
        self.dense.load(state)
        self.active = [state[f"active.{index}"].astype(bool) for index in range(len(self.shape.blocks))]
        self.gradient = [np.zeros_like(block) for block in self.dense.values]

    @classmethod
    def revive(cls, shape: Shape, state: State) -> MaskedTable:
        table = cls(DenseTable(shape, []), [])
        table.load(state)
        return table

    @classmethod
    def held(cls, shape: Shape) -> Held:
        dense = DenseTable.held(shape).ledger
        return Held("masked", shape.dim, dense | {"gradient": dense["values"], "mask": dense["values"] // 4})

    def ledger(self) -> Ledger:
        return self.held(self.shape).ledger

    def counted_numbers(self) -> int:
        """The active entries and a gradient of every entry: (d + 1) s N."""
        return self.parameters() + self.dense.parameters()


@compiled(parallel=True)
def _own_gradients(
    gradient: np.ndarray,  # (nodes, width), of the loss by the entries as the filter saw them
    values: np.ndarray,
    row_decay: np.ndarray,
    dropout: BlockDropout,
    out: np.ndarray,
) -> None:
    for row in prange(gradient.shape[0]):
        for column in range(gradient.shape[1]):
            entry, value = gradient[row, column], values[row, column]
            out[row, column] = own_gradient(entry, value, row, column, row_decay, dropout)


@compiled(parallel=True)
def _mask(active: np.ndarray, values: np.ndarray) -> None:
    for row in prange(values.shape[0]):
        for column in range(values.shape[1]):
            values[row, column] = values[row, column] if active[row, column] else 0
