"""Entries allocated to rows, exchanged within rows, and the axes they are best on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.exploration import LargestScores
from sparserec.exploration.even_rows import (
    allocate_entries,
    even_support,
    exchange_in_rows,
    rotated_table,
    varimax,
)
from sparserec.table import DenseTable, Shape, SparseTable


@given(
    st.lists(st.integers(0, 500), min_size=1, max_size=30),
    st.integers(1, 12),
    st.floats(0, 1),
    st.floats(0.02, 1),
)
def test_dealing_is_exact_and_frequent_rows_get_no_less(
    counts: list[int], dim: int, exponent: float, density: float
) -> None:
    target = max(1, round(density * len(counts) * dim))
    sizes = allocate_entries(np.array(counts), target, dim, exponent)
    assert sizes.sum() == target
    assert sizes.max() <= dim and sizes.min() >= (1 if target >= len(counts) else 0)
    order = np.argsort(counts, kind="stable")
    assert (np.diff(sizes[order]) >= -1).all(), "rounding moves a row by one entry at most"


def test_dealing_by_hand() -> None:
    assert allocate_entries(np.array([1, 4, 9]), 6, 8).tolist() == [2, 2, 2]
    assert allocate_entries(np.array([1, 4, 9]), 7, 8).tolist() == [
        2,
        2,
        3,
    ]  # what is left goes to the most frequent
    assert allocate_entries(np.array([1, 4, 9]), 12, 8, 0.5).tolist() == [2, 4, 6]
    assert allocate_entries(np.array([1, 4, 9]), 12, 5, 0.5).tolist() == [2, 5, 5]


def test_every_row_takes_its_largest_given_entries_and_fills_up_at_random() -> None:
    shape = Shape(0, 3, 4, 4)
    given_entries = (
        np.array([0, 0, 0, 1], np.int32), np.array([3, 1, 0, 2], np.int32), np.array([0.2, 0.9, 0.5, 0.1], np.float32)
    )  # fmt: skip
    found = even_support(shape, np.array([2, 2, 1]), np.random.default_rng(0), given_entries)
    rows = [found[(found >= 4 * row) & (found < 4 * row + 4)] - 4 * row for row in range(3)]
    assert rows[0].tolist() == [0, 1] and 2 in rows[1] and [len(row) for row in rows] == [2, 2, 1]
    others = {
        tuple(even_support(shape, np.array([2, 2, 1]), np.random.default_rng(seed), given_entries))
        for seed in range(9)
    }
    assert len(others) > 1


def test_an_exchange_by_hand() -> None:
    """Rows of five columns, two of three entries each; row 1 is no candidate. Half of three rounds to two."""
    shape = Shape(0, 3, 5, 5)
    positions = np.array([0, 1, 3, 5, 6, 9, 10, 12, 13], np.int32)
    values = np.array([0.1, -2, 0.3, 1, 1, 1, 3, -0.2, 0.2], np.float32)
    table = SparseTable(shape, [positions], values)
    scores = np.array([[9, 9, -4, 9, 5], [7, -1, 7, 7, 0.5]], np.float32)
    done = exchange_in_rows(table, 0.5, 3, LargestScores(np.array([0, 2], np.int32), scores))
    assert table.positions.tolist() == [1, 2, 4, 5, 6, 9, 10, 11, 14]
    assert table.values.tolist() == pytest.approx([-2, 0, 0, 1, 1, 1, 3, 0, 0])
    assert (done.dropped, done.grown, done.regrown_at_once, done.active) == (4, 4, 0, 9)


@given(st.integers(0, 50), st.floats(0, 0.9))
def test_an_exchange_keeps_the_size_of_every_row(seed: int, fraction: float) -> None:
    rng, shape = np.random.default_rng(seed), Shape(0, 9, 6, 6)
    positions = np.flatnonzero(rng.random(54) < 0.6).astype(np.int32)
    table = SparseTable(shape, [positions], rng.standard_normal(len(positions)).astype(np.float32))
    before, sizes = table.positions.copy(), table.row_sizes()
    rows = np.sort(rng.choice(9, 5, replace=False)).astype(np.int32)
    exchange_in_rows(table, fraction, 1, LargestScores(rows, rng.standard_normal((5, 6)).astype(np.float32)))
    np.testing.assert_array_equal(table.row_sizes(), sizes)
    assert (np.diff(table.positions) > 0).all()
    changed = np.setdiff1d(before, table.positions) // 6
    assert set(changed) <= set(rows)


def sparse_rows(seed: int, n_rows: int = 400, dim: int = 12) -> np.ndarray:
    """Two large entries in every row, the rest noise."""
    rng = np.random.default_rng(seed)
    matrix = 0.02 * rng.standard_normal((n_rows, dim))
    for row in range(n_rows):
        matrix[row, rng.choice(dim, 2, replace=False)] += rng.choice([-1.0, 1.0], 2)
    return matrix.astype(np.float32)


def random_rotation(dim: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(1).standard_normal((dim, dim)))[0].astype(np.float32)


def test_varimax_finds_axes_that_were_turned_away() -> None:
    plain = sparse_rows(0)
    rotation, _ = varimax(plain @ random_rotation(12))
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(12), atol=1e-4)
    found = random_rotation(12) @ rotation
    assert np.abs(found).max(axis=0).min() > 0.95, "every axis is an old one again, up to order and sign"


@pytest.mark.parametrize("width", [12, 5])
def test_a_rotated_table_keeps_nearly_all_where_a_plain_cut_does_not(width: int) -> None:
    turned = sparse_rows(0) @ random_rotation(12)
    shape = Shape(0, 400, 12, width)
    blocks = [np.ascontiguousarray(turned[:, start : start + size]) for start, size in shape.blocks]
    sizes = np.full(400, 2)
    table, report = rotated_table(DenseTable(shape, blocks), sizes, np.random.default_rng(0), unit=False)
    np.testing.assert_array_equal(table.row_sizes(), sizes)
    kept = float(np.square(table.values).sum() / np.square(turned).sum())
    plain = np.sort(np.square(turned), axis=1)[:, -2:].sum() / np.square(turned).sum()
    assert kept > 0.95 > 0.85 > plain and report["kept_energy"] == pytest.approx(kept, rel=1e-4)


def test_unit_rows_before_the_cut() -> None:
    turned = 7.0 * sparse_rows(2) @ random_rotation(12)
    table, _ = rotated_table(
        DenseTable(Shape(0, 400, 12, 12), [turned]), np.full(400, 12), np.random.default_rng(0), unit=True
    )
    np.testing.assert_allclose(np.square(table.values).reshape(400, 12).sum(axis=1), 1.0, rtol=1e-4)
