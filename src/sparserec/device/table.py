"""A table of sparse rows, and multiplying with it, without ever making it dense."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from . import errors
from .exact import bits_for, snap

BLOCK_ROWS = 4096
BLOCK_ENTRIES = 1 << 16


@dataclass(frozen=True)
class Table:
    """Entries in row order. int8 codes and byte indices are views of the file."""

    dim: int
    bits: int
    encoding: str
    scale: np.ndarray  # (rows,) float64
    code: np.ndarray  # (entries,) int8
    column: np.ndarray | None  # (entries,) or None where every row holds all columns in order
    start: np.ndarray  # (rows + 1,) int32, or int64 beyond 2^31 entries

    @property
    def rows(self) -> int:
        return len(self.scale)

    @property
    def counts(self) -> np.ndarray:
        """Entries of each row."""
        return np.diff(self.start)

    def row(self, index: int) -> np.ndarray:
        """One row as a dense float64 vector."""
        begin, end = self.start[index], self.start[index + 1]
        vector = np.zeros(self.dim)
        columns = slice(None) if self.column is None else self.column[begin:end]
        vector[columns] = self.code[begin:end] * self.scale[index]
        return vector

    def dense(self) -> np.ndarray:
        """All rows as float64 vectors: for those who measure a table, never for answers."""
        values = self.code * np.repeat(self.scale, self.counts)
        if self.column is None:
            return values.reshape(-1, self.dim)
        table = np.zeros((self.rows, self.dim))
        table[np.repeat(np.arange(self.rows), self.counts), self.column] = values
        return table

    def value(self, row: int, column: int) -> float:
        """One entry; 0 where the row has none there."""
        begin, end = int(self.start[row]), int(self.start[row + 1])
        place = column if self.column is None else int(np.searchsorted(self.column[begin:end], column))
        if self.column is not None and (begin + place >= end or self.column[begin + place] != column):
            return 0.0
        return float(self.code[begin + place] * self.scale[row])

    def dots(self, vector: np.ndarray) -> np.ndarray:
        """Inner product of every row with a vector: (rows,) float64."""
        query = snap(vector, 45 - bits_for(self.dim))
        out = np.zeros(self.rows)
        for first, last in row_blocks(self.start):
            begin, end = self.start[first], self.start[last]
            if self.column is None:
                out[first:last] = self.code[begin:end].reshape(-1, self.dim) @ query
                continue
            product = query.take(self.column[begin:end])
            product *= self.code[begin:end]
            starts = self.start[first:last] - begin
            used = np.flatnonzero(self.start[first + 1 : last + 1] - begin > starts)
            if len(used):
                out[first + used] = np.add.reduceat(product, starts[used])
        return out * self.scale

    def dots_of(self, vector: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The same for a few rows."""
        return self.part(rows).dots(vector)

    def rowsum(self, weights: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Weighted sum of the given rows (all of them if not given): (dim,) float64."""
        if rows is not None:
            return self.part(rows).rowsum(weights)
        total = np.zeros(self.dim)
        for first in range(0, self.rows, BLOCK_ROWS):
            last = min(first + BLOCK_ROWS, self.rows)
            scaled = snap(weights[first:last] * self.scale[first:last], 33)
            if scaled.any():
                total += self._block_sum(scaled, first, last)
        return total

    def part(self, rows: np.ndarray) -> Table:
        """A table of some rows, in the order given."""
        counts = self.counts[rows]
        start = starts_of(counts)
        entries = np.repeat(self.start[rows] - start[:-1], counts) + np.arange(start[-1])
        column = None if self.column is None else self.column[entries]
        return Table(self.dim, self.bits, self.encoding, self.scale[rows], self.code[entries], column, start)

    def lengths(self) -> np.ndarray:
        """Euclidean length of every row."""
        return self.scale * np.sqrt(square_sums(self.code, self.start))

    def _block_sum(self, scaled: np.ndarray, first: int, last: int) -> np.ndarray:
        """Exact in any order, so a few rows at a time: that is what the codes take as float64."""
        total = np.zeros(self.dim)
        for a, b in row_blocks(self.start, max(BLOCK_ENTRIES, self.dim), first, last):
            begin, end = self.start[a], self.start[b]
            code, own = self.code[begin:end], scaled[a - first : b - first]
            if self.column is None:
                total += own @ code.reshape(-1, self.dim)
                continue
            spread = np.repeat(own, np.diff(self.start[a : b + 1]))
            spread *= code
            total += np.bincount(self.column[begin:end], weights=spread, minlength=self.dim)
        return total


def row_blocks(
    start: np.ndarray, most: int = BLOCK_ENTRIES, first: int = 0, end: int | None = None
) -> Iterator[tuple[int, int]]:
    """Runs of rows with at most so many entries together (more only where one row has more), and at most so many rows:
    scratch does not grow with the table.
    """
    end = len(start) - 1 if end is None else end
    while first < end:
        window = start[first : min(first + BLOCK_ENTRIES, end) + 1]
        limit = window.dtype.type(min(int(window[0]) + most, int(window[-1])))  # nothing is widened
        last = first + max(int(np.searchsorted(window, limit, side="right")) - 1, 1)
        yield first, last
        first = last


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Where rows of so many entries begin, and the end: four bytes a row unless there are very many entries."""
    total = int(counts.sum(dtype=np.int64))
    start = np.zeros(len(counts) + 1, np.int32 if total < 1 << 31 else np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def square_sums(code: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Sum of the squares of the codes of each row: (rows,) float64, exact."""
    out = np.zeros(len(start) - 1)
    for first, last in row_blocks(start):
        begin = start[first]
        squares = np.square(code[begin : start[last]], dtype=np.int32)
        total = np.concatenate([[0], np.cumsum(squares, dtype=np.int64)])
        out[first:last] = np.diff(total[start[first : last + 1] - begin])
    return out


def check_padding(name: str, bitset: np.ndarray, used: int) -> None:
    """The bits after the last used one in each row of a bitset must be 0."""
    if used % 8 and (bitset[:, -1] >> (used % 8)).any():
        raise errors.NonzeroPadding(f"tensor {name!r}: bits beyond {used} are set")
