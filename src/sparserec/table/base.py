"""What the loop asks of a table, whatever a method keeps behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, Protocol

import numpy as np
import torch

from sparserec import streams
from sparserec.counter import Key, key_of, normal_at, uniform_at
from sparserec.device import EncodedTable
from sparserec.distributed import ALONE, Processes
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

    rows: np.ndarray  # int32, ascending; those that other processes hold too
    here: slice  # which of them are held here
    accumulated: np.ndarray  # float32 (rows held here, columns held here)
    cumulative: bool  # sum over steps, or the last step's gradient only

    @property
    def held_rows(self) -> np.ndarray:
        """Rows of `accumulated`."""
        return self.rows[self.here]


@dataclass
class Watched:
    """Inactive entries whose gradient in the next batch is asked for."""

    positions: np.ndarray  # int32, as those of the table
    bounds: np.ndarray
    gradient: np.ndarray  # float32, aligned with positions


LARGEST_POSITION = 2**31 - 1
ROWS_AT_ONCE = 1 << 16
CHUNKS = 8
"""Stretches of rows that a table of items alone is shared by; each is summed by itself, whoever holds it."""
State = dict[str, np.ndarray]


@dataclass(frozen=True)
class Shape:
    """Size of the stacked table and how its columns are cut into blocks.

    Users and items are two groups of rows. A base may have no user rows; the groups of a table of codes are its two
    code books. Where several processes train, each holds some parts of the table: a stretch of the blocks or, of a
    table of items alone, which is one block, a stretch of its rows. `dim` and `n_rows` are of the whole table, `blocks`
    and `rows` are those held here.
    """

    n_users: int
    n_items: int
    dim: int
    width: int
    processes: Processes = field(default=ALONE, compare=False)

    def __post_init__(self) -> None:
        if self.processes.count > self.n_parts:
            raise SettingError(f"{self.processes.count} processes: {self._too_few_parts}")
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
    def by_rows(self) -> bool:
        """Whether processes share chunks of rows, not column blocks: so they do where items alone have rows."""
        return self.n_users == 0 and self.n_blocks == 1

    @property
    def n_parts(self) -> int:
        """Parts of the whole table, each of which one process holds: chunks of rows, or column blocks."""
        return CHUNKS if self.by_rows else self.n_blocks

    @property
    def parts(self) -> range:
        """Which parts are held here."""
        return self.processes.share(self.n_parts)

    @property
    def held(self) -> range:
        """Which blocks are held here, be it only some rows of them."""
        return range(1) if self.by_rows else self.parts

    @property
    def chunk_edges(self) -> np.ndarray:
        """Where each chunk of rows begins, int32, and where the last one ends."""
        return (np.arange(CHUNKS + 1) * self.n_rows // CHUNKS).astype(np.int32)

    @property
    def held_edges(self) -> np.ndarray:
        """The same of the chunks held here."""
        return self.chunk_edges[self.parts.start : self.parts.stop + 1]

    @property
    def rows(self) -> slice:
        """Rows held here: all of them where processes share columns."""
        if not self.by_rows:
            return slice(0, self.n_rows)
        return slice(int(self.held_edges[0]), int(self.held_edges[-1]))

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
        if not self.by_rows or self.processes.alone:
            return positions
        edges = np.array([self.rows.start * self.dim, self.rows.stop * self.dim], np.int32)
        first, last = np.searchsorted(positions, edges)
        return positions[first:last].copy()  # a view would keep all of them in memory

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
        """Something of every part of the whole table, in their order, from that of the parts held here."""
        return self.processes.gather(parts, self.n_parts)

    def sum_over_parts(self, numbers: Sequence[float]) -> float:
        """The sum over all parts, in their order, from numbers of the parts held here."""
        return float(sum(self.gather(np.array(numbers, np.float64)).tolist()))

    def whole_rows(self, part: np.ndarray) -> np.ndarray:
        """Rows with all columns, from the columns held here; a stretch of rows at a time travels."""
        if self.processes.alone or self.by_rows:
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

    def all_rows(self, part: np.ndarray) -> np.ndarray:
        """All rows of a table, from those held here."""
        if self.processes.alone or not self.by_rows:
            return part
        sizes = np.diff(self.chunk_edges)
        chunks = np.zeros((len(self.parts), sizes.max(), part.shape[1]), part.dtype)
        for chunk, (_, rows) in zip(chunks, self.local_parts):
            chunk[: rows.stop - rows.start] = part[rows]
        return np.concatenate([chunk[:size] for chunk, size in zip(self.gather(chunks), sizes)])

    @property
    def _too_few_parts(self) -> str:
        if self.by_rows:
            return f"a table of items is cut into {CHUNKS} chunks of rows, and every process needs one"
        return (
            f"a table of {self.dim} columns has {self.n_blocks} blocks of {self.width}, and every process needs one; "
            f"start at most {self.n_blocks}, or train one with more columns"
        )


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
