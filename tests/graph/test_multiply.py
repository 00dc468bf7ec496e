"""Both multiplies against a dense product, and slices against indexing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch

from sparserec.graph.multiply import choose_backend, make_matrix, slice_rows


def random_csr(rows: int, columns: int, seed: int, dtype: type = np.float32) -> scipy.sparse.csr_matrix:
    matrix = scipy.sparse.random(rows, columns, 0.15, "csr", np.float64, np.random.default_rng(seed))
    matrix.data -= 0.5
    matrix = matrix.astype(dtype)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


def product(matrix: scipy.sparse.csr_matrix, block: np.ndarray, backend: str) -> np.ndarray:
    out = torch.full((matrix.shape[0], block.shape[1]), torch.nan, dtype=torch.from_numpy(block).dtype)
    arrays = matrix.indptr, matrix.indices, matrix.data
    make_matrix(*arrays, matrix.shape[1], backend).multiply(torch.from_numpy(block), out)  # type: ignore[arg-type]
    return out.numpy()


@pytest.mark.parametrize("backend", ["mkl", "compiled"])
@pytest.mark.parametrize("width", [1, 3, 16, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_backends_equal_the_dense_product(backend: str, width: int, dtype: type) -> None:
    if backend == "mkl" and not torch.backends.mkl.is_available():
        pytest.skip("this torch has no MKL")
    matrix = random_csr(23, 41, width, dtype)
    block: np.ndarray = np.random.default_rng(1).standard_normal((41, width)).astype(dtype)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(product(matrix, block, backend), matrix.toarray() @ block, atol=tolerance)


@pytest.mark.parametrize("backend", ["mkl", "compiled"])
def test_a_matrix_without_entries_gives_zeros(backend: str) -> None:
    if backend == "mkl" and not torch.backends.mkl.is_available():
        pytest.skip("this torch has no MKL")
    empty = scipy.sparse.csr_matrix((4, 5), dtype=np.float32)
    assert not product(empty, np.ones((5, 2), np.float32), backend).any()


def test_without_mkl_the_compiled_loop_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: False)
    assert choose_backend("auto") == "compiled"
    assert choose_backend("mkl") == "mkl"  # what was asked for is not overruled
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    assert choose_backend("auto") == "mkl"
    assert choose_backend("compiled") == "compiled"


@pytest.mark.parametrize("rows", [[], [0], [5, 7, 22], list(range(23)), [22, 3, 3]])
def test_slices_equal_indexing(rows: list[int]) -> None:
    matrix = random_csr(23, 41, 5)
    wanted = np.array(rows, np.int32)
    offsets, neighbours, weights = slice_rows(matrix.indptr, matrix.indices, matrix.data, wanted)
    sliced = scipy.sparse.csr_matrix((weights, neighbours, offsets), shape=(len(rows), 41))
    np.testing.assert_array_equal(sliced.toarray(), matrix.toarray()[wanted])
    assert offsets.dtype == neighbours.dtype == np.int32 and weights.dtype == np.float32
