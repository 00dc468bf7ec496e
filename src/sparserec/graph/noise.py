"""Noise that pushes every entry of a layer away from zero, each row by exactly the same length.

    layer += size * sign(layer) * q / |q|,   q uniform on (0, 1) for every entry, |q| over the row's full width

A block holds some columns only, and |q| needs them all. But q does not depend on the layer: a first pass over the
counter-based numbers gives one length per row, and the blocks draw the same numbers again. Nothing else is stored.
"""

from __future__ import annotations

import numpy as np
from numba import float32, int32, prange, uint64

from sparserec.compiled import compiled
from sparserec.counter import Key, bits, key_of


class SignedNoise:
    """Noise of one training step.

    Call it as the filter's `Noise`; the adjoint needs none, sign and q being constant.
    """

    def __init__(self, size: float, n_nodes: int, dim: int, *stream: int) -> None:
        self.size, self.n_nodes, self.dim = size, n_nodes, dim
        self._stream = stream  # what tells this step's numbers from all others
        self._scales: dict[tuple[int, bool], np.ndarray] = {}

    def key(self, layer: int) -> np.uint64:
        """Key of the numbers of one layer."""
        return key_of(*self._stream, layer)

    def scale(self, layer: int, rows: np.ndarray | None) -> np.ndarray:
        """size / |q| of these rows (None: all nodes), found when the first block asks."""
        which = layer, rows is None
        if which not in self._scales:
            nodes = np.arange(self.n_nodes, dtype=np.int32) if rows is None else rows
            scale = np.empty(len(nodes), np.float32)
            _row_scales(self.key(layer), nodes, self.dim, self.size, scale)
            self._scales[which] = scale
        return self._scales[which]

    def __call__(self, layer: int, block: np.ndarray, rows: np.ndarray | None, first_column: int) -> None:
        scale = self.scale(layer, rows)
        if rows is None:
            _push_all(block, self.key(layer), scale, first_column)
        else:
            _push_rows(block, rows, self.key(layer), scale, first_column)


@compiled(inline="always")
def _draw(key, node, column):  # type: ignore[no-untyped-def]
    """Uniform on [0, 1) in float32: half the work of a double, and noise needs no more."""
    return float32(int32(bits(key, node, column) >> uint64(40))) * float32(1.0 / (1 << 24))


@compiled(parallel=True, fastmath={"contract", "reassoc"})
def _row_scales(key: Key, nodes: np.ndarray, dim: int, size: float, out: np.ndarray) -> None:
    for position in prange(len(nodes)):
        squares = float32(0.0)
        for column in range(dim):
            draw = _draw(key, nodes[position], column)
            squares += draw * draw
        out[position] = size / np.sqrt(squares)


@compiled(inline="always")
def _push(line, key, node, scale, first_column):  # type: ignore[no-untyped-def]
    for column in range(len(line)):
        value, draw = line[column], _draw(key, node, first_column + column) * scale
        line[column] = value + draw if value > 0 else (value - draw if value < 0 else value)


@compiled(parallel=True)
def _push_all(block: np.ndarray, key: Key, scale: np.ndarray, first_column: int) -> None:
    for row in prange(block.shape[0]):
        _push(block[row], key, row, scale[row], first_column)


@compiled(parallel=True)
def _push_rows(block: np.ndarray, rows: np.ndarray, key: Key, scale: np.ndarray, first_column: int) -> None:
    for row in prange(block.shape[0]):
        _push(block[row], key, rows[row], scale[row], first_column)
