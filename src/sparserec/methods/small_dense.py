"""small_dense: a dense table with fewer columns, matched to the budget in parameters or in bytes on disk.

A sparse entry also stores where it is, so at equal bytes a dense table may have about twice the columns it may have at
equal parameters (density .125 of 128 at int8: 32 columns against 16).
"""

from __future__ import annotations

from typing import Literal

from sparserec.device import SCALE_BYTES, int_bytes
from sparserec.methods.base import Context, Method, Phase
from sparserec.settings import Settings
from sparserec.table import DenseTable, Held, Table


class SmallDenseSettings(Settings):
    match: Literal["parameters", "bytes"] = "parameters"
    """What equals the budget: trained numbers, or bytes on disk at int8 with indices counted."""


class SmallDense(Method):
    name = "small_dense"
    settings_kind = SmallDenseSettings
    idea = "a dense table with fewer columns"

    def _columns(self, context: Context) -> int:
        if self.settings.match == "parameters":
            return max(1, round(context.density * context.dim))
        return byte_matched_dim(context.shape().n_rows, context.dim, context.density)

    def holds(self, context: Context) -> Held:
        return context.dense(self._columns(context))

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        dim = self._columns(context)
        return DenseTable.create(context.shape(dim), context.initial(dim))


def byte_matched_dim(n_rows: int, dim: int, density: float, bits: int = 8) -> int:
    """The largest dense dimension that is no bigger on disk than a sparse table of this density."""
    codes = int_bytes(round(density * n_rows * dim), n_rows, dim, bits) - n_rows * SCALE_BYTES
    return max(1, codes * 8 // (bits * n_rows))
