"""Ascending columns of each row in nearly as few bits as there are choices: gaps, each as a quotient and a remainder.

A gap is divided by a power of two that follows from how many columns and entries are left in the row, so a row of 16
out of 128 columns takes 68 bits, where log2 of the number of such rows is 66.3. Quotients are unary, in one stream;
remainders are plain bits, in another. Both go through all rows for their first entry, then for their second and so on:
then numpy decodes all rows at once, and a loop does so as easily.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from . import errors
from .bits import POPCOUNT, check_end, pack_bits, padded_bits, read_bits
from .container import Container

MOST_ENTRIES = 4096  # of a row
BLOCK_GAPS = 1 << 14


def column_type(dim: int) -> type[np.unsignedinteger]:
    """The narrowest type that holds a column."""
    return np.uint8 if dim <= 1 << 8 else np.uint16 if dim <= 1 << 16 else np.uint32


def _widths(columns: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """Bits of the remainder where so many columns and entries are left: log2 of 3/4 of their ratio, rounded down."""
    return np.frexp(np.maximum(3 * columns // (4 * entries), 1))[1].astype(np.int64) - 1


def _rounds(counts: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows that have an entry 0, then those that have an entry 1 ..."""
    rows = np.flatnonzero(counts)
    step = 0
    while len(rows):
        yield step, rows
        step += 1
        rows = rows[counts[rows] > step]


def encode_gaps(columns: np.ndarray, counts: np.ndarray, dim: int) -> dict[str, np.ndarray]:
    """File tensors of ascending columns in row order."""
    starts = np.cumsum(counts) - counts
    next_column = np.zeros(len(counts), np.int64)
    quotients, remainders, widths = [], [], []
    for step, rows in _rounds(counts):
        column = columns[starts[rows] + step].astype(np.int64)
        gap, width = column - next_column[rows], _widths(dim - next_column[rows], counts[rows] - step)
        quotients.append(gap >> width)
        remainders.append(gap & ((1 << width) - 1))
        widths.append(width)
        next_column[rows] = column + 1
    empty = [np.zeros(0, np.int64)]
    ends = np.cumsum(np.concatenate(quotients or empty) + 1)
    ones = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    ones[ends - 1] = 1
    rest = pack_bits(np.concatenate(remainders or empty), np.concatenate(widths or empty))
    return {"gap.high": np.packbits(ones, bitorder="little"), "gap.low": rest}


def read_gaps(container: Container, name: str, start: np.ndarray, dim: int) -> np.ndarray:
    """Columns of all entries in row order, in the narrowest type; every one is checked to leave room for the rest.

    Some gaps at a time: one may take a bit in the file, and many times that while it is read.
    """
    high = container.get(f"{name}.gap.high", ("U8",), (None,))
    low = container.get(f"{name}.gap.low", ("U8",), (None,))
    entries = int(start[-1])
    ones = _count_ones(high)
    if ones != entries or bool(len(high)) != bool(entries) or (entries and not high[-1]):
        raise errors.WrongCount(
            f"'{name}.gap.high' has {ones} gaps or bytes to spare, the rows have {entries} entries"
        )
    quotients, remainders = _Quotients(high), _Remainders(name, low)
    columns = np.zeros(entries, column_type(dim))
    rows, step = _longer(start, 0), 0
    while len(rows):
        far = False
        for first in range(0, len(rows), BLOCK_GAPS):
            some = rows[first : first + BLOCK_GAPS]
            at = start[some].astype(np.int64) + step
            next_column = columns[at - 1].astype(np.int64) + 1 if step else np.zeros(len(some), np.int64)
            left, entries_left = dim - next_column, start[some + 1] - at
            width = _widths(left, entries_left)
            gap = (quotients.take(len(some)) << width) + remainders.take(width)
            wrong = gap > left - entries_left
            far = far or bool(wrong.any())
            columns[at] = np.where(wrong, 0, next_column + gap)
        if far:
            raise errors.IndexOutOfRange(f"table {name!r}: a gap leaves no room for the rest of its row")
        step += 1
        rows = _longer(start, step, rows)
    check_end(f"{name}.gap.low", low, remainders.bit)
    return columns


def _longer(start: np.ndarray, size: int, rows: np.ndarray | None = None) -> np.ndarray:
    """Those of some rows, or of all, that have more entries: (found,) int32."""
    found = [np.zeros(0, np.int32)]
    count = len(start) - 1 if rows is None else len(rows)
    for first in range(0, count, BLOCK_GAPS):
        last = min(first + BLOCK_GAPS, count)
        some = np.arange(first, last, dtype=np.int32) if rows is None else rows[first:last]
        found.append(some[start[some + 1] - start[some] > size])
    return np.concatenate(found)


class _Quotients:
    """Unary numbers, a few at a time: how many bits 0 there are before each bit 1."""

    def __init__(self, high: np.ndarray) -> None:
        self.high, self.byte = high, 0  # the next byte to read
        self.ends, self.used = np.zeros(0, np.int64), 0  # places of bits 1
        self.last = -1  # of the last used

    def take(self, count: int) -> np.ndarray:
        if len(self.ends) - self.used < count:
            self._read(count)
        ends = self.ends[self.used : self.used + count]
        quotients = np.diff(ends, prepend=self.last) - 1
        self.used, self.last = self.used + count, int(ends[-1])
        return quotients

    def _read(self, count: int) -> None:
        parts = [self.ends[self.used :]]
        have = len(parts[0])
        while have < count:
            block = self.high[self.byte : self.byte + BLOCK_GAPS // 8]
            bits = np.unpackbits(block, bitorder="little").view(np.bool_)
            parts.append(np.flatnonzero(bits) + 8 * self.byte)
            have += len(parts[-1])
            self.byte += len(block)
        self.ends, self.used = np.concatenate(parts), 0


class _Remainders:
    """Numbers of different widths, a few at a time."""

    def __init__(self, name: str, low: np.ndarray) -> None:
        self.name, self.low, self.bit = name, low, 0

    def take(self, widths: np.ndarray) -> np.ndarray:
        first = self.bit // 8
        ends = self.bit % 8 + np.cumsum(widths)
        self.bit = 8 * first + int(ends[-1])
        if self.bit > 8 * len(self.low):
            raise errors.WrongCount(
                f"'{self.name}.gap.low' has {len(self.low)} bytes, too few for its entries"
            )
        return read_bits(padded_bits(self.low[first : -(-self.bit // 8)]), ends - widths, widths)


def _count_ones(packed: np.ndarray) -> int:
    blocks = range(0, len(packed), BLOCK_GAPS)
    return sum(int(POPCOUNT[packed[first : first + BLOCK_GAPS]].sum(dtype=np.int64)) for first in blocks)
