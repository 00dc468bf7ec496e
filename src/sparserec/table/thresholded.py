"""A dense table seen through learnt soft thresholds, one per entry (PEP).

The model uses sign(v) * max(|v| - ceiling * sigmoid(s), 0). Values v and threshold logits s are trained together by
Adam; weight decay on the logits pulls them towards 0, that is, every threshold towards half the ceiling. An entry whose
value lies below its threshold is 0 and no longer learns.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np
import torch
from numba import prange
from scipy.special import expit

from sparserec.compiled import FAST, compiled, fast_exp
from sparserec.table.adam import BlockDropout, Cohorts, adam_entry, dropped, own_gradient
from sparserec.table.base import EntryDropout, Held, InitialValues, Ledger, Shape, State, Update
from sparserec.table.dense import DenseTable
from sparserec.table.sparse import SeenAsSparse, SparseTable

MOMENTS = ("first", "second", "logit_first", "logit_second")
"""Of values and of logits, as a file names them."""


@dataclass(frozen=True)
class Thresholds:
    """How thresholds are made from logits and how logits are trained."""

    rate: float
    """Adam's learning rate."""
    decay: float
    """Weight decay, added to the gradient as in torch's Adam."""
    ceiling: float = 1.0
    """A threshold is this times the sigmoid of its logit."""


class ThresholdStep(NamedTuple):
    """The same at one step, with Adam's sizes of it (float32)."""

    size: np.float32
    logit_size: np.float32
    root: np.float32
    decay: float
    ceiling: float


class ThresholdedTable(SeenAsSparse):
    """Values, threshold logits and the moments of both: six numbers for every entry."""

    kind = "thresholded"

    def __init__(self, shape: Shape, values: list[np.ndarray], logit: float, thresholds: Thresholds) -> None:
        self.shape, self.values, self.thresholds = shape, values, thresholds
        self.logits = [np.full_like(block, logit) for block in values]
        self.moments = [np.zeros((len(MOMENTS), *block.shape), np.float32) for block in values]
        self._count()

    @classmethod
    def create(
        cls, shape: Shape, initial: InitialValues, logit: float, thresholds: Thresholds
    ) -> ThresholdedTable:
        """Random values and one logit for all."""
        return cls(shape, DenseTable.create(shape, initial).values, logit, thresholds)

    def _count(self) -> None:
        ceiling = self.thresholds.ceiling
        self.active = [
            _survivors(values, logits, ceiling) for values, logits in zip(self.values, self.logits)
        ]

    def fill(self, block: int, out: torch.Tensor, dropout: EntryDropout) -> None:
        mask = dropout.block(self.shape.blocks[block][0])
        _threshold(self.values[block], self.logits[block], self.thresholds.ceiling, mask, out.numpy())

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        """One Adam step on values and logits, and how many entries are above their threshold after it."""
        dropout, how = update.dropout.block(self.shape.blocks[block][0]), self.thresholds
        (size,), (root,) = Cohorts().step_sizes(update.step, update.learning_rate)
        (logit_size,), _ = Cohorts().step_sizes(update.step, how.rate)
        step, arrays = ThresholdStep(size, logit_size, root, how.decay, how.ceiling), self._block(block)
        _update_thresholded(gradient.numpy(), update.row_decay, dropout, step, *arrays)
        self.active[block] = _survivors(*arrays[:2], how.ceiling)

    def _block(self, block: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.values[block], self.logits[block], self.moments[block]

    def ego_penalty(self, row_decay: np.ndarray) -> float:
        blocks, ceiling = zip(self.values, self.logits), self.thresholds.ceiling
        return 0.5 * sum(float((row_decay * _squares(*block, ceiling)).sum()) for block in blocks)

    def margins(self) -> np.ndarray:
        """|value| - threshold of every entry, shape (rows, dim): positive where the entry is active."""
        parts = [
            np.abs(v) - np.float32(self.thresholds.ceiling) * expit(s)
            for v, s in zip(self.values, self.logits)
        ]
        return np.concatenate(parts, axis=1)

    def matrix(self) -> np.ndarray:
        """The values before thresholding, shape (rows, dim); a copy."""
        return np.concatenate(self.values, axis=1)

    def parameters(self) -> int:
        return sum(self.active)

    def to_sparse(self) -> SparseTable:
        """The active entries as the model uses them, without moments."""
        support, values = [], []
        for block, (_, width) in enumerate(self.shape.blocks):
            used = torch.empty((self.shape.n_rows, width))
            self.fill(block, used, EntryDropout())
            flat = used.numpy().reshape(-1)
            support.append(np.flatnonzero(flat).astype(np.int32))
            values.append(flat[support[-1]])
        return SparseTable(self.shape, support, np.concatenate(values))

    def state(self) -> State:
        arrays: State = {}
        for index in range(len(self.values)):
            values, logits, moments = self._block(index)
            arrays |= {f"values.{index}": values, f"logits.{index}": logits}
            arrays |= {f"{name}.{index}": one for name, one in zip(MOMENTS, moments)}
        return arrays | {"thresholds": np.array(astuple(self.thresholds))}

    def load(self, state: State) -> None:
        blocks = range(len(self.shape.blocks))
        self.values, self.logits = (
            [state[f"{name}.{i}"].copy() for i in blocks] for name in ("values", "logits")
        )
        self.moments = [np.stack([state[f"{name}.{i}"] for name in MOMENTS]) for i in blocks]
        self.thresholds = Thresholds(*(float(number) for number in state["thresholds"]))
        self._count()

    @classmethod
    def revive(cls, shape: Shape, state: State) -> ThresholdedTable:
        table = cls(shape, [], 0.0, Thresholds(0.0, 0.0))
        table.load(state)
        return table

    @classmethod
    def held(cls, shape: Shape) -> Held:
        size = DenseTable.held(shape).ledger["values"]
        return Held("thresholded", shape.dim, {"values": size, "thresholds": size, "moments": 4 * size})

    def ledger(self) -> Ledger:
        return self.held(self.shape).ledger

    def counted_numbers(self) -> int:
        """Table, gradient and thresholds: 3 s N."""
        return 3 * sum(block.size for block in self.values)


@compiled(inline="always")
def _threshold_of(logit, ceiling):  # type: ignore[no-untyped-def]
    return np.float32(ceiling) / (np.float32(1.0) + fast_exp(-logit))


@compiled(parallel=True)
def _threshold(
    values: np.ndarray, logits: np.ndarray, ceiling: float, dropout: BlockDropout, out: np.ndarray
) -> None:
    for row in prange(values.shape[0]):
        for column in range(values.shape[1]):
            value = values[row, column]
            margin = max(abs(value) - _threshold_of(logits[row, column], ceiling), np.float32(0.0))
            used = margin if value > 0 else -margin
            out[row, column] = dropped(used, row, column, dropout)


@compiled(parallel=True, fastmath=FAST)
def _squares(values: np.ndarray, logits: np.ndarray, ceiling: float) -> np.ndarray:
    """Of every row as the model uses it."""
    lengths = np.empty(values.shape[0])
    for row in prange(values.shape[0]):
        total = np.float32(0.0)
        for column in range(values.shape[1]):
            margin = abs(values[row, column]) - _threshold_of(logits[row, column], ceiling)
            margin = max(margin, np.float32(0.0))
            total += margin * margin
        lengths[row] = total
    return lengths


@compiled(parallel=True)
def _survivors(values: np.ndarray, logits: np.ndarray, ceiling: float) -> int:
    count = 0
    for row in prange(values.shape[0]):
        for column in range(values.shape[1]):
            count += abs(values[row, column]) > _threshold_of(logits[row, column], ceiling)
    return count


@compiled(parallel=True)
def _update_thresholded(
    gradient: np.ndarray,  # (nodes, width), of the loss by the thresholded values
    row_decay: np.ndarray,
    dropout: BlockDropout,
    how: ThresholdStep,
    values: np.ndarray,
    logits: np.ndarray,
    moments: np.ndarray,  # (4, nodes, width)
) -> None:
    first, second, logit_first, logit_second = moments[0], moments[1], moments[2], moments[3]
    pull, share = np.float32(how.decay), np.float32(1.0 / how.ceiling)
    for row in prange(gradient.shape[0]):
        for column in range(gradient.shape[1]):
            value, logit = values[row, column], logits[row, column]
            threshold = _threshold_of(logit, how.ceiling)
            sign = np.float32(1.0) if value > 0 else np.float32(-1.0)
            margin = abs(value) - threshold
            entry = own_gradient(gradient[row, column], sign * margin, row, column, row_decay, dropout)
            # Chosen afterwards, not skipped, and survivors counted elsewhere: so the loop is compiled to vectors.
            entry = entry if margin > 0 else np.float32(0.0)
            slope = pull * logit - threshold * (np.float32(1.0) - share * threshold) * sign * entry
            values[row, column], first[row, column], second[row, column] = adam_entry(
                value, entry, first[row, column], second[row, column], how.size, how.root
            )
            logits[row, column], logit_first[row, column], logit_second[row, column] = adam_entry(
                logit, slope, logit_first[row, column], logit_second[row, column], how.logit_size, how.root
            )
