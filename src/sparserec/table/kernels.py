"""What a step does to one entry of any table, compiled into the loops over them: dropout, decay and Adam.

What is read together is handed over as one named tuple. Arrays that are written to are arguments of their own: numba
takes a parallel loop that writes to an array of a tuple for one without effect, and leaves it out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparserec.compiled import compiled
from sparserec.counter import Key, dropout_factor

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
