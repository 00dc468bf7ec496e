"""The right axes: scores depend on inner products of rows alone, so a dense table may be rotated freely.

Varimax (Kaiser, 1958) finds the axes on which rows have few large entries and many small ones: those can be cut with
little loss, and say where a sparse table should have its entries. The rotation is found on some rows and applied to
all.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from sparserec.exploration.even_rows import ROWS_AT_ONCE, largest_of_rows
from sparserec.table import DenseTable, SparseTable

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
        chosen = largest_of_rows(np.abs(turned), sizes[first : first + ROWS_AT_ONCE])
        positions.append(first * shape.dim + chosen)
        values.append(turned.reshape(-1)[chosen])
    support, entries = _by_block(shape.blocks, np.concatenate(positions), np.concatenate(values), shape.dim)
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


def _by_block(
    blocks: list[tuple[int, int]], positions: np.ndarray, values: np.ndarray, dim: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """Flat positions of the whole table as positions of each block, and the values in that order."""
    rows, columns = np.divmod(positions, dim)
    support, ordered = [], []
    for start, width in blocks:
        inside = (columns >= start) & (columns < start + width)
        support.append((rows[inside] * width + columns[inside] - start).astype(np.int32))
        ordered.append(values[inside])
    return support, np.concatenate(ordered).astype(np.float32)
