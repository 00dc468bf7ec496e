"""What the loop asks of a table, whatever a method keeps behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch

from sparserec.counter import Key
from sparserec.device import EncodedTable
from sparserec.distributed import ALONE, Processes
from sparserec.errors import SettingError
from sparserec.table.kernels import BlockDropout
from sparserec.table.ledger import Ledger

LARGEST_POSITION = 2**31 - 1
ROWS_AT_ONCE = 1 << 16
State = dict[str, np.ndarray]


@dataclass(frozen=True)
class Shape:
    """Size of the stacked table and how its columns are cut into blocks.

    Users and items are two groups of rows. A base may have no user rows; the groups of a table of codes are its two
    code books. Where several processes train, each holds a stretch of the blocks: `dim` is of the whole table, `blocks`
    are those held here.
    """

    n_users: int
    n_items: int
    dim: int
    width: int
    processes: Processes = field(default=ALONE, compare=False)

    def __post_init__(self) -> None:
        if self.processes.count > self.n_blocks:
            raise SettingError(
                f"{self.processes.count} processes: a table of {self.dim} columns has {self.n_blocks} blocks of "
                f"{self.width}, and every process needs one; start at most {self.n_blocks}, or train one with more "
                "columns"
            )
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
    def sizes(self) -> dict[str, int]:
        """What a file says of a shape, whoever holds its blocks."""
        return {"n_users": self.n_users, "n_items": self.n_items, "dim": self.dim, "width": self.width}

    @property
    def n_blocks(self) -> int:
        """Blocks of the whole table."""
        return -(-self.dim // self.width)

    @property
    def all_blocks(self) -> list[tuple[int, int]]:
        """(first column, width) of each block of the whole table; the last one may be narrower."""
        return [(start, min(self.width, self.dim - start)) for start in range(0, self.dim, self.width)]

    @property
    def held(self) -> range:
        """Which blocks are held here."""
        return self.processes.share(self.n_blocks)

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """(first column, width) of each block held here."""
        return [self.all_blocks[index] for index in self.held]

    @property
    def first_column(self) -> int:
        """Where the columns held here begin."""
        return self.held.start * self.width

    @property
    def columns(self) -> int:
        """Columns held here."""
        return sum(width for _, width in self.blocks)

    @property
    def local_blocks(self) -> list[tuple[int, int]]:
        """(first column, width) of the blocks held here in an array of no other columns."""
        return [(start - self.first_column, width) for start, width in self.blocks]

    def gather(self, parts: np.ndarray) -> np.ndarray:
        """Something of every block of the whole table, in block order, from that of the blocks held here."""
        return self.processes.gather(parts, self.n_blocks)

    def sum_over_blocks(self, parts: Sequence[float]) -> float:
        """The sum over all blocks, in block order, from numbers of the blocks held here."""
        return float(sum(self.gather(np.array(parts, np.float64)).tolist()))

    def whole_rows(self, part: np.ndarray) -> np.ndarray:
        """Rows with all columns, from the columns held here; a stretch of rows at a time travels."""
        if self.processes.alone:
            return part
        whole = np.empty((len(part), self.dim), part.dtype)
        for first in range(0, len(part), ROWS_AT_ONCE):
            stretch = part[first : first + ROWS_AT_ONCE]
            blocks = np.zeros((len(self.held), self.width, len(stretch)), part.dtype)
            for block, (start, width) in zip(blocks, self.local_blocks):
                block[:width] = stretch[:, start : start + width].T
            columns = self.gather(blocks).reshape(-1, len(stretch))
            whole[first : first + ROWS_AT_ONCE] = columns[: self.dim].T
        return whole


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
