"""Product codes: by hand, and what turning the axes buys."""

from __future__ import annotations

import numpy as np
import pytest

from sparserec.encodings.codes import balanced_axes, looked_up, means, nearest_entries, product_codes


def test_nearest_and_means_by_hand() -> None:
    """Two slices of one column; entries 0 and 10, -1 and 1. Vectors 1 and 3 are nearer 0, 9 is nearer 10."""
    books = np.array([[[0.0], [10.0]], [[-1.0], [1.0]]])
    vectors = np.array([[1.0, -3.0], [3.0, -1.0], [9.0, -2.0]])
    code = nearest_entries(vectors, books)
    assert code.tolist() == [[0, 0], [0, 0], [1, 0]]
    moved = means(vectors, code, books, np.random.default_rng(0))
    assert moved[0].tolist() == [[2.0], [9.0]] and moved[1, 0].tolist() == [-2.0]
    assert moved[1, 1, 0] in vectors[:, 1]  # nobody's entry starts again at some vector
    assert looked_up(code, moved).tolist() == [[2.0, -2.0], [2.0, -2.0], [9.0, -2.0]]


def test_axes_are_allocated_evenly() -> None:
    """Variances 16, 9, 4, 1 in two slices: the largest and the smallest go together."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((4000, 4)) * [4.0, 3.0, 2.0, 1.0]
    axes = balanced_axes(vectors, 2)
    assert axes.T @ axes == pytest.approx(np.eye(4), abs=1e-9)
    variance = ((vectors @ axes) ** 2).mean(axis=0).reshape(2, 2).prod(axis=1)
    assert variance[0] / variance[1] == pytest.approx(16 / 36, rel=0.2)


def test_turning_the_axes_lowers_the_error() -> None:
    """Columns that repeat each other across slices waste codes; on the right axes they do not."""
    rng = np.random.default_rng(2)
    hidden = rng.standard_normal((3000, 4))
    mixed = (hidden @ rng.standard_normal((4, 8)) + 0.1 * rng.standard_normal((3000, 8))).astype(np.float32)
    turned = product_codes(mixed, 4)
    plain = product_codes(mixed, 4, axes=np.eye(8, dtype=np.float32))
    assert turned.axes.T @ turned.axes == pytest.approx(np.eye(8), abs=1e-4)

    def error(codes) -> float:  # type: ignore[no-untyped-def]
        return float(((looked_up(codes.code, codes.book) - mixed @ codes.axes) ** 2).sum())

    assert error(turned) < 0.6 * error(plain)


def test_few_vectors_have_few_entries() -> None:
    codes = product_codes(np.arange(12.0).reshape(3, 4), 2)
    assert codes.book.shape == (2, 3, 2) and codes.code.max() < 3


def test_slices_need_not_divide_the_columns() -> None:
    """Three slices of ten columns have three each: the axis with the least variance is left out."""
    rng = np.random.default_rng(4)
    vectors = (rng.standard_normal((2000, 10)) * ([1.0] * 9 + [0.01])).astype(np.float32)
    codes = product_codes(vectors, 3)
    assert codes.axes.shape == (10, 9) and codes.book.shape[2] == 3
    assert codes.axes.T @ codes.axes == pytest.approx(np.eye(9), abs=1e-4)
    assert np.abs(codes.axes[9]).max() < 0.1
