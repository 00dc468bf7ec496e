"""Supports that deal entries to rows evenly: what every row is sure of, first; magnitude over the whole table, after."""

from __future__ import annotations

import numpy as np

from sparserec.exploration.init import positions_per_block
from sparserec.exploration.nmf import Factors
from sparserec.table import Shape, SparseTable

ROWS_AT_ONCE = 512
"""Scores exist for this many rows at a time, so that nothing of the size of the table is made."""


def even_support(
    shape: Shape, per_row: int, rng: np.random.Generator, factors: Factors | None = None
) -> list[np.ndarray]:
    """`per_row` positions in every row: the largest of its factors' non-zeros, then random ones."""
    if factors is not None:
        factor_rows, factor_columns, magnitudes = factors.scaled_entries(shape.n_users)
        order = np.argsort(factor_rows, kind="stable")
        factor_rows, factor_columns, magnitudes = factor_rows[order], factor_columns[order], magnitudes[order]
    rows, columns = [], []
    for first in range(0, shape.n_rows, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, shape.n_rows)
        scores = rng.random((last - first, shape.dim), np.float32)
        if factors is not None:
            part = slice(*np.searchsorted(factor_rows, [first, last]))
            scores[factor_rows[part] - first, factor_columns[part]] = 1.0 + magnitudes[part]
        best = np.argpartition(-scores, per_row - 1, axis=1)[:, :per_row]
        rows.append(np.repeat(np.arange(first, last, dtype=np.int32), per_row))
        columns.append(best.astype(np.int32).reshape(-1))
    return positions_per_block(shape, np.concatenate(rows), np.concatenate(columns))


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
