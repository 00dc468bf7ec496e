"""Counter-based random numbers: pure, order-free, well spread, and equal to splitmix64 done with Python integers."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from sparserec.counter import bits, dropout_factor, key_of, normal_at, uniform, uniform_at

WORD = 2**64


@njit
def _bits(key, row, column):  # type: ignore[no-untyped-def]
    return bits(key, row, column)


@njit
def _uniform(key, row, column):  # type: ignore[no-untyped-def]
    return uniform(key, row, column)


@njit
def _factor(key, rate, row, column):  # type: ignore[no-untyped-def]
    return dropout_factor(key, rate, row, column)


def splitmix(key: int, row: int, column: int) -> int:
    """The published finaliser with Python's unbounded integers."""
    z = (key + row * 0x9E3779B97F4A7C15 + column * 0xD1B54A32D192ED03) % WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


@given(st.integers(0, WORD - 1), st.integers(0, 2**31 - 1), st.integers(0, 4096))
def test_bits_are_splitmix64(key: int, row: int, column: int) -> None:
    expected = splitmix(key, row, column)
    assert int(_bits(np.uint64(key), row, column)) == expected
    assert _uniform(np.uint64(key), row, column) == ((expected >> 40) + 0.5) / 2**24


def test_row_ids_of_any_integer_type_give_the_same_number() -> None:
    key = key_of(3, 1)
    wide, narrow = np.arange(50, dtype=np.int64), np.arange(50, dtype=np.int32)
    np.testing.assert_array_equal(normal_at(key, wide, wide, 1.0), normal_at(key, narrow, narrow, 1.0))


def test_a_value_does_not_depend_on_what_else_is_drawn() -> None:
    key, rng = key_of(7), np.random.default_rng(0)
    rows, columns = rng.integers(0, 1000, 500, np.int32), rng.integers(0, 64, 500, np.int32)
    order = rng.permutation(500)
    np.testing.assert_array_equal(
        normal_at(key, rows, columns, 0.1)[order], normal_at(key, rows[order], columns[order], 0.1)
    )


def test_normal_has_the_moments_and_tails_of_a_normal() -> None:
    rows, columns = (part.ravel().astype(np.int32) for part in np.mgrid[:2000, :64])
    values = normal_at(key_of(1, 2), rows, columns, 2.0).astype(np.float64) / 2.0
    error = 1 / math.sqrt(len(values))
    assert abs(values.mean()) < 4 * error
    assert abs(values.var() - 1) < 4 * math.sqrt(2) * error
    assert abs((values**4).mean() - 3) < 4 * math.sqrt(96) * error
    assert abs((np.abs(values) > 1.959964).mean() - 0.05) < 4 * math.sqrt(0.05 * 0.95) * error
    grid = values.reshape(2000, 64)
    assert abs((grid[:, :-1] * grid[:, 1:]).mean()) < 4 * error  # neighbours in a row are unrelated
    assert abs((grid[:-1] * grid[1:]).mean()) < 4 * error


def test_uniform_stays_inside_its_bound_and_fills_it_evenly() -> None:
    rows = np.arange(100_000, dtype=np.int32)
    values = uniform_at(key_of(5), rows, np.zeros_like(rows), 0.25)
    assert np.abs(values).max() <= 0.25
    counts = np.histogram(values, 20, (-0.25, 0.25))[0]
    assert np.abs(counts - 5000).max() < 5 * math.sqrt(5000)


def test_keys_differ_by_every_part_and_by_order() -> None:
    keys = {int(key_of(*parts)) for parts in [(0,), (1,), (0, 1), (1, 0), (0, 1, 2), (0, 2, 1), (2, 1, 0)]}
    assert len(keys) == 7


def test_dropout_keeps_the_expectation() -> None:
    key = key_of(9)
    factors = np.array([_factor(key, 0.3, row, 3) for row in range(20_000)])
    assert set(np.unique(factors)) == {np.float32(0.0), np.float32(1 / 0.7)}
    assert abs((factors == 0).mean() - 0.3) < 4 * math.sqrt(0.21 / 20_000)
