"""Sums that come out the same in every language: operands are rounded to a grid on which float64 addition is exact.

Why: readers must agree on a ranking to the last bit, and numpy, BLAS and JavaScript add in different orders. On a
coarse enough grid no addition rounds, so the order stops mattering, and everyone is free to use whatever is fast.
"""

from __future__ import annotations

import math

import numpy as np


def snap(values: np.ndarray, bits: int) -> np.ndarray:
    """Round to multiples of p * 2^-bits, p the smallest power of two above the largest magnitude."""
    largest = max(float(values.max()), -float(values.min())) if len(values) else 0.0
    if largest == 0.0:
        return values
    power = math.ldexp(1.0, math.frexp(largest)[1])
    shift = 1.5 * power * 2.0 ** (52 - bits)
    return (values + shift) - shift


def snap_rows(values: np.ndarray, bits: int) -> np.ndarray:
    """The same for each row of a matrix by itself."""
    largest = np.maximum(values.max(axis=1), -values.min(axis=1))
    power = np.ldexp(1.0, np.frexp(largest)[1])  # a row of zeros stays one, whatever the power
    shift = (1.5 * power * 2.0 ** (52 - bits))[:, None]
    return (values + shift) - shift


def bits_for(count: int) -> int:
    """Smallest number of bits b with 2^b >= count."""
    return max(int(count) - 1, 0).bit_length()
