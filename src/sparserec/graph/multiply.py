"""Sparse matrix times a block of columns: torch's MKL kernel where it exists, a compiled loop elsewhere."""

from __future__ import annotations

import warnings
from typing import Literal, Protocol

import numpy as np
import torch
from numba import prange

from sparserec.compiled import compiled

Backend = Literal["auto", "mkl", "compiled"]


class Matrix(Protocol):
    """A fixed sparse matrix that can multiply a block."""

    def multiply(self, block: torch.Tensor, out: torch.Tensor) -> None: ...


def choose_backend(backend: Backend = "auto") -> Backend:
    """MKL is several times faster than the loop; ARM and macOS builds of torch do not have it."""
    if backend != "auto":
        return backend
    return "mkl" if torch.backends.mkl.is_available() else "compiled"


def make_matrix(
    offsets: np.ndarray,
    neighbours: np.ndarray,
    weights: np.ndarray,
    n_columns: int,
    backend: Backend = "auto",
) -> Matrix:
    """Wrap CSR arrays without copying them."""
    kind = MklMatrix if choose_backend(backend) == "mkl" else CompiledMatrix
    return kind(n_columns, offsets, neighbours, weights)


class MklMatrix:
    """torch sparse CSR with int32 indices, the layout MKL takes without converting."""

    def __init__(self, n_columns: int, *arrays: np.ndarray) -> None:
        offsets, neighbours, weights = map(torch.from_numpy, arrays)
        size = len(offsets) - 1, n_columns
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
            self._csr = torch.sparse_csr_tensor(offsets, neighbours, weights, size, check_invariants=False)

    def multiply(self, block: torch.Tensor, out: torch.Tensor) -> None:
        """out = matrix @ block.

        torch.mm(out=) makes the product elsewhere and copies it, which takes twice the time; with beta 0 nothing of
        `out` is read.
        """
        torch.addmm(out, self._csr, block, beta=0, out=out)


class CompiledMatrix:
    """The same product as a compiled loop over rows; also handles float64 blocks, for tests."""

    def __init__(self, n_columns: int, *arrays: np.ndarray) -> None:
        self._arrays = arrays

    def multiply(self, block: torch.Tensor, out: torch.Tensor) -> None:
        """out = matrix @ block."""
        _multiply_rows(*self._arrays, block.numpy(), out.numpy())


@compiled(parallel=True, fastmath={"contract", "reassoc"})
def _multiply_rows(
    offsets: np.ndarray, neighbours: np.ndarray, weights: np.ndarray, block: np.ndarray, out: np.ndarray
) -> None:
    width = block.shape[1]
    for row in prange(offsets.shape[0] - 1):
        for column in range(width):
            out[row, column] = 0.0
        for edge in range(offsets[row], offsets[row + 1]):
            weight, other = weights[edge], neighbours[edge]
            for column in range(width):
                out[row, column] += weight * block[other, column]


@compiled()
def slice_rows(
    offsets: np.ndarray, neighbours: np.ndarray, weights: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR arrays of the chosen rows only: the last hop is computed just where a batch asks for it."""
    taken_offsets = np.zeros(len(rows) + 1, np.int32)
    for position in range(len(rows)):
        row = rows[position]
        taken_offsets[position + 1] = taken_offsets[position] + offsets[row + 1] - offsets[row]
    taken_neighbours = np.empty(taken_offsets[-1], np.int32)
    taken_weights = np.empty(taken_offsets[-1], weights.dtype)
    for position in range(len(rows)):
        start, target = offsets[rows[position]], taken_offsets[position]
        for edge in range(taken_offsets[position + 1] - target):
            taken_neighbours[target + edge] = neighbours[start + edge]
            taken_weights[target + edge] = weights[start + edge]
    return taken_offsets, taken_neighbours, taken_weights
