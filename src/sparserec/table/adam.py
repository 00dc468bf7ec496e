"""Adam on a flat array of parameters, with an own age per entry for the bias correction.

A weight that is regrown starts with zero moments. Under one global step counter its first steps would be up to
6.5 times the learning rate; corrected by its own age it behaves like any fresh weight. Ages are kept as one byte:
the cohort an entry was born in. Cohorts older than 255 changes of the support merge into cohort 0, whose correction
is that of the run's first step: by then both corrections are close to 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from sparserec.compiled import compiled
from sparserec.counter import Key, dropout_factor

# What a step does to one entry of any table, compiled into the loops over them: dropout, decay and Adam.
#
# What is read together is handed over as one named tuple. Arrays that are written to are arguments of their own: numba
# takes a parallel loop that writes to an array of a tuple for one without effect, and leaves it out.

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


class BlockDropout(NamedTuple):
    """Entry dropout of one step in the block of columns that begins at `start`; rate 0: none."""

    key: Key
    rate: float
    start: int


class StepSizes(NamedTuple):
    """Of Adam, for each cohort: learning rate over the first correction, and root of the second; float32."""

    sizes: np.ndarray
    roots: np.ndarray


@compiled(inline="always")
def dropped(value, row, column, dropout):  # type: ignore[no-untyped-def]
    """An entry, or its gradient, after dropout."""
    if dropout.rate > 0.0:
        value *= dropout_factor(dropout.key, dropout.rate, row, dropout.start + column)
    return value


@compiled(inline="always")
def own_gradient(gradient, value, row, column, row_decay, dropout):  # type: ignore[no-untyped-def]
    """The gradient by an entry itself, from that by the entry as the filter saw it: through dropout, and with decay."""
    return dropped(gradient, row, column, dropout) + row_decay[row] * value


@compiled(inline="always")
def adam_entry(value, gradient, first, second, size, root):  # type: ignore[no-untyped-def]
    """Value and moments after one step of Adam."""
    first = np.float32(BETA_1) * first + np.float32(1.0 - BETA_1) * gradient
    second = np.float32(BETA_2) * second + np.float32(1.0 - BETA_2) * gradient * gradient
    value -= size * first / (np.sqrt(second) / root + np.float32(EPSILON))
    return value, first, second


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

    def step_sizes(self, step: int, learning_rate: float) -> StepSizes:
        """Of every cohort at update `step`."""
        age = np.maximum(step - np.asarray(self.births, np.float64), 1.0)
        first, second = 1.0 - BETA_1**age, 1.0 - BETA_2**age
        return StepSizes((learning_rate / first).astype(np.float32), np.sqrt(second).astype(np.float32))


class Active(NamedTuple):
    """Where the active entries of a block are, and their cohorts."""

    positions: np.ndarray  # int32 (n,) row * width + column inside the block
    width: int
    ages: np.ndarray


@compiled(parallel=True)
def update_active(
    active: Active,
    gradient: np.ndarray,  # of the active entries alone, or of all of the block, flat
    row_decay: np.ndarray,  # float32 (nodes,) weight of half the squared row in the loss
    dropout: BlockDropout,
    steps: StepSizes,
    values: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
) -> None:
    """One Adam step on the active entries of a block."""
    aligned = len(gradient) == len(values)
    for e in prange(len(values)):
        position, age = active.positions[e], active.ages[e]
        row, column = position // active.width, position % active.width
        entry = gradient[e] if aligned else gradient[position]
        slope = own_gradient(entry, values[e], row, column, row_decay, dropout)
        values[e], first[e], second[e] = adam_entry(
            values[e], slope, first[e], second[e], steps.sizes[age], steps.roots[age]
        )


@compiled(parallel=True)
def update_dense(
    gradient: np.ndarray,  # (nodes, width)
    row_decay: np.ndarray,
    dropout: BlockDropout,
    steps: StepSizes,
    values: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
) -> None:
    """One Adam step on every entry of a dense block."""
    size, root = steps.sizes[0], steps.roots[0]
    for row in prange(gradient.shape[0]):
        for column in range(gradient.shape[1]):
            value = values[row, column]
            slope = own_gradient(gradient[row, column], value, row, column, row_decay, dropout)
            values[row, column], first[row, column], second[row, column] = adam_entry(
                value, slope, first[row, column], second[row, column], size, root
            )
