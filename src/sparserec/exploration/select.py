"""Exact top-k without sorting or copying: radix select on the bits of |x|, ties broken by position.

Magnitudes of float32 numbers order like their bit patterns, so two histograms of 65,536 bins give the exact k-th
value. Histograms of parts add up, which is what lets the parts of a table be held apart: a function that is given a
shape chooses among the entries of all of them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sparserec.compiled import compiled
from sparserec.table import Shape, SparseTable

Scope = Literal["tables", "joint"]
"""Choose among users and among items apart, or rank the stacked table as one."""

MAGNITUDE = 0x7FFFFFFF
SIGN = 0x80000000


@compiled()
def _histogram(keys, segments, skip_negative, high_wanted, counts):  # type: ignore[no-untyped-def]
    """Count the high halves of the keys (high_wanted < 0) or the low halves below one high half."""
    for s in range(segments.shape[0]):
        for e in range(segments[s, 0], segments[s, 1]):
            if skip_negative and (keys[e] & SIGN):
                continue
            key = keys[e] & MAGNITUDE
            if high_wanted < 0:
                counts[key >> 16] += 1
            elif (key >> 16) == high_wanted:
                counts[key & 0xFFFF] += 1


@compiled()
def _bin_of(counts, k, largest):  # type: ignore[no-untyped-def]
    """The bin that holds the k-th key from the chosen end, and how many of it are wanted."""
    left = k
    for step in range(counts.shape[0]):
        index = counts.shape[0] - 1 - step if largest else step
        if counts[index] >= left:
            return index, left
        left -= counts[index]
    return -1, left


def kth_key(
    values: np.ndarray,  # float32, flat
    segments: np.ndarray,  # int64 (n, 2): half-open index ranges to look at, in order
    k: int,
    largest: bool,
    skip_negative: bool = False,
    shape: Shape | None = None,
) -> tuple[int, int]:
    """(key, ties): the k-th magnitude from the chosen end as bits, and how many entries equal to it are among the k.

    Of a shape's entries it is the k-th of all, and `ties` are those held here: earlier ones come first.
    """
    keys, here = values.view(np.uint32), np.zeros(1 << 16, np.int64)
    _histogram(keys, segments, skip_negative, -1, here)
    counts = here if shape is None else shape.total(here)
    if k < 1 or k > counts.sum():
        raise ValueError(f"cannot select {k} of {counts.sum()} entries")
    high, left = _bin_of(counts, k, largest)
    here = np.zeros(1 << 16, np.int64)
    _histogram(keys, segments, skip_negative, high, here)
    low, ties = _bin_of(here if shape is None else shape.total(here), left, largest)
    before = 0 if shape is None else shape.before(int(here[low]))
    return int(high) << 16 | int(low), min(max(int(ties) - before, 0), int(here[low]))


@compiled()
def _mark_smallest(keys, segments, key, ties, chosen):  # type: ignore[no-untyped-def]
    for s in range(segments.shape[0]):
        for e in range(segments[s, 0], segments[s, 1]):
            magnitude = keys[e] & MAGNITUDE
            if magnitude < key:
                chosen[e] = True
            elif magnitude == key and ties > 0:
                chosen[e] = True
                ties -= 1


def mark_smallest(
    values: np.ndarray, segments: np.ndarray, k: int, chosen: np.ndarray, shape: Shape | None = None
) -> None:
    """Set chosen[e] for the k smallest magnitudes in the segments; of equal ones the first are taken."""
    if k <= 0:
        return
    key, ties = kth_key(values, segments, k, largest=False, shape=shape)
    _mark_smallest(values.view(np.uint32), segments, key, ties, chosen)


def mark_largest(values: np.ndarray, k: int, shape: Shape | None = None) -> np.ndarray:
    """True for the k largest of numbers that are not negative; of equal ones the first are taken."""
    if k <= 0:
        return np.zeros(len(values), bool)
    key, ties = kth_key(values, np.array([[0, len(values)]]), k, largest=True, shape=shape)
    keys = values.view(np.uint32)
    chosen = keys > key
    chosen[np.flatnonzero(keys == key)[:ties]] = True
    return chosen


@compiled()
def _take_largest(keys, rows, key, ties, out):  # type: ignore[no-untyped-def]
    """Positions of one block whose key is above the threshold, plus the first `ties` equal ones."""
    written, width = 0, keys.shape[1]
    for index in range(len(rows)):
        for column in range(width):
            bits = keys[index, column]
            if bits & SIGN:
                continue
            if bits > key or (bits == key and ties > 0):
                if bits == key:
                    ties -= 1
                out[written] = rows[index] * width + column
                written += 1
    return written, ties


def take_largest(
    scores: np.ndarray,  # float32 (rows, dim): >= 0 eligible, negative not
    rows: np.ndarray,  # int32 row ids of the scores, ascending
    part: tuple[int, int],  # half-open range of score rows to look at
    blocks: list[tuple[int, int]],
    k: int,
    shape: Shape | None = None,
) -> list[np.ndarray]:
    """Positions (row * width + column, ascending) per block of the k largest scores; ties by (block, row, column)."""
    if k <= 0:
        return [np.empty(0, np.int32) for _ in blocks]
    segment = np.array([[part[0] * scores.shape[1], part[1] * scores.shape[1]]])
    key, ties = kth_key(scores.reshape(-1), segment, k, True, skip_negative=True, shape=shape)
    inside, buffer, taken, keys = slice(*part), np.empty(k, np.int32), [], scores.view(np.uint32)
    for start, width in blocks:
        count, ties = _take_largest(keys[inside, start : start + width], rows[inside], key, ties, buffer)
        taken.append(buffer[:count].copy())
    return taken


def largest_of_rows(scores: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """True for the sizes[j] largest scores of row j; of equal ones the first are taken."""
    order = np.argsort(-scores, axis=1, kind="stable")
    largest = np.zeros(scores.shape, bool)
    np.put_along_axis(largest, order, np.arange(scores.shape[1]) < sizes[:, None], axis=1)
    return largest


# Pruning that allocates entries to rows evenly: what every row is sure of first, magnitude over the whole table after.

ROWS_AT_ONCE = 512
"""Scores exist for this many rows at a time, so that nothing of the size of the table is made."""


def mark_kept(table: SparseTable, count: int, sizes: np.ndarray | None = None) -> np.ndarray:
    """True for exactly `count` entries: the best `sizes` of every row (None: count // rows), then the largest of all
    others.

    Ties fall to the first in (row, column) order within a row, and in (block, row, column) order after that.
    """
    shape, n_rows = table.shape, table.shape.n_rows
    sizes = np.full(n_rows, count // n_rows) if sizes is None else sizes
    keep = np.zeros(len(table.values), bool)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        own = sizes[first : first + ROWS_AT_ONCE]  # all entries of a row that has no more
        scores, places = np.full((len(own), shape.columns), -1.0, np.float32), []
        for index, (start, width) in enumerate(shape.local_blocks):
            entries = table.block(index)
            ends = np.searchsorted(table.positions[entries], [first * width, (first + len(own)) * width])
            part = slice(entries.start + int(ends[0]), entries.start + int(ends[1]))
            row, column = np.divmod(table.positions[part] - first * width, width)
            places.append((part, row, start + column))
            scores[row, start + column] = np.abs(table.values[part])
        best = largest_of_rows(shape.whole_rows(scores), own)
        for part, row, column in places:
            keep[part] = best[row, shape.first_column + column]
    others, left = np.flatnonzero(~keep), count - int(shape.total(keep.sum()))
    keep[others[mark_largest(np.abs(table.values[others]), left, shape)]] = True
    return keep
