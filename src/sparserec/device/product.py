"""Product codes (format 1.1): a row is one entry of a small codebook in each slice of the columns.

Nothing is ever made dense: a query becomes one table of inner products with all codebook entries, and the score of a
row the sum of what it looks up there; a weighted sum of rows becomes a weight for each codebook entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import errors
from .container import Container
from .exact import bits_for, snap
from .levels import MOST_LEVELS, read_levels
from .rows import has_rows, read_rows, read_scale_levels
from .table import BLOCK_ROWS, Table, read_table

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
        return np.full(self.rows, self.slices)

    @cached_property
    def _books(self) -> list[Table]:
        places = np.arange(self.entries)
        return [self.book.part(places + number * self.entries) for number in range(self.slices)]

    def row(self, index: int) -> np.ndarray:
        """One row as a dense float64 vector."""
        entries = self.code[:, index] + np.arange(self.slices) * self.entries
        return self.scale[index] * np.concatenate([self.book.row(int(entry)) for entry in entries])

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
        return np.concatenate([book.rowsum(total[number]) for number, book in enumerate(self._books)])

    def lengths(self) -> np.ndarray:
        """Euclidean length of every row."""
        squares = np.square(self.book.lengths()).reshape(self.slices, -1)
        total = np.zeros(self.rows)
        for number in range(self.slices):
            total += squares[number].take(self.code[number])
        return self.scale * np.sqrt(total)

    def _looked_up(self, vector: np.ndarray, code: np.ndarray) -> np.ndarray:
        width = self.dim // self.slices
        parts = [
            book.dots(vector[number * width : (number + 1) * width])
            for number, book in enumerate(self._books)
        ]
        table = snap(np.concatenate(parts), 52 - bits_for(self.slices)).reshape(self.slices, -1)
        out = np.zeros(code.shape[1])
        for first in range(0, len(out), BLOCK):
            for number in range(self.slices):
                out[first : first + BLOCK] += table[number].take(code[number, first : first + BLOCK])
        return out

    def _entry_weights(self, code: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """How much each codebook entry counts: (slices, entries)."""
        return np.stack([np.bincount(code[number], weights, self.entries) for number in range(self.slices)])


AnyTable = Table | CodedTable


def read_any_table(container: Container, name: str, rows: int, dim: int) -> AnyTable:
    """A table in whatever way the file holds it."""
    if f"{name}.slices" in container:
        return _read_codes(container, name, rows, dim)
    return _read_plain(container, name, rows, dim)


def _read_plain(container: Container, name: str, rows: int, dim: int) -> Table:
    read = read_rows if has_rows(container, name) else read_table
    return read(container, name, rows, dim)


def _read_codes(container: Container, name: str, rows: int, dim: int) -> CodedTable:
    if f"{name}.code" in container or has_rows(container, name):
        raise errors.AmbiguousEncoding(f"table {name!r} is stored in two ways")
    slices, entries = container.get(f"{name}.slices", ("U16",), (2,)).tolist()
    if slices < 1 or dim % slices or not 2 <= entries <= MOST_LEVELS:
        raise errors.BadSlices(
            f"table {name!r} has {slices} slices of {dim} columns, with {entries} entries each"
        )
    scale = read_scale_levels(container, name, rows)
    code = read_levels(container, f"{name}.part", rows * slices, entries)
    book = _read_plain(container, f"{name}.book", slices * entries, dim // slices)
    return CodedTable(dim, np.ones(rows) if scale is None else scale, code.reshape(slices, rows), book)
