"""What follows the matrix of a layer: batch normalisation over all rows, and Mish, y * tanh(log(1 + e^y)).

A pass over the rows each way, where a framework takes one for every operation, and nothing is kept but what the matrix
gave: all else of the gradient is made from it again. With w = e^y and n = w (w + 2), Mish is y n / (n + 2), and its
slope n / (n + 2) + 4 y w (w + 1) / (n + 2)^2.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from sparserec.compiled import FAST, compiled, fast_exp

EPSILON = 1e-5
"""Added to the variance, as torch does."""
TASKS = 64
"""Stretches of rows that sum by themselves; sums do not depend on the number of threads."""
STEEPEST = np.float32(20.0)
"""From here on Mish is y itself, and the square of e^(2y) still a float32."""


class Normalised:
    """The rows that a matrix gave, and their mean and deviation in every column."""

    def __init__(self, before: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> None:
        """float32 (rows, width), and (width,) twice."""
        sums, squares = _sums(before, _edges(len(before)))
        mean = sums.sum(0) / len(before)
        variance = np.maximum(squares.sum(0) / len(before) - mean**2, 0.0)
        deviation = 1.0 / np.sqrt(variance + EPSILON)
        self.before = before
        self.mean, self.inverse = mean.astype(np.float32), deviation.astype(np.float32)
        self.slope = (scale * deviation).astype(np.float32)  # y = slope * (before - mean) + shift
        self.shift = shift

    def forward(self, out: np.ndarray) -> np.ndarray:
        """Mish of the normalised rows, into `out`."""
        _forward(self.before, self.mean, self.slope, self.shift, out)
        return out

    def backward(self, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """From the gradient on the result, which becomes that on `before`, those on scale and shift."""
        count = len(self.before)
        by_shift, by_scale = _through_mish(
            self.before, self.mean, self.inverse, self.slope, self.shift, gradient, _edges(count)
        )
        of_shift, of_scale = (part.sum(0).astype(np.float32) for part in (by_shift, by_scale))
        share = np.float32(1.0 / count)
        _through_mean(
            self.before, self.mean, self.inverse, self.slope, of_shift * share, of_scale * share, gradient
        )
        return of_scale, of_shift


def _edges(count: int) -> np.ndarray:
    return np.arange(TASKS + 1) * count // TASKS


@compiled(parallel=True, fastmath=FAST)
def _sums(before: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the values and of their squares, (tasks, width) each, in double precision."""
    sums, squares = np.zeros((2, len(edges) - 1, before.shape[1]))
    for task in prange(len(edges) - 1):
        for row in range(edges[task], edges[task + 1]):
            for column in range(before.shape[1]):
                value = np.float64(before[row, column])
                sums[task, column] += value
                squares[task, column] += value * value
    return sums, squares


@compiled(parallel=True, fastmath=FAST)
def _forward(
    before: np.ndarray, mean: np.ndarray, slope: np.ndarray, shift: np.ndarray, out: np.ndarray
) -> None:
    for row in prange(before.shape[0]):
        for column in range(before.shape[1]):
            y = slope[column] * (before[row, column] - mean[column]) + shift[column]
            w = fast_exp(min(y, STEEPEST))
            n = w * (w + np.float32(2.0))
            out[row, column] = y * n / (n + np.float32(2.0))


@compiled(parallel=True, fastmath=FAST)
def _through_mish(
    before: np.ndarray,
    mean: np.ndarray,
    inverse: np.ndarray,
    slope: np.ndarray,
    shift: np.ndarray,
    gradient: np.ndarray,  # on Mish, then on what it was taken of
    edges: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Sums for shift and scale, (tasks, width) each."""
    by_shift, by_scale = np.zeros((2, len(edges) - 1, before.shape[1]))
    for task in prange(len(edges) - 1):
        for row in range(edges[task], edges[task + 1]):
            for column in range(before.shape[1]):
                apart = before[row, column] - mean[column]
                y = slope[column] * apart + shift[column]
                w = fast_exp(min(y, STEEPEST))
                n = w * (w + np.float32(2.0))
                part = np.float32(1.0) / (n + np.float32(2.0))
                steep = n * part + np.float32(4.0) * y * w * (w + np.float32(1.0)) * part * part
                change = gradient[row, column] * steep
                gradient[row, column] = change
                by_shift[task, column] += change
                by_scale[task, column] += change * apart * inverse[column]
    return by_shift, by_scale


@compiled(parallel=True, fastmath=FAST)
def _through_mean(
    before: np.ndarray,
    mean: np.ndarray,
    inverse: np.ndarray,
    slope: np.ndarray,
    of_shift: np.ndarray,  # (width,) per row
    of_scale: np.ndarray,
    gradient: np.ndarray,
) -> None:
    """A row's part of the mean and deviation that it was normalised by."""
    for row in prange(before.shape[0]):
        for column in range(before.shape[1]):
            normal = (before[row, column] - mean[column]) * inverse[column]
            rest = gradient[row, column] - of_shift[column] - normal * of_scale[column]
            gradient[row, column] = slope[column] * rest
