"""The largest entries of each vector as int8 or int4: what format 1.0 holds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sparserec.device import EncodedTable, encode_table, int_bytes
from sparserec.encodings.base import Encoding, VectorKind, cut, keeps
from sparserec.errors import SettingError
from sparserec.recommenders import Vectors


class IntKind(VectorKind):
    title = "rows"

    def label(self, one: Encoding) -> str:
        return f"int{one.bits}, {one.keep} entries, fold-in {one.fold}"

    def check(self, one: Encoding, dim: int) -> None:
        if one.bits not in (4, 8):
            raise SettingError(f"bits {one.bits}: encoding int has 4 or 8; gaps and prefix take 1 to 8")
        super().check(one, dim)

    def candidates(self, vectors: Vectors) -> Iterable[tuple[int, int]]:
        return keeps(vectors, 4, 8)

    def bytes(self, one: Encoding, items: int, dim: int) -> float:
        return int_bytes(items * min(one.keep, dim), items, dim, one.bits, even=True)

    def table(self, one: Encoding, values: np.ndarray) -> EncodedTable:
        return encode_table(cut(values, one.keep), one.bits)
