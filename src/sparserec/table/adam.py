"""Adam on a flat array of parameters, with an own age per entry for the bias correction.

A weight that is regrown starts with zero moments. Under one global step counter its first steps would be up to
6.5 times the learning rate; corrected by its own age it behaves like any fresh weight. Ages are kept as one byte:
the cohort an entry was born in. Cohorts older than 255 changes of the support merge into cohort 0, whose correction
is that of the run's first step: by then both corrections are close to 1.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from sparserec.counter import dropout_factor

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
COHORTS = 256


class Cohorts:
    """Birth step of every cohort alive; an entry's byte indexes it."""

    def __init__(self, births: list[int] | None = None) -> None:
        self.births = births or [0]

    def new(self, step: int, ages: np.ndarray) -> int:
        """Open a cohort for entries born after update `step`; merges the two oldest when the byte is full."""
        if len(self.births) == COHORTS:
            np.subtract(ages, 1, out=ages, where=ages > 0)
            del self.births[1]
        self.births.append(step)
        return len(self.births) - 1

    def step_sizes(self, step: int, learning_rate: float) -> tuple[np.ndarray, np.ndarray]:
        """Per cohort: learning rate over first correction, and root of second correction, at update `step`."""
        age = np.maximum(step - np.asarray(self.births, np.float64), 1.0)
        first, second = 1.0 - BETA_1**age, 1.0 - BETA_2**age
        return (learning_rate / first).astype(np.float32), np.sqrt(second).astype(np.float32)


@njit(inline="always")
def adam_entry(value, gradient, first, second, size, root):  # type: ignore[no-untyped-def]
    first = np.float32(BETA_1) * first + np.float32(1.0 - BETA_1) * gradient
    second = np.float32(BETA_2) * second + np.float32(1.0 - BETA_2) * gradient * gradient
    value -= size * first / (np.sqrt(second) / root + np.float32(EPSILON))
    return value, first, second


@njit(cache=True, parallel=True)
def update_sparse(
    positions: np.ndarray,  # int32 (n,) row * width + column inside the block
    width: int,
    block_gradient: np.ndarray,  # (nodes * width,) flat gradient of the block
    row_decay: np.ndarray,  # float32 (nodes,) weight of half the squared row in the loss
    drop_key: int,  # entry dropout of this step; drop_rate 0 means none
    drop_rate: float,
    first_column: int,
    sizes: np.ndarray,
    roots: np.ndarray,
    values: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    ages: np.ndarray,
) -> None:
    """One Adam step on the active entries of a block, straight from the block's dense gradient."""
    for e in prange(len(positions)):
        row = positions[e] // width
        gradient = block_gradient[positions[e]]
        if drop_rate > 0.0:
            gradient *= dropout_factor(drop_key, drop_rate, row, first_column + positions[e] % width)
        gradient += row_decay[row] * values[e]
        age = ages[e]
        values[e], first[e], second[e] = adam_entry(
            values[e], gradient, first[e], second[e], sizes[age], roots[age]
        )


@njit(cache=True, parallel=True)
def update_entries(
    gradient: np.ndarray,  # (n,) of the active entries themselves
    positions: np.ndarray,
    width: int,
    row_decay: np.ndarray,
    sizes: np.ndarray,
    roots: np.ndarray,
    values: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    ages: np.ndarray,
) -> None:
    """One Adam step on active entries whose gradient is at hand."""
    for e in prange(len(gradient)):
        age, slope = ages[e], gradient[e] + row_decay[positions[e] // width] * values[e]
        values[e], first[e], second[e] = adam_entry(
            values[e], slope, first[e], second[e], sizes[age], roots[age]
        )


@njit(cache=True, parallel=True)
def update_dense(
    gradient: np.ndarray,  # (nodes, width)
    row_decay: np.ndarray,
    drop_key: int,
    drop_rate: float,
    first_column: int,
    size: float,
    root: float,
    values: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
) -> None:
    """One Adam step on every entry of a dense block."""
    for row in prange(gradient.shape[0]):
        for column in range(gradient.shape[1]):
            entry = gradient[row, column]
            if drop_rate > 0.0:
                entry *= dropout_factor(drop_key, drop_rate, row, first_column + column)
            entry += row_decay[row] * values[row, column]
            values[row, column], first[row, column], second[row, column] = adam_entry(
                values[row, column],
                entry,
                first[row, column],
                second[row, column],
                np.float32(size),
                np.float32(root),
            )
