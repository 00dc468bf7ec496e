"""The first principal axes of the vectors in 1 to 8 bits, or rows as they end where each has a size of its own."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sparserec.device import encode_rows, prefix_bytes
from sparserec.encodings.base import EncodedVectors, Encoding, VectorKind, keeps
from sparserec.encodings.codes import balanced_axes
from sparserec.recommenders import Vectors

SIZED_SHARE = 0.9  # of the columns, on average: rows that end earlier have sizes of their own


class PrefixKind(VectorKind):
    title = "principal axes"
    unit = "axes"

    def candidates(self, vectors: Vectors) -> Iterable[tuple[int, int]]:
        return keeps(vectors, 4)

    def bytes(self, one: Encoding, items: int, dim: int) -> float:
        return prefix_bytes(min(one.keep, dim), items, one.bits)

    def tables(self, one: Encoding, tables: list[np.ndarray]) -> EncodedVectors:
        axes = None if has_sizes(tables[0]) else balanced_axes(tables[0], 1)
        turned = tables if axes is None else [table @ axes for table in tables]
        first = (np.where(np.arange(table.shape[1]) < one.keep, table, 0) for table in turned)
        score, *fold = (encode_rows(table, one.bits, "prefix") for table in first)
        return EncodedVectors(score, tuple(fold), axes)


def has_sizes(table: np.ndarray) -> bool:
    """Whether rows end at different columns, as methods that give every row a size make them."""
    sizes = ((table != 0) * np.arange(1, table.shape[1] + 1)).max(axis=1, initial=0)
    return bool(sizes.mean() < SIZED_SHARE * table.shape[1])
