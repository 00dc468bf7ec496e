"""Rows that are the sum of two codes (CERP): fewer parameters than rows, and no list of who has which code.

Row r is code r // stride of the first book plus code r mod size of the second, so that neighbours in the numbering
share one code and no two rows share both (while there are at most size * size rows). The two books are one table of any
kind underneath, stacked, and trained through the sums: what a row's gradient says, both its codes hear.

The table may have a loss of its own: minus the squared tanh of the batch's entries, which rewards entries that are not
zero. Under soft thresholds it makes the two books give up different columns.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from numba import prange

from sparserec.compiled import FAST, compiled, fast_tanh
from sparserec.device import EncodedTable
from sparserec.errors import SettingError
from sparserec.table.adam import BlockDropout, dropped, own_gradient
from sparserec.table.base import EntryDropout, Held, Ledger, Shape, State, Table, Update
from sparserec.table.sparse import SparseTable
from sparserec.table.thresholded import ThresholdedTable

CODES: dict[str, type[SparseTable] | type[ThresholdedTable]] = {
    "sparse": SparseTable,
    "thresholded": ThresholdedTable,
}
RELEASED_ROWS = 70
"""Rows of a batch of the released code, whose loss is a sum: ten users with a positive and five negatives each."""


def code_shape(shape: Shape, size: int) -> Shape:
    """Two books of `size` codes each, as the two groups of rows of one table."""
    return Shape(size, size, shape.dim, shape.width)


class ComposedTable(Table):
    """Two code books and how rows are made from them."""

    kind = "composed"

    def __init__(self, shape: Shape, codes: Table, reward: float = 0.0, sharpness: float = 100.0) -> None:
        """`codes` has the shape of `code_shape`; `reward` is the weight of the loss on entries near 0."""
        self.shape, self.codes, self.reward, self.sharpness = shape, codes, reward, sharpness
        self.size = codes.shape.n_users
        self.stride = -(-shape.n_rows // self.size)
        room = codes.shape.n_rows, shape.width
        self._values, self._gradient = np.empty(room, np.float32), np.empty(room, np.float32)
        self._own = np.zeros(shape.n_rows, np.float32)
        self._no_decay = np.zeros(codes.shape.n_rows, np.float32)

    def _codes(self, block: int) -> np.ndarray:
        """Both books in this block, in scratch that the next call overwrites."""
        width = self.shape.blocks[block][1]
        part = self._values.reshape(-1)[: len(self._values) * width].reshape(-1, width)
        self.codes.fill(block, torch.from_numpy(part), EntryDropout())
        return part

    def begin_step(self, rows: np.ndarray, counts: np.ndarray) -> float:
        """The reward for entries that are not 0: every user of the batch counts once, items as often as they occur."""
        self._own[:] = 0.0
        if not self.reward:
            return 0.0
        weights = np.where(rows < self.shape.n_users, 1.0, counts)
        self._own[rows] = self.reward * RELEASED_ROWS / counts.sum() * weights
        return -sum(
            float(_squared_tanh(self._codes(block), self.stride, rows, self._own, self.sharpness).sum())
            for block in range(len(self.shape.blocks))
        )

    def fill(self, block: int, out: torch.Tensor, dropout: EntryDropout) -> None:
        mask = dropout.block(self.shape.blocks[block][0])
        _compose(self._codes(block), self.stride, mask, out.numpy())

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        """The gradient of every code is the sum over the rows that have it."""
        codes, dropout = self._codes(block), update.dropout.block(self.shape.blocks[block][0])
        summed = self._gradient.reshape(-1)[: codes.size].reshape(codes.shape)
        rows, decay = gradient.numpy(), update.row_decay
        _sum_by_code(rows, codes, self.stride, decay, dropout, self._own, self.sharpness, summed)
        below = Update(update.step, update.learning_rate, self._no_decay)
        self.codes.receive(block, torch.from_numpy(summed), below)

    def finish_step(self, update: Update) -> None:
        self.codes.finish_step(Update(update.step, update.learning_rate, self._no_decay))

    def ego_penalty(self, row_decay: np.ndarray) -> float:
        blocks = range(len(self.shape.blocks))
        return 0.5 * sum(
            float(_squares(self._codes(block), self.stride, row_decay).sum()) for block in blocks
        )

    def parameters(self) -> int:
        return self.codes.parameters()

    def state(self) -> State:
        arrays = {f"codes.{name}": array for name, array in self.codes.state().items()}
        return arrays | {
            "kind": np.frombuffer(self.codes.kind.encode(), np.uint8),
            "size": np.array([self.size]),
            "reward": np.array([self.reward, self.sharpness]),
        }

    def load(self, state: State) -> None:
        self.codes.load(_below(state))
        self.reward, self.sharpness = (float(number) for number in state["reward"])

    @classmethod
    def revive(cls, shape: Shape, state: State) -> ComposedTable:
        kind = CODES[state["kind"].tobytes().decode()]
        codes = kind.revive(code_shape(shape, int(state["size"][0])), _below(state))
        return cls(shape, codes, *(float(number) for number in state["reward"]))

    @classmethod
    def held(cls, shape: Shape, codes: Held, books: Shape) -> Held:
        scratch = 4 * (2 * books.n_rows * shape.width + shape.n_rows + books.n_rows)
        return Held("composed", shape.dim, codes.ledger | {"code scratch": scratch})

    def ledger(self) -> Ledger:
        codes = Held(self.codes.kind, self.shape.dim, self.codes.ledger())
        return self.held(self.shape, codes, self.codes.shape).ledger

    def counted_numbers(self) -> int:
        return self.codes.counted_numbers()

    def encoded(self, order: np.ndarray, bits: int) -> EncodedTable:
        raise SettingError(
            "mode full ships the rows of the table, and here they are sums of two codes; export mode items instead"
        )

    def stored_bytes(self, bits: int) -> int:
        """Both books with positions and scales; which row has which codes follows from its number."""
        return self.codes.stored_bytes(bits)

    def quantised(self, bits: int) -> ComposedTable:
        twin = copy.copy(self)
        twin.codes = self.codes.quantised(bits)
        return twin


def _below(state: State) -> State:
    """What the table of codes stored."""
    start = "codes."
    return {name.removeprefix(start): array for name, array in state.items() if name.startswith(start)}


@compiled(parallel=True)
def _compose(codes: np.ndarray, stride: int, dropout: BlockDropout, out: np.ndarray) -> None:
    size = len(codes) // 2
    for row in prange(out.shape[0]):
        first, second = row // stride, size + row % size
        for column in range(out.shape[1]):
            value = codes[first, column] + codes[second, column]
            out[row, column] = dropped(value, row, column, dropout)


@compiled(parallel=True, fastmath=FAST)
def _sum_by_code(
    gradient: np.ndarray,  # (rows, width), of the loss by the rows as the filter saw them
    codes: np.ndarray,  # (2 * size, width)
    stride: int,
    row_decay: np.ndarray,
    dropout: BlockDropout,
    own: np.ndarray,  # weight of each row in the table's own loss
    sharpness: float,
    out: np.ndarray,  # (2 * size, width)
) -> None:
    """Each code sums over its rows in order, so that the bits do not depend on the number of threads."""
    sharp, size = np.float32(sharpness), len(codes) // 2
    for code in prange(2 * size):
        out[code] = 0.0
        row, step = (code * stride, 1) if code < size else (code - size, size)
        last = min((code + 1) * stride, gradient.shape[0]) if code < size else gradient.shape[0]
        while row < last:
            first, second, steep = row // stride, size + row % size, np.float32(2.0) * own[row] * sharp
            for column in range(gradient.shape[1]):
                value = codes[first, column] + codes[second, column]
                out[code, column] += own_gradient(
                    gradient[row, column], value, row, column, row_decay, dropout
                )
            if own[row] > 0.0:  # a loop of its own: both are compiled to vectors
                for column in range(gradient.shape[1]):
                    bent = fast_tanh(sharp * (codes[first, column] + codes[second, column]))
                    out[code, column] -= steep * bent * (np.float32(1.0) - bent * bent)
            row += step


@compiled(parallel=True, fastmath=FAST)
def _squared_tanh(
    codes: np.ndarray, stride: int, rows: np.ndarray, own: np.ndarray, sharpness: float
) -> np.ndarray:
    """Of every one of these rows, weighted."""
    sharp, size = np.float32(sharpness), len(codes) // 2
    totals = np.empty(len(rows))
    for index in prange(len(rows)):
        first, second, total = rows[index] // stride, size + rows[index] % size, np.float32(0.0)
        for column in range(codes.shape[1]):
            bent = fast_tanh(sharp * (codes[first, column] + codes[second, column]))
            total += bent * bent
        totals[index] = own[rows[index]] * total
    return totals


@compiled(parallel=True, fastmath=FAST)
def _squares(codes: np.ndarray, stride: int, weights: np.ndarray) -> np.ndarray:
    """Of every row, weighted."""
    size = len(codes) // 2
    totals = np.empty(len(weights))
    for row in prange(len(weights)):
        first, second, total = row // stride, size + row % size, np.float32(0.0)
        for column in range(codes.shape[1]):
            value = codes[first, column] + codes[second, column]
            total += value * value
        totals[row] = weights[row] * total
    return totals
