"""Product codes (format 1.1): a row is one entry of a small codebook in each slice of the columns.

Nothing is ever made dense: a query becomes one table of inner products with all codebook entries, and the score of a
row the sum of what it looks up there; a weighted sum of rows becomes a weight for each codebook entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from . import errors
from .codecs import read_table
from .container import Container
from .exact import bits_for, snap, snap_rows
from .levels import MOST_LEVELS, read_levels
from .rows import has_rows, read_rows, read_scale_levels
from .table import BLOCK_ENTRIES, BLOCK_ROWS, Table, row_blocks

BLOCK = 1 << 14  # rows whose look-ups fit the cache


@dataclass(frozen=True)
class CodedTable:
    """The same questions as `Table` answers."""

    dim: int
    scale: np.ndarray  # (rows,) float64
    code: np.ndarray  # (slices, rows) uint8: which codebook entry
    book: Table  # slices x entries rows of dim / slices columns
    encoding: str = "codes"

    @property
    def rows(self) -> int:
        return len(self.scale)

    @property
    def slices(self) -> int:
        return len(self.code)

    @property
    def bits(self) -> int:
        return bits_for(self.entries)

    @property
    def entries(self) -> int:
        """Of the codebook of one slice."""
        return self.book.rows // self.slices

    @property
    def counts(self) -> np.ndarray:
        """Codes of each row."""
        return np.broadcast_to(self.slices, self.rows)

    def row(self, index: int) -> np.ndarray:
        """One row as a dense float64 vector."""
        entries = self.code[:, index] + np.arange(self.slices) * self.entries
        return self.scale[index] * self.book.part(entries).dense().reshape(-1)

    def dense(self) -> np.ndarray:
        """All rows as float64 vectors."""
        book = self.book.dense().reshape(self.slices, self.entries, -1)
        parts = [book[number][self.code[number]] for number in range(self.slices)]
        return np.concatenate(parts, axis=1) * self.scale[:, None]

    def dots(self, vector: np.ndarray) -> np.ndarray:
        """Inner product of every row with a vector: (rows,) float64."""
        return self._looked_up(vector, self.code) * self.scale

    def dots_of(self, vector: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The same for a few rows."""
        return self._looked_up(vector, self.code[:, rows]) * self.scale[rows]

    def rowsum(self, weights: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Weighted sum of the given rows (all of them if not given): (dim,) float64."""
        code = self.code if rows is None else self.code[:, rows]
        scaled = weights * (self.scale if rows is None else self.scale[rows])
        total = np.zeros((self.slices, self.entries))
        for first in range(0, len(scaled), BLOCK_ROWS):
            block = snap(scaled[first : first + BLOCK_ROWS], 40)
            if block.any():
                total += self._entry_weights(code[:, first : first + BLOCK_ROWS], block)
        return book_rowsum(self.book, total)

    def lengths(self) -> np.ndarray:
        """Euclidean length of every row."""
        squares = np.square(self.book.lengths())
        return self.scale * np.sqrt(self._sums(squares, self.code))

    def _looked_up(self, vector: np.ndarray, code: np.ndarray) -> np.ndarray:
        products = book_dots(self.book, vector.reshape(self.slices, -1))
        return self._sums(snap(products, 52 - bits_for(self.slices)), code)

    def _sums(self, table: np.ndarray, code: np.ndarray) -> np.ndarray:
        """For each row the sum of what it looks up in each slice, slice after slice: (rows,) float64."""
        out = np.zeros(code.shape[1])
        for first in range(0, len(out), BLOCK):
            total = out[first : first + BLOCK]
            for places in self._places(code[:, first : first + BLOCK]):
                looked_up = table.take(places)
                looked_up[0] += total
                total[:] = np.add.accumulate(looked_up, axis=0)[-1]
        return out

    def _entry_weights(self, code: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """How much each codebook entry counts: (slices, entries)."""
        total = np.zeros(self.slices * self.entries)
        for places in self._places(code):
            spread = np.broadcast_to(weights, places.shape).reshape(-1)
            base = int(places[0, 0]) // self.entries * self.entries
            found = np.bincount(places.reshape(-1) - base, spread)
            total[base : base + len(found)] += found
        return total.reshape(self.slices, -1)

    def _places(self, code: np.ndarray) -> Iterator[np.ndarray]:
        """Which codebook entries some rows have, in some slices at a time: few where there are many rows, many where
        there are few.
        """
        step = max(1, BLOCK_ENTRIES // max(code.shape[1], 1))
        for first in range(0, self.slices, step):
            some = code[first : first + step]
            yield (np.arange(first, first + len(some)) * self.entries)[:, None] + some


def book_dots(book: Table, slices: np.ndarray) -> np.ndarray:
    """Inner products of the entries of each slice with that slice of a vector: (book rows,) float64.

    All slices at once: there may be tens of thousands. Each is rounded to a grid of its own, as a table would do.
    """
    query = snap_rows(slices, 45 - bits_for(book.dim)).reshape(-1)
    out = np.zeros(book.rows)
    for first, last in row_blocks(book.start):
        product = query.take(_columns(book, len(slices), first, last))
        product *= book.code[book.start[first] : book.start[last]]
        starts = book.start[first : last + 1] - book.start[first]
        used = np.flatnonzero(starts[1:] > starts[:-1])
        if len(used):
            out[first + used] = np.add.reduceat(product, starts[:-1][used])
    return out * book.scale


def book_rowsum(book: Table, weights: np.ndarray) -> np.ndarray:
    """Entries of each slice summed with a weight each, (slices, entries): slices beside each other, (dim,) float64."""
    scaled = snap_rows(weights * book.scale.reshape(weights.shape), 33).reshape(-1)
    total = np.zeros(len(weights) * book.dim)
    for first, last in row_blocks(book.start, max(BLOCK_ENTRIES, len(total))):
        spread = np.repeat(scaled[first:last], np.diff(book.start[first : last + 1]))
        spread *= book.code[book.start[first] : book.start[last]]
        columns = _columns(book, len(weights), first, last)
        total += np.bincount(columns, weights=spread, minlength=len(total))
    return total


def _columns(book: Table, slices: int, first: int, last: int) -> np.ndarray:
    """Column of each entry of some rows of a codebook in the whole vector."""
    begin, end = int(book.start[first]), int(book.start[last])
    own = np.arange(begin, end) % book.dim if book.column is None else book.column[begin:end]
    offsets = np.arange(first, last) // (book.rows // slices) * book.dim
    return np.repeat(offsets, np.diff(book.start[first : last + 1])) + own


def read_codes(container: Container, name: str, rows: int, dim: int) -> CodedTable:
    """Check the tensors in the order of the format: slices, scale, codes, codebooks."""
    container.limit.take_rows(name, rows)
    if f"{name}.code" in container or has_rows(container, name):
        raise errors.AmbiguousEncoding(f"table {name!r} is stored in two ways")
    slices, entries = container.get(f"{name}.slices", ("U16",), (2,)).tolist()
    if slices < 1 or dim % slices or not 2 <= entries <= MOST_LEVELS:
        raise errors.BadSlices(
            f"table {name!r} has {slices} slices of {dim} columns, with {entries} entries each"
        )
    container.limit.take_entries(name, rows * slices)
    scale = read_scale_levels(container, name, rows)
    code = read_levels(container, f"{name}.part", rows * slices, entries)
    read = read_rows if has_rows(container, f"{name}.book") else read_table
    book = read(container, f"{name}.book", slices * entries, dim // slices)
    own = np.ones(rows) if scale is None else scale()
    return CodedTable(dim, own, code.reshape(slices, rows), book)
