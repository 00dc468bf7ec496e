"""The dense table: every position is trained. The reference, and what small dense models use."""

from __future__ import annotations

import copy

import numpy as np
import torch
from numba import prange

from sparserec.compiled import compiled
from sparserec.device import EncodedTable, encode_table, fake_quantise, quantised_bytes
from sparserec.table.adam import BlockDropout, Cohorts, dropped, update_dense
from sparserec.table.base import EntryDropout, Held, InitialValues, Ledger, Shape, State, Table, Update


class DenseTable(Table):
    """One contiguous (rows, width) array per column block, with its two moments."""

    kind = "dense"

    def __init__(self, shape: Shape, values: list[np.ndarray]) -> None:
        self.shape = shape
        self.values = values
        self.first = [np.zeros_like(block) for block in values]
        self.second = [np.zeros_like(block) for block in values]
        self.cohorts = Cohorts()

    @classmethod
    def create(cls, shape: Shape, initial: InitialValues) -> DenseTable:
        """Random values everywhere; the same ones a sparse table with this seed has on its support."""
        blocks, held = [], np.arange(shape.rows.start, shape.rows.stop, dtype=np.int32)
        for start, width in shape.blocks:
            rows = np.repeat(held, width)
            columns = start + np.tile(np.arange(width, dtype=np.int32), len(held))
            blocks.append(initial.at(rows, columns, shape.n_users).reshape(len(held), width))
        return cls(shape, blocks)

    def fill(self, block: int, out: torch.Tensor, dropout: EntryDropout) -> None:
        out.copy_(torch.from_numpy(self.values[block]))
        if dropout.rate > 0.0:
            drop_block(out.numpy(), dropout.block(self.shape.blocks[block][0]))

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        steps = self.cohorts.step_sizes(update.step, update.learning_rate)
        dropout = update.dropout.block(self.shape.blocks[block][0])
        values, first, second = self.values[block], self.first[block], self.second[block]
        decay = update.row_decay[self.shape.rows]
        update_dense(gradient.numpy(), decay, dropout, steps, values, first, second)

    def ego_penalty(self, row_decay: np.ndarray) -> float:
        squares, decay = [], row_decay[self.shape.rows]
        for index, rows in self.shape.local_parts:
            squares.append(float((decay[rows] * squared_lengths(self.values[index][rows])).sum()))
        return 0.5 * self.shape.sum_over_parts(squares)

    def matrix(self) -> np.ndarray:
        """All rows and columns held here; a copy."""
        return np.concatenate(self.values, axis=1)

    def parameters(self) -> int:
        return self.shape.n_rows * self.shape.dim

    def state(self) -> State:
        parts = {"values": self.values, "first": self.first, "second": self.second}
        arrays = {
            f"{name}.{index}": block for name, blocks in parts.items() for index, block in enumerate(blocks)
        }
        return arrays | {"births": np.asarray(self.cohorts.births, np.int64)}

    def load(self, state: State) -> None:
        for name in ("values", "first", "second"):
            setattr(self, name, [state[f"{name}.{index}"].copy() for index in range(len(self.shape.blocks))])
        self.cohorts = Cohorts([int(birth) for birth in state.get("births", [0])])

    @classmethod
    def revive(cls, shape: Shape, state: State) -> DenseTable:
        table = cls(shape, [])
        table.load(state)
        return table

    @classmethod
    def held(cls, shape: Shape) -> Held:
        size = 4 * (shape.rows.stop - shape.rows.start) * shape.columns
        return Held("dense", shape.dim, {"values": size, "moments": 2 * size})

    def ledger(self) -> Ledger:
        return self.held(self.shape).ledger

    def counted_numbers(self) -> int:
        """Table and gradient."""
        return 2 * self.parameters()

    def encoded(self, order: np.ndarray, bits: int) -> EncodedTable:
        return encode_table(self.matrix()[order], bits)

    def stored_bytes(self, bits: int) -> int:
        return quantised_bytes(self.matrix(), bits)

    def quantised(self, bits: int) -> DenseTable:
        twin = copy.copy(self)
        over_columns = None if self.shape.by_rows else self.shape.largest
        matrix = fake_quantise(self.matrix(), bits, over_columns)
        twin.values = [
            np.ascontiguousarray(matrix[:, start : start + width]) for start, width in self.shape.local_blocks
        ]
        return twin


@compiled(parallel=True, fastmath={"contract", "reassoc"})
def squared_lengths(vectors: np.ndarray) -> np.ndarray:
    """Of every row, float64; no array of squares."""
    lengths = np.empty(vectors.shape[0])
    for row in prange(vectors.shape[0]):
        total = vectors[0, 0] * 0
        for column in range(vectors.shape[1]):
            total += vectors[row, column] * vectors[row, column]
        lengths[row] = total
    return lengths


@compiled(parallel=True)
def drop_block(block: np.ndarray, dropout: BlockDropout) -> None:
    """Entry dropout on a dense (rows, width) block."""
    for row in prange(block.shape[0]):
        for column in range(block.shape[1]):
            block[row, column] = dropped(block[row, column], row, column, dropout)
