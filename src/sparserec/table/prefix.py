"""A sparse table whose rows are prefixes: row r has its first sizes[r] columns and no others (BET, CIESS).

It trains as any sparse table does. What differs is what has to be written down: one size per row instead of a position
for every entry.
"""

from __future__ import annotations

import numpy as np

from sparserec.device import EncodedTable, encode_rows
from sparserec.table.base import InitialValues, Shape
from sparserec.table.sparse import SparseTable


def prefix_support(shape: Shape, sizes: np.ndarray) -> list[np.ndarray]:
    """Positions per block, ascending, of the first sizes[r] columns of every row r."""
    support = []
    for start, width in shape.blocks:
        inside = np.clip(sizes.astype(np.int64) - start, 0, width)
        first = np.arange(shape.n_rows, dtype=np.int64) * width
        before = np.repeat(np.cumsum(inside) - inside, inside)
        support.append((np.repeat(first, inside) + np.arange(inside.sum()) - before).astype(np.int32))
    return support


class PrefixTable(SparseTable):
    """A table with one size per row."""

    kind = "prefix"

    @classmethod
    def of_sizes(cls, shape: Shape, sizes: np.ndarray, initial: InitialValues) -> PrefixTable:
        """Random values on the prefixes of these lengths."""
        return cls(shape, support := prefix_support(shape, sizes), cls.create(shape, support, initial).values)

    @classmethod
    def cut(cls, shape: Shape, sizes: np.ndarray, blocks: list[np.ndarray]) -> PrefixTable:
        """The prefixes of a dense table given by its (rows, width) blocks, without moments."""
        support = prefix_support(shape, sizes)
        values = [block.reshape(-1)[positions] for block, positions in zip(blocks, support)]
        return cls(shape, support, np.concatenate(values))

    def encoded(self, order: np.ndarray, bits: int) -> EncodedTable:
        return encode_rows(self.in_order(order), bits, "prefix")

    def stored_bytes(self, bits: int) -> int:
        return self.encoded(np.arange(self.shape.n_rows), bits).nbytes
