"""Supports in which every row has its own number of entries: allocated once, kept while exploring.

Where a row is all there is of an item (users have none), a row that loses entries to others loses its item. Entries are
then exchanged within rows: the smallest of a row for those of the same row with the largest gradient.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import torch
from numba import prange

from sparserec.compiled import compiled
from sparserec.errors import SettingError
from sparserec.exploration.candidates import LargestScores
from sparserec.exploration.prune_and_regrow import Exploration
from sparserec.exploration.select import largest_of_rows
from sparserec.table import DenseTable, Shape, SparseTable

ROWS_AT_ONCE = 1024


def active_target(shape: Shape, density: float) -> int:
    """Exact number of active entries: round(density * rows * dim), at least two."""
    target = round(density * shape.n_rows * shape.dim)
    if target < 2:
        raise SettingError(
            f"density {density} leaves {target} parameters of {shape.n_rows} x {shape.dim}; "
            "there must be at least 2: raise density or dim"
        )
    return target


def allocate_entries(counts: np.ndarray, target: int, dim: int, exponent: float = 0.0) -> np.ndarray:
    """Entries of each row, `target` in all: in proportion to counts^exponent, at least 1 where it can be, at most
    `dim`.

    What rounding leaves goes to the rows that lost most by it, then to the most frequent ones.
    """
    n_rows = len(counts)
    least = 1 if target >= n_rows else 0
    weights = np.maximum(counts, 1).astype(np.float64) ** exponent
    low, high = 0.0, dim / weights.min()
    for _ in range(100):  # the scale at which clipped shares add up to the target
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.clip(middle * weights, least, dim).sum() < target else (low, middle)
    shares = np.clip(high * weights, least, dim)
    sizes = np.floor(shares + 1e-9).astype(np.int64)
    order = np.lexsort((-counts, np.round(sizes - shares, 9)))
    for rows in (order[sizes[order] < dim], order[sizes[order] > least]):
        missing = target - int(sizes.sum())
        sizes[rows[: abs(missing)]] += np.sign(missing)
    return sizes


def even_support(
    shape: Shape,
    sizes: np.ndarray,  # entries of each row
    rng: np.random.Generator,
    entries: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,  # (rows, columns, magnitudes > 0)
) -> np.ndarray:
    """Sorted positions of a table of one block: the largest given entries of every row, the rest drawn at random.

    Every process draws for all rows and keeps those it holds.
    """
    assert len(shape.blocks) == 1
    rows, columns, magnitudes = (np.empty(0, np.int32),) * 3 if entries is None else entries
    order = np.argsort(rows, kind="stable")
    rows, columns, magnitudes = rows[order], columns[order], magnitudes[order]
    chosen = []
    for first in range(0, shape.n_rows, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, shape.n_rows)
        scores = rng.random((last - first, shape.dim), np.float32) - 2.0  # below any given entry
        part = slice(*np.searchsorted(rows, [first, last]))
        scores[rows[part] - first, columns[part]] = magnitudes[part]
        chosen.append(first * shape.dim + np.flatnonzero(largest_of_rows(scores, sizes[first:last])))
    return shape.held_positions(np.concatenate(chosen).astype(np.int32))


def exchange_in_rows(
    table: SparseTable, drop_fraction: float, step: int, growth: LargestScores
) -> Exploration:
    """In every candidate row, drop the smallest entries and activate as many inactive ones with the largest scores.

    Nothing dropped comes back at once, other rows stay as they are, and every row keeps its number of entries.
    """
    assert len(table.shape.blocks) == 1
    dim, edges = table.shape.dim, np.stack([growth.rows, growth.rows + 1]).astype(np.int64) * table.shape.dim
    first, last = np.searchsorted(table.positions, edges)
    keep = np.ones(len(table.values), bool)
    np.abs(growth.scores, out=growth.scores)
    counts = np.minimum(np.floor(drop_fraction * (last - first) + 0.5), dim - (last - first)).astype(np.int64)
    places = np.concatenate([[0], np.cumsum(counts)])
    grown = np.empty(int(places[-1]), np.int32)
    exchanged = Exchanged(growth.rows, first, last, counts, places)
    _exchange(exchanged, table.positions, table.values, growth.scores, keep, grown)
    growth.release()
    table.change_support(keep, [grown], step)
    here = np.array([len(grown), np.searchsorted(grown, table.shape.n_users * dim)])
    all_grown, of_users = table.shape.total(here).tolist()
    return Exploration(all_grown, all_grown, of_users, 0, table.parameters())


class Exchanged(NamedTuple):
    """Rows that exchange entries."""

    rows: np.ndarray
    first: np.ndarray  # entries of row rows[j]: first[j] .. last[j]
    last: np.ndarray
    counts: np.ndarray  # how many to exchange
    places: np.ndarray  # where their new positions go


@compiled(parallel=True)
def _exchange(
    exchanged: Exchanged,
    positions: np.ndarray,
    values: np.ndarray,
    scores: np.ndarray,  # (rows, dim) overwritten
    keep: np.ndarray,  # out
    grown: np.ndarray,  # out, ascending
) -> None:
    dim = scores.shape[1]
    rows, first, last, counts, places = exchanged
    for index in prange(len(rows)):
        line, origin = scores[index], rows[index] * dim
        for e in range(first[index], last[index]):
            line[positions[e] - origin] = np.float32(-1.0)
        for _ in range(counts[index]):
            smallest = -1
            for e in range(first[index], last[index]):
                if keep[e] and (smallest < 0 or abs(values[e]) < abs(values[smallest])):
                    smallest = e
            keep[smallest] = False
            best = 0
            for column in range(1, dim):
                if line[column] > line[best]:
                    best = column
            line[best] = np.float32(-2.0)  # marks it as grown
        written = places[index]
        for column in range(dim):
            if line[column] == np.float32(-2.0):
                grown[written] = origin + column
                written += 1


# The right axes: scores depend on inner products of rows alone, so a dense table may be rotated freely.
#
# Varimax (Kaiser, 1958) finds the axes on which rows have few large entries and many small ones: those can be cut with
# little loss, and say where a sparse table should have its entries. The rotation is found on some rows and applied to
# all.

SAMPLED_ROWS = 10_000
"""Rows that the rotation is found on: enough for 1,024 axes, a fraction of the time of a large table."""
ITERATIONS = 60
ENOUGH = 1e-5
"""Iterations end when the criterion gains less than this part of itself."""


def varimax(rows: np.ndarray, iterations: int = ITERATIONS) -> tuple[np.ndarray, int]:
    """Rotation (dim, dim) that makes the squared entries of `rows` vary most, and the iterations it took."""
    matrix = torch.from_numpy(np.ascontiguousarray(rows))
    rotation, before, done = torch.eye(matrix.shape[1]), 0.0, 0
    while done < iterations:
        done += 1
        turned = matrix @ rotation
        squares = turned.square()
        left, gains, right = torch.linalg.svd(matrix.T @ (turned * (squares - squares.mean(0))))
        rotation, now = left @ right, float(gains.sum())
        if now - before < ENOUGH * now:
            break
        before = now
    return rotation.numpy(), done


def rotated_table(
    table: DenseTable, sizes: np.ndarray, rng: np.random.Generator, unit: bool
) -> tuple[SparseTable, dict[str, Any]]:
    """The sizes[j] largest entries of every row j on rotated axes, without moments; and what the rotation took.

    With `unit` rows are scaled to length one before they are cut.
    """
    began, shape = time.perf_counter(), table.shape
    matrix = table.matrix()
    some = np.sort(rng.choice(shape.n_rows, min(shape.n_rows, SAMPLED_ROWS), replace=False))
    rotation, iterations = varimax(_unit(matrix[some]))
    positions, values = [], []
    for first in range(0, shape.n_rows, ROWS_AT_ONCE):
        part = matrix[first : first + ROWS_AT_ONCE]
        turned = (_unit(part) if unit else part) @ rotation
        chosen = np.flatnonzero(largest_of_rows(np.abs(turned), sizes[first : first + ROWS_AT_ONCE]))
        positions.append(first * shape.dim + chosen)
        values.append(turned.reshape(-1)[chosen])
    rows, columns = np.divmod(np.concatenate(positions), shape.dim)
    inside = [(columns >= start) & (columns < start + width) for start, width in shape.blocks]
    support = [
        (rows[here] * width + columns[here] - start).astype(np.int32)
        for here, (start, width) in zip(inside, shape.blocks)
    ]
    turned_values = np.concatenate(values)
    entries = np.concatenate([turned_values[here] for here in inside]).astype(np.float32)
    report = {
        "seconds": time.perf_counter() - began,
        "iterations": iterations,
        "bytes": 4 * (matrix.size + 3 * len(some) * shape.dim + 3 * shape.dim**2),
        "kept_energy": float(
            np.square(entries, dtype=np.float64).sum() / np.square(_unit(matrix) if unit else matrix).sum()
        ),
    }
    return SparseTable(shape, support, entries), report


def _unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
