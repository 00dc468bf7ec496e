"""The multiply against a dense product: all widths, some rows, few and many edges."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numba.core.errors import TypingError

from sparserec.graph.multiply import AHEAD, Matrix


def random_csr(rows: int, columns: int, seed: int, dtype: type = np.float32) -> scipy.sparse.csr_matrix:
    matrix = scipy.sparse.random(rows, columns, 0.15, "csr", np.float64, np.random.default_rng(seed))
    matrix.data -= 0.5
    matrix = matrix.astype(dtype)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


def product(matrix: scipy.sparse.csr_matrix, block: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    out = np.full((matrix.shape[0] if rows is None else len(rows), block.shape[1]), np.nan, block.dtype)
    Matrix(matrix.indptr, matrix.indices, matrix.data, rows).multiply(block, out)
    return out


@pytest.mark.parametrize("width", [1, 3, 4, 7, 16, 22, 33, 64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_is_the_dense_product(width: int, dtype: type) -> None:
    matrix = random_csr(23, 41, width, dtype)
    block: np.ndarray = np.random.default_rng(1).standard_normal((41, width)).astype(dtype)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(product(matrix, block), matrix.toarray() @ block, atol=tolerance)


def test_a_matrix_without_entries_gives_zeros() -> None:
    empty = scipy.sparse.csr_matrix((4, 5), dtype=np.float32)
    assert not product(empty, np.ones((5, 2), np.float32)).any()
    assert not product(empty, np.ones((5, 16), np.float32), np.array([2], np.int32)).any()


@pytest.mark.parametrize("rows", [[], [0], [5, 7, 22], list(range(23)), [22, 3, 3]])
def test_some_rows_are_those_of_the_whole_product(rows: list[int]) -> None:
    matrix, wanted = random_csr(23, 41, 5), np.array(rows, np.int32)
    block: np.ndarray = np.random.default_rng(2).standard_normal((41, 20)).astype(np.float32)
    np.testing.assert_array_equal(product(matrix, block, wanted), product(matrix, block)[wanted])


@given(st.lists(st.integers(0, 3 * AHEAD), min_size=1, max_size=12), st.integers(0, 99))
def test_rows_of_any_length(lengths: list[int], seed: int) -> None:
    """Rows are fetched ahead of their edges: also where a row, or the matrix, ends before that."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    neighbours = rng.integers(0, 9, offsets[-1], np.int32)
    weights, block = rng.standard_normal(offsets[-1]), rng.standard_normal((9, 20))
    out = np.full((len(lengths), 20), np.nan)
    Matrix(offsets, neighbours, weights).multiply(block, out)
    parts = np.split(weights[:, None] * block[neighbours], offsets[1:-1])
    np.testing.assert_allclose(out, [part.sum(0) for part in parts], atol=1e-12)


def test_columns_do_not_know_their_block() -> None:
    """A column has the same bits alone or beside others, so that blocks may be cut anywhere."""
    matrix = random_csr(30, 30, 3)
    block: np.ndarray = np.random.default_rng(4).standard_normal((30, 32)).astype(np.float32)
    whole = product(matrix, block)
    for start, stop in ((0, 16), (16, 32), (5, 6), (8, 15)):
        part = np.ascontiguousarray(block[:, start:stop])
        np.testing.assert_array_equal(product(matrix, part), whole[:, start:stop])


def test_memory_that_lies_otherwise_is_refused() -> None:
    """The compiled sum follows no strides: a slice of columns would be read as another matrix."""
    matrix = random_csr(23, 41, 5)
    wide, out = np.ones((41, 8), np.float32), np.empty((23, 4), np.float32)
    for block, target in ((wide[:, ::2], out), (wide[:, :4].copy(), out.astype(np.float64))):
        with pytest.raises(TypingError, match="contiguous"):
            Matrix(matrix.indptr, matrix.indices, matrix.data).multiply(block, target)
