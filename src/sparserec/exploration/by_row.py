"""Pruning that deals entries to rows evenly: what every row is sure of first, magnitude over the whole table after."""

from __future__ import annotations

import numpy as np

from sparserec.table import SparseTable

ROWS_AT_ONCE = 512
"""Scores exist for this many rows at a time, so that nothing of the size of the table is made."""


def mark_kept(table: SparseTable, count: int) -> np.ndarray:
    """True for exactly `count` entries: the best count // rows of every row, then the largest of all others.

    Ties fall to the first in (row, column) order within a row, and in (block, row, column) order after that.
    """
    n_rows = table.shape.n_rows
    keep = np.zeros(len(table.values), bool)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        _mark_best_of_rows(table, first, min(first + ROWS_AT_ONCE, n_rows), count // n_rows, keep)
    others = np.flatnonzero(~keep)
    largest = others[np.argsort(-np.abs(table.values[others]), kind="stable")]
    keep[largest[: count - np.count_nonzero(keep)]] = True
    return keep


def _mark_best_of_rows(table: SparseTable, first: int, last: int, per_row: int, keep: np.ndarray) -> None:
    """Mark the `per_row` largest entries of each of these rows, all of a row that has no more."""
    scores = np.full((last - first, table.shape.dim), -1.0, np.float32)
    places = []
    for index, (start, width) in enumerate(table.shape.blocks):
        entries = table.block(index)
        ends = np.searchsorted(table.positions[entries], [first * width, last * width])
        part = slice(entries.start + int(ends[0]), entries.start + int(ends[1]))
        row, column = np.divmod(table.positions[part] - first * width, width)
        places.append((part, row, start + column))
        scores[row, start + column] = np.abs(table.values[part])
    best = np.zeros(scores.shape, bool)
    np.put_along_axis(best, np.argsort(-scores, axis=1, kind="stable")[:, :per_row], True, axis=1)
    for part, row, column in places:
        keep[part] = best[row, column]
