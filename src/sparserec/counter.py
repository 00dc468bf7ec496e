"""Counter-based random numbers: a value is a pure function of (key, row, column).

Forward and backward pass, a resumed run and another process all see the same number without storing it, and a
value does not depend on the order in which values are drawn. The mixing function is splitmix64's finaliser.
"""

from __future__ import annotations

import math

import numpy as np
from numba import prange, uint64

from sparserec.compiled import compiled

Key = int | np.uint64


def key_of(*parts: int) -> np.uint64:
    """One 64-bit key from a few small integers, such as (seed, purpose, step, layer)."""
    # SeedSequence pads with zeros, so (1,) and (1, 0) would be one key: their number goes first.
    words = [len(parts), *(int(part) for part in parts)]
    return np.uint64(np.random.SeedSequence(words).generate_state(1, np.uint64)[0])


@compiled(inline="always")
def bits(key: Key, row: int, column: int) -> np.uint64:
    """64 well mixed bits for one position."""
    z = uint64(key) + uint64(row) * uint64(0x9E3779B97F4A7C15) + uint64(column) * uint64(0xD1B54A32D192ED03)
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@compiled(inline="always")
def uniform(key: Key, row: int, column: int) -> float:
    """A number in (0, 1): never exactly 0, so that its logarithm exists."""
    return (float(bits(key, row, column) >> uint64(40)) + 0.5) * (1.0 / (1 << 24))


@compiled(inline="always")
def normal(key: Key, row: int, column: int) -> float:
    """A standard normal number by Box-Muller."""
    first = uniform(key, row, column)
    second = uniform(key ^ uint64(0xA5A5A5A5A5A5A5A5), row, column)
    return math.sqrt(-2.0 * math.log(first)) * math.cos(2.0 * math.pi * second)


@compiled(inline="always")
def dropout_factor(key: Key, rate: float, row: int, column: int) -> np.float32:
    """0 with probability `rate`, else 1 / (1 - rate): inverted dropout of one entry."""
    return np.float32(0.0) if uniform(key, row, column) < rate else np.float32(1.0 / (1.0 - rate))


@compiled(parallel=True)
def _fill_normal(key: Key, rows: np.ndarray, columns: np.ndarray, scale: float, out: np.ndarray) -> None:
    for e in prange(out.shape[0]):
        out[e] = scale * normal(key, rows[e], columns[e])


@compiled(parallel=True)
def _fill_uniform(key: Key, rows: np.ndarray, columns: np.ndarray, bound: float, out: np.ndarray) -> None:
    for e in prange(out.shape[0]):
        out[e] = bound * (2.0 * uniform(key, rows[e], columns[e]) - 1.0)


def normal_at(key: Key, rows: np.ndarray, columns: np.ndarray, scale: float) -> np.ndarray:
    """float32 N(0, scale^2) at the given positions."""
    out = np.empty(len(rows), np.float32)
    _fill_normal(key, rows, columns, scale, out)
    return out


def uniform_at(key: Key, rows: np.ndarray, columns: np.ndarray, bound: float) -> np.ndarray:
    """float32 uniform on (-bound, bound) at the given positions."""
    out = np.empty(len(rows), np.float32)
    _fill_uniform(key, rows, columns, bound, out)
    return out
