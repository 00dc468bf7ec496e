"""Pruning that deals entries to rows evenly: what every row is sure of first, magnitude over the whole table after."""

from __future__ import annotations

import numpy as np

from sparserec.exploration.select import mark_largest
from sparserec.table import SparseTable

ROWS_AT_ONCE = 512
"""Scores exist for this many rows at a time, so that nothing of the size of the table is made."""


def mark_kept(table: SparseTable, count: int, sizes: np.ndarray | None = None) -> np.ndarray:
    """True for exactly `count` entries: the best `sizes` of every row (None: count // rows), then the largest of all
    others.

    Ties fall to the first in (row, column) order within a row, and in (block, row, column) order after that.
    """
    n_rows = table.shape.n_rows
    sizes = np.full(n_rows, count // n_rows) if sizes is None else sizes
    keep = np.zeros(len(table.values), bool)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        _mark_best_of_rows(table, first, sizes[first : first + ROWS_AT_ONCE], keep)
    others, processes = np.flatnonzero(~keep), table.shape.processes
    left = count - int(processes.total(keep.sum()))
    keep[others[mark_largest(np.abs(table.values[others]), left, processes)]] = True
    return keep


def _mark_best_of_rows(table: SparseTable, first: int, sizes: np.ndarray, keep: np.ndarray) -> None:
    """Mark the sizes[j] largest entries of the row `first` + j, all of a row that has no more."""
    last = first + len(sizes)
    scores, here = np.full((len(sizes), table.shape.columns), -1.0, np.float32), table.shape.first_column
    places = []
    for index, (start, width) in enumerate(table.shape.local_blocks):
        entries = table.block(index)
        ends = np.searchsorted(table.positions[entries], [first * width, last * width])
        part = slice(entries.start + int(ends[0]), entries.start + int(ends[1]))
        row, column = np.divmod(table.positions[part] - first * width, width)
        places.append((part, row, start + column))
        scores[row, start + column] = np.abs(table.values[part])
    whole = table.shape.whole_rows(scores)
    best = np.zeros(whole.shape, bool)
    order = np.argsort(-whole, axis=1, kind="stable")
    np.put_along_axis(best, order, np.arange(whole.shape[1]) < sizes[:, None], axis=1)
    for part, row, column in places:
        keep[part] = best[row, here + column]
