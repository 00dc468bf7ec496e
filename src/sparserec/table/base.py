"""What the loop asks of a table, whatever a method keeps behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from sparserec.counter import Key
from sparserec.device import EncodedTable
from sparserec.errors import SettingError
from sparserec.table.kernels import BlockDropout
from sparserec.table.ledger import Ledger

LARGEST_POSITION = 2**31 - 1
State = dict[str, np.ndarray]


@dataclass(frozen=True)
class Shape:
    """Size of the stacked table and how its columns are cut into blocks.

    Users and items are two groups of rows. A base may have no user rows; the groups of a table of codes are its two
    code books.
    """

    n_users: int
    n_items: int
    dim: int
    width: int

    def __post_init__(self) -> None:
        if self.n_rows * self.width >= LARGEST_POSITION:
            raise SettingError(
                f"{self.n_rows:,} users and items in blocks of {self.width} columns: positions in a block are "
                "int32 and "
                f"end at {LARGEST_POSITION:,}; use narrower blocks"
            )

    @property
    def n_rows(self) -> int:
        return self.n_users + self.n_items

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """(first column, width) of each block; the last one may be narrower."""
        return [(start, min(self.width, self.dim - start)) for start in range(0, self.dim, self.width)]


@dataclass(frozen=True)
class EntryDropout:
    """Dropout on table entries in one step; a pure function of the key, so both passes agree."""

    key: Key = 0
    rate: float = 0.0

    def block(self, start: int) -> BlockDropout:
        """The same for the kernels, in the block of columns that begins at `start`."""
        return BlockDropout(np.uint64(self.key), self.rate, start)


@dataclass(frozen=True)
class Update:
    """Everything but the gradient that one optimiser step needs."""

    step: int  # 1 for the first update of a training
    learning_rate: float
    row_decay: np.ndarray  # float32 (rows,) weight of half the squared layer-0 row in the loss
    dropout: EntryDropout = EntryDropout()


class Table(Protocol):
    """Parameters of all users and items, handed out and updated one column block at a time."""

    shape: Shape
    kind: str

    def begin_step(self, rows: np.ndarray, counts: np.ndarray) -> float:
        """A step begins whose batch has these rows, each `counts` times; called once, before any block is filled.

        Returns a loss of the table's own on them (0 for most); its gradient the table adds to what it receives.
        """

    def fill(self, block: int, out: torch.Tensor, dropout: EntryDropout) -> None:
        """Write the block's values to `out`, shape (rows, width); outside of a step too, to evaluate."""

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        """Take the gradient of the block, shape (rows, width), and update the parameters behind it."""

    def finish_step(self, update: Update) -> None:
        """All blocks of this step have been received (for tables whose parameters span blocks)."""

    def ego_penalty(self, row_decay: np.ndarray) -> float:
        """sum over rows of decay * half the squared row, for the reported loss."""

    def parameters(self) -> int:
        """Trained numbers that the finished model keeps."""

    def state(self) -> State:
        """All arrays a resumed run needs; those of an exploration under way are named `candidates.*`."""

    def load(self, state: State) -> None:
        """Take back what `state` gave."""

    @classmethod
    def revive(cls, shape: Shape, state: State) -> Table:
        """A table of this shape from what `state` gave."""

    def ledger(self) -> Ledger:
        """Bytes held now, by role."""

    def counted_numbers(self) -> int:
        """Numbers held now as the paper's memory analysis counts them: parameters, their gradients, and whatever is
        summed or learnt to choose among them. It leaves out Adam's moments, indices, the graph and activations."""

    def row_sizes(self) -> np.ndarray | None:
        """Entries in use of each row, for statistics and figures; None where rows have no entries of their own
        choice.
        """

    def encoded(self, order: np.ndarray, bits: int) -> EncodedTable:
        """The table as a device file holds it, quantised, row j being its row order[j].

        A SettingError where a device would hold something else than rows.
        """

    def stored_bytes(self, bits: int) -> int:
        """Size of the quantised table on disk, indices and scales included."""

    def quantised(self, bits: int) -> Table:
        """A copy whose values went through the device codec; for evaluation only."""


class BlockWise:
    """What tables have in common whose blocks are updated as they are received: nothing to begin or to finish."""

    def begin_step(self, rows: np.ndarray, counts: np.ndarray) -> float:
        return 0.0

    def finish_step(self, update: Update) -> None:
        pass
