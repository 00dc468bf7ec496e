"""The polynomial graph filter, one block of columns at a time.

    out_t = sum_k tap_t[k] * S^k * table            (S: normalised adjacency, t: taps)

S acts on rows only, so each column block is filtered by itself: two buffers of (nodes, width), and the rows of a block
that a batch asks for, are all the dense memory a pass needs. Outputs are kept on those rows, and the last hop is
computed on them only.
The filter is linear, so the adjoint needs no stored activation: with g_t scattered to all rows it is Horner's rule
T <- S^T T + sum_t tap_t[k] g_t, from the last hop down to 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numba import prange

from sparserec.compiled import compiled
from sparserec.graph.adjacency import Adjacency
from sparserec.graph.buffers import Buffers
from sparserec.graph.multiply import Matrix

Tap = tuple[float, ...]
"""Coefficients of S^0, S^1, ... of one output."""

Noise = Callable[[int, np.ndarray, np.ndarray | None, int], None]
"""noise(layer, block, rows, first column): changes a layer's block in place; rows is None when it holds all nodes."""

LARGEST_BLOCK_BYTES = 6 << 20
"""32 columns are about a tenth faster than 16 where they fit the cache, and take twice the memory: small graphs only.
"""


def automatic_width(n_nodes: int, dim: int) -> int:
    """32 columns while one block fits the cache budget, else 16; never more than the table has."""
    width = 32 if n_nodes * 32 * 4 <= LARGEST_BLOCK_BYTES else 16
    return min(width, dim)


class ColumnFilter:
    """Forward and adjoint passes over one graph, reusing two buffers."""

    def __init__(
        self,
        adjacency: Adjacency,
        taps: Sequence[Tap],
        width: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.adjacency, self.taps = adjacency, tuple(taps)
        self.layers = max(len(tap) for tap in self.taps) - 1
        self._buffers = [torch.empty(adjacency.n_nodes * width, dtype=dtype) for _ in range(2)]
        self._columns = Buffers()
        self._number = self._buffers[0].numpy().dtype
        self._whole = self._matrix(adjacency.weights)
        self._forward = self._backward = self._whole
        self._last = self._whole
        self._rows: np.ndarray | None = None

    def _matrix(self, weights: np.ndarray, rows: np.ndarray | None = None) -> Matrix:
        return Matrix(
            self.adjacency.offsets, self.adjacency.neighbours, weights.astype(self._number, copy=False), rows
        )

    def _coefficient(self, tap: Tap, layer: int) -> float:
        return tap[layer] if layer < len(tap) else 0.0

    @property
    def nbytes(self) -> int:
        """Bytes of the two buffers, and of the rows of a block that a batch asks for."""
        return sum(buffer.numel() * buffer.element_size() for buffer in self._buffers) + self._columns.nbytes

    def begin(
        self,
        rows: np.ndarray | None,
        weights: np.ndarray | None = None,
        transposed_weights: np.ndarray | None = None,
    ) -> None:
        """Start a step: which rows are wanted (None: all) and, under edge dropout, this step's edge weights."""
        assert (weights is None) == (transposed_weights is None), "edge weights are needed in both directions"
        self._rows = rows
        self._forward = self._whole if weights is None else self._matrix(weights)
        self._backward = self._whole if transposed_weights is None else self._matrix(transposed_weights)
        self._last = self._forward
        if rows is not None and self.layers > 0:
            self._last = self._matrix(self.adjacency.weights if weights is None else weights, rows)

    def input(self, width: int) -> torch.Tensor:
        """The (nodes, width) buffer that the table fills before `forward`."""
        return self._view(0, width)

    def _view(self, which: int, width: int, rows: int | None = None) -> torch.Tensor:
        count = self.adjacency.n_nodes if rows is None else rows
        return self._buffers[which][: count * width].view(count, width)

    def forward(
        self, width: int, outputs: Sequence[np.ndarray], noise: Noise | None = None, first_column: int = 0
    ) -> None:
        """Filter the block in `input(width)` and write each tap's rows to outputs[t], shape (rows, width)."""
        self._propagate(width, self._rows, self._last, outputs, noise, first_column)

    def forward_all(
        self, width: int, outputs: Sequence[np.ndarray], noise: Noise | None = None, first_column: int = 0
    ) -> None:
        """The same step's outputs on all nodes, whatever rows `begin` asked for; outputs[t] is (nodes, width)."""
        self._propagate(width, None, self._forward, outputs, noise, first_column)

    def _propagate(
        self,
        width: int,
        rows: np.ndarray | None,
        last_matrix: Matrix,
        outputs: Sequence[np.ndarray],
        noise: Noise | None,
        first_column: int,
    ) -> None:
        current = 0
        block = self._view(current, width)
        wholes, outputs = outputs, [self._beside(tap, output) for tap, output in enumerate(outputs)]
        self._collect(block.numpy(), rows, 0, outputs)
        for layer in range(1, self.layers + 1):
            last = layer == self.layers
            matrix = last_matrix if last else self._forward
            target = self._view(1 - current, width, len(rows) if last and rows is not None else None)
            matrix.multiply(block.numpy(), target.numpy())
            taken = None if last else rows  # the last hop already holds just the wanted rows
            if noise is not None:
                noise(layer, target.numpy(), rows if last else None, first_column)
            self._collect(target.numpy(), taken, layer, outputs)
            block, current = target, 1 - current
        for whole, output in zip(wholes, outputs):  # columns of a wide array are far apart: written once
            if output is not whole:
                _take_all(output, output.dtype.type(1), whole)

    def _beside(self, tap: int, columns: np.ndarray) -> np.ndarray:
        """An array of the same shape whose columns lie together, or the same if they do."""
        if columns.flags.c_contiguous:
            return columns
        return self._columns.array(f"tap {tap}", (columns.shape[0], columns.shape[1]), columns.dtype)

    def _collect(
        self, block: np.ndarray, rows: np.ndarray | None, layer: int, outputs: Sequence[np.ndarray]
    ) -> None:
        for tap, output in zip(self.taps, outputs):
            coefficient = block.dtype.type(self._coefficient(tap, layer))
            if layer > 0 and coefficient == 0.0:
                continue
            if rows is None:
                (_add_all if layer else _take_all)(block, coefficient, output)
            else:
                (_add_rows if layer else _take_rows)(block, rows, coefficient, output)

    def adjoint(
        self, width: int, gradients: Sequence[np.ndarray], everywhere: np.ndarray | None = None
    ) -> torch.Tensor:
        """Gradient of the whole block, shape (nodes, width), from gradients of the taps' rows.

        `everywhere` is a gradient of the first tap on all nodes, added to that of its rows.
        """
        current = 0
        gradients = [self._together(tap, part) for tap, part in enumerate(gradients)]  # read in every hop
        total = self._view(current, width)
        clear(total.numpy())
        self._scatter(total.numpy(), self.layers, gradients, everywhere)
        for layer in range(self.layers - 1, -1, -1):
            target = self._view(1 - current, width)
            self._backward.multiply(total.numpy(), target.numpy())
            total, current = target, 1 - current
            self._scatter(total.numpy(), layer, gradients, everywhere)
        return total

    def _together(self, tap: int, columns: np.ndarray) -> np.ndarray:
        beside = self._beside(tap, columns)
        if beside is not columns:
            _take_all(columns, columns.dtype.type(1), beside)
        return beside

    def _scatter(
        self, total: np.ndarray, layer: int, gradients: Sequence[np.ndarray], everywhere: np.ndarray | None
    ) -> None:
        if everywhere is not None:
            _add_all(everywhere, total.dtype.type(self._coefficient(self.taps[0], layer)), total)
        for tap, gradient in zip(self.taps, gradients):
            coefficient = total.dtype.type(self._coefficient(tap, layer))
            if coefficient == 0.0:
                continue
            if self._rows is None:
                _add_all(gradient, coefficient, total)
            else:
                _scatter_rows(gradient, self._rows, coefficient, total)


@compiled(parallel=True)
def clear(block: np.ndarray) -> None:
    """Fill with zeros. torch's threads could do it too; they then stay awake a while, in the way of those of loops."""
    for row in prange(block.shape[0]):
        for column in range(block.shape[1]):
            block[row, column] = 0


@compiled(parallel=True)
def _take_rows(block: np.ndarray, rows: np.ndarray, coefficient: float, out: np.ndarray) -> None:
    for position in prange(len(rows)):
        for column in range(block.shape[1]):
            out[position, column] = coefficient * block[rows[position], column]


@compiled(parallel=True)
def _add_rows(block: np.ndarray, rows: np.ndarray, coefficient: float, out: np.ndarray) -> None:
    for position in prange(len(rows)):
        for column in range(block.shape[1]):
            out[position, column] += coefficient * block[rows[position], column]


@compiled(parallel=True)
def _take_all(block: np.ndarray, coefficient: float, out: np.ndarray) -> None:
    for row in prange(block.shape[0]):
        for column in range(block.shape[1]):
            out[row, column] = coefficient * block[row, column]


@compiled(parallel=True)
def _add_all(block: np.ndarray, coefficient: float, out: np.ndarray) -> None:
    for row in prange(block.shape[0]):
        for column in range(block.shape[1]):
            out[row, column] += coefficient * block[row, column]


@compiled(parallel=True)
def _scatter_rows(gradient: np.ndarray, rows: np.ndarray, coefficient: float, total: np.ndarray) -> None:
    for position in prange(len(rows)):  # rows are unique, so no two iterations write the same row
        for column in range(gradient.shape[1]):
            total[rows[position], column] += coefficient * gradient[position, column]
