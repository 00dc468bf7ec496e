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
from .bits import pack_bits, padded_bits, read_bits
from .container import Container

MOST_ENTRIES = 4096  # of a row


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


def read_gaps(container: Container, name: str, counts: np.ndarray, dim: int) -> np.ndarray:
    """Columns of all entries in row order, in the narrowest type; every one is checked to leave room for the rest."""
    high = container.get(f"{name}.gap.high", ("U8",), (None,))
    low = container.get(f"{name}.gap.low", ("U8",), (None,))
    starts = np.cumsum(counts) - counts
    entries = int(counts.sum())
    ends = np.flatnonzero(np.unpackbits(high, bitorder="little").view(np.bool_))
    if len(ends) != entries or len(high) != (int(ends[-1]) // 8 + 1 if entries else 0):
        raise errors.WrongCount(
            f"'{name}.gap.high' has {len(ends)} gaps or bytes to spare, the rows have {entries} entries"
        )
    quotients = np.diff(ends, prepend=-1) - 1
    columns = np.empty(entries, column_type(dim))
    next_column = np.zeros(len(counts), np.int64)
    padded, used, bit = padded_bits(low), 0, 0
    for step, rows in _rounds(counts):
        left, entries_left = dim - next_column[rows], counts[rows] - step
        width = _widths(left, entries_left)
        last = bit + np.cumsum(width)
        if last[-1] > 8 * len(low):
            raise errors.WrongCount(f"'{name}.gap.low' has {len(low)} bytes, too few for its entries")
        gap = (quotients[used : used + len(rows)] << width) + read_bits(padded, last - width, width)
        if (gap > left - entries_left).any():
            raise errors.IndexOutOfRange(f"table {name!r}: a gap leaves no room for the rest of its row")
        columns[starts[rows] + step] = next_column[rows] + gap
        next_column[rows] += gap + 1
        used, bit = used + len(rows), int(last[-1])
    if len(low) != -(-bit // 8):
        raise errors.WrongCount(f"'{name}.gap.low' has {len(low)} bytes for {bit} bits")
    if bit % 8 and low[-1] >> (bit % 8):
        raise errors.NonzeroPadding(f"tensor '{name}.gap.low': bits beyond the last are set")
    return columns
