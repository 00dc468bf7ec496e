"""Inverted dropout on edges and on outputs, drawn from counters: both passes see one mask and nobody stores it."""

from __future__ import annotations

import numpy as np
from numba import prange

from sparserec.compiled import compiled
from sparserec.counter import Key, dropout_factor
from sparserec.graph.adjacency import Adjacency

PARTIAL_SUMS = 64
"""A sum is taken over this many fixed stretches of rows, so that it does not depend on the number of threads."""


def dropped_weights(graph: Adjacency, key: Key, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Edge weights under one mask of the stored entries, and those of the transposed matrix.

    The two directions of an edge are dropped independently. The mask is a function of (row, column), so the transpose
    only swaps the two: no permutation of entries is needed.
    """
    weights, transposed = np.empty_like(graph.weights), np.empty_like(graph.weights)
    _drop_edges(graph.offsets, graph.neighbours, graph.weights, key, rate, weights, transposed)
    return weights, transposed


def decay_gradient(block: np.ndarray, first_column: int, key: Key, rate: float, decay: float) -> float:
    """Turn outputs before dropout, shape (nodes, width), into the gradient of decay/2 |dropped output|^2.

    Returns that penalty.
    """
    sums = np.zeros(PARTIAL_SUMS)
    _decay_gradient(block, first_column, key, rate, decay, sums)
    return 0.5 * decay * float(sums.sum())


@compiled(parallel=True)
def _drop_edges(
    offsets: np.ndarray,
    neighbours: np.ndarray,
    weights: np.ndarray,
    key: Key,
    rate: float,
    out: np.ndarray,
    transposed: np.ndarray,
) -> None:
    for row in prange(len(offsets) - 1):
        for edge in range(offsets[row], offsets[row + 1]):
            out[edge] = weights[edge] * dropout_factor(key, rate, row, neighbours[edge])
            transposed[edge] = weights[edge] * dropout_factor(key, rate, neighbours[edge], row)


@compiled(parallel=True)
def drop_entries(block: np.ndarray, rows: np.ndarray, key: Key, rate: float, first_column: int = 0) -> None:
    """Drop entries of gathered rows in place; used on outputs and again on their gradient."""
    for position in prange(block.shape[0]):
        for column in range(block.shape[1]):
            block[position, column] *= dropout_factor(key, rate, rows[position], first_column + column)


@compiled(parallel=True, fastmath={"contract", "reassoc"})
def _decay_gradient(
    block: np.ndarray, first_column: int, key: Key, rate: float, decay: float, sums: np.ndarray
) -> None:
    stretch = -(-block.shape[0] // len(sums))
    for part in prange(len(sums)):
        total = 0.0
        for row in range(part * stretch, min(block.shape[0], (part + 1) * stretch)):
            for column in range(block.shape[1]):
                factor = dropout_factor(key, rate, row, first_column + column)
                value = factor * block[row, column]
                total += value * value
                block[row, column] = decay * factor * value
        sums[part] = total
