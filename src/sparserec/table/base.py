"""What the loop asks of a table, whatever a method keeps behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, Protocol

import numpy as np
import torch

from sparserec import streams
from sparserec.counter import Key, key_of, normal_at, uniform_at
from sparserec.device import EncodedTable
from sparserec.errors import SettingError
from sparserec.table.adam import BlockDropout

# What a method keeps in memory, by role, so that formula, bookkeeping and measured peak can stand side by side.

Ledger = dict[str, int]
"""Bytes by role: values, positions, moments, ages, accumulated, scratch, rows, graph, interactions, ..."""


def total(ledger: Ledger) -> int:
    """All bytes of a ledger."""
    return sum(ledger.values())


# Initial values of a table: a pure function of (seed, row, column), so that a rewind needs no stored copy.


@dataclass(frozen=True)
class InitialValues:
    """Random values per position; `user_scale` and `item_scale` are a standard deviation or a bound."""

    seed: int
    shape: Literal["normal", "uniform"]
    user_scale: float
    item_scale: float

    def at(self, rows: np.ndarray, columns: np.ndarray, n_users: int) -> np.ndarray:
        """float32 values at the given positions of the stacked table (users first)."""
        draw = normal_at if self.shape == "normal" else uniform_at
        values = draw(key_of(self.seed, streams.INITIAL), rows, columns, 1.0)
        values *= np.where(rows < n_users, np.float32(self.user_scale), np.float32(self.item_scale))
        return values


# Gradients of inactive entries that a method has asked a sparse table for, until the next exploration.


@dataclass
class Candidates:
    """Rows whose inactive entries may be activated, and their gradient so far."""

    rows: np.ndarray  # int32, ascending; those held elsewhere too
    here: slice  # which of them are held here
    accumulated: np.ndarray  # float32 (rows held here, columns held here)
    cumulative: bool  # sum over steps, or the last step's gradient only


@dataclass
class Watched:
    """Inactive entries whose gradient in the next batch is asked for."""

    positions: np.ndarray  # int32, as those of the table
    bounds: np.ndarray
    gradient: np.ndarray  # float32, aligned with positions


LARGEST_POSITION = 2**31 - 1
CHUNKS = 8
"""Stretches of the rows of a table of items alone; each is summed by itself, whoever holds it."""
State = dict[str, np.ndarray]


@dataclass
class Shape:
    """Size of the stacked table, how its columns are cut into blocks, and which of it is held here: all of it.

    Users and items are two groups of rows. A base may have no user rows; the groups of a table of codes are its two
    code books. A table has parts that can be held apart (shards.py): column blocks or, of a table of items alone, which
    is one block, chunks of rows. `dim`, `n_rows` and `all_blocks` are of the whole table, `blocks` and `rows` are those
    held here; what is known of parts or rows alone becomes what is known of all by the methods of this class.
    """

    n_users: int
    n_items: int
    dim: int
    width: int

    def __post_init__(self) -> None:
        self.n_rows = self.n_users + self.n_items
        self.sizes = {"n_users": self.n_users, "n_items": self.n_items, "dim": self.dim, "width": self.width}
        """What a file says of a shape, whoever holds its parts."""
        if self.n_rows * self.width >= LARGEST_POSITION:
            raise SettingError(
                f"{self.n_rows:,} users and items in blocks of {self.width} columns: positions in a block are int32 "
                f"and end at {LARGEST_POSITION:,}; use narrower blocks"
            )
        starts = range(0, self.dim, self.width)
        self.all_blocks = [(start, min(self.width, self.dim - start)) for start in starts]
        """(first column, width) of each block of the whole table; the last one may be narrower."""
        self.by_rows = self.n_users == 0 and len(self.all_blocks) == 1
        """Whether parts are chunks of rows, not column blocks: so they are where items alone have rows."""
        self.n_parts = CHUNKS if self.by_rows else len(self.all_blocks)
        self.chunk_edges = (np.arange(CHUNKS + 1) * self.n_rows // CHUNKS).astype(np.int32)
        """Where each chunk of rows begins, and where the last one ends."""
        self._hold(range(self.n_parts))

    def _hold(self, parts: range) -> None:
        """What follows from the parts that are held here."""
        self.parts = parts
        self.held = range(1) if self.by_rows else parts
        """Which blocks, be it only some rows of them."""
        self.held_edges = self.chunk_edges[parts.start : parts.stop + 1]
        ends = self.held_edges[[0, -1]].tolist() if self.by_rows else (0, self.n_rows)
        self.rows = slice(*ends)
        self.blocks = [self.all_blocks[index] for index in self.held]
        """(first column, width) of each."""
        self.columns = sum(width for _, width in self.blocks)
        self.first_column = self.held.start * self.width
        self.local_blocks = [(start - self.first_column, width) for start, width in self.blocks]
        """The same in an array of no other columns."""

    @property
    def local_parts(self) -> list[tuple[int, slice]]:
        """(block, rows) of each part held here, both as numbered in arrays that hold nothing else."""
        if not self.by_rows:
            return [(block, self.rows) for block in range(len(self.held))]
        edges = (self.held_edges - self.rows.start).tolist()
        return [(0, slice(first, last)) for first, last in pairwise(edges)]

    def held_of(self, rows: np.ndarray) -> slice:
        """Which of some row ids, int32 and ascending, are held here."""
        ends = np.searchsorted(rows, np.array([self.rows.start, self.rows.stop], np.int32))
        return slice(*ends.tolist())

    def held_positions(self, positions: np.ndarray) -> np.ndarray:
        """Of ascending positions of a block those in rows held here."""
        return positions

    def gather(self, parts: np.ndarray) -> np.ndarray:
        """Something of every part of the whole table, in their order, from that of the parts held here."""
        return parts

    def sum_over_parts(self, numbers: Sequence[float]) -> float:
        """The sum over all parts, in their order, from numbers of the parts held here."""
        return float(sum(self.gather(np.array(numbers, np.float64)).tolist()))

    def total(self, numbers: np.ndarray | int) -> np.ndarray:
        """Sum of whole numbers over all holders, int64."""
        return np.asarray(numbers, np.int64)

    def largest(self, numbers: np.ndarray) -> np.ndarray:
        """The largest of every number over all holders."""
        return numbers

    def before(self, count: int) -> int:
        """The sum of a number over the holders of earlier parts."""
        return 0

    def whole_rows(self, part: np.ndarray) -> np.ndarray:
        """Rows with all columns, from the columns held here."""
        return part

    def all_rows(self, part: np.ndarray) -> np.ndarray:
        """All rows of a table, from those held here."""
        return part


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


class Held(NamedTuple):
    """What a table holds, known from its shape before there is one."""

    kind: str
    dim: int
    ledger: Ledger


class Table(Protocol):
    """Parameters of all users and items, handed out and updated one column block at a time."""

    shape: Shape
    kind: str

    def begin_step(self, rows: np.ndarray, counts: np.ndarray) -> float:
        """A step begins whose batch has these rows, each `counts` times; called once, before any block is filled.

        Returns a loss of the table's own on them (0 for most); its gradient the table adds to what it receives.
        """
        return 0.0

    def fill(self, block: int, out: torch.Tensor, dropout: EntryDropout) -> None:
        """Write the block's values to `out`, shape (rows, width); outside of a step too, to evaluate."""

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        """Take the gradient of the block, shape (rows, width), and update the parameters behind it."""

    def finish_step(self, update: Update) -> None:
        """All blocks of this step have been received (for tables whose parameters span blocks)."""
        return None

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
        return None

    def encoded(self, order: np.ndarray, bits: int) -> EncodedTable:
        """The table as a device file holds it, quantised, row j being its row order[j].

        A SettingError where a device would hold something else than rows.
        """

    def stored_bytes(self, bits: int) -> int:
        """Size of the quantised table on disk, indices and scales included."""

    def quantised(self, bits: int) -> Table:
        """A copy whose values went through the device codec; for evaluation only."""
