"""Lists of neighbours, made from the vectors: for each item those it speaks for most."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from sparserec.device import SparseRows, encode_rows
from sparserec.encodings.base import Encoding
from sparserec.encodings.lists import EncodedLists, ListKind
from sparserec.encodings.material import Material
from sparserec.errors import SettingError
from sparserec.evaluation import NO_ITEM, top_scored
from sparserec.recommenders import Vectors

BLOCK_ROWS = 1024
LISTS = (5, 10, 20, 30, 50, 100, 200)


class NeighboursKind(ListKind):
    title = "neighbours of vectors"
    unit = "neighbours"

    def candidates(self, vectors: Vectors) -> Iterable[tuple[int, int]]:
        return ((4, size) for size in LISTS if size < len(vectors.items) and len(vectors.fold) == 1)

    def encode(self, one: Encoding, material: Material, items: np.ndarray | None = None) -> EncodedLists:
        """Neighbours of all items are looked for once, and again where longer lists are asked for."""
        if len(material.vectors.fold) > 1:
            raise SettingError(
                "neighbours cannot hold a recommender with self-loops: choose another encoding"
            )
        if items is not None:
            return _neighbours(material, one.keep, items).encode(one.keep, one.bits)
        known = material.kept.get(one.kind)
        if known is None or known.length < one.keep:
            everything = np.arange(len(material.vectors.items))
            known = material.kept[one.kind] = _neighbours(material, one.keep, everything)
        return known.encode(one.keep, one.bits)


def _neighbours(material: Material, most: int, items: np.ndarray) -> Neighbours:
    vectors, rows = material.vectors, material.vectors.items[items]
    # one array twice is one multiply less
    fold = rows if vectors.fold[0] is vectors.items else vectors.fold[0][items]
    listed = None if material.train is None else material.users_of_items[items] >= material.list_users
    return Neighbours(fold, rows, most, listed)


class Neighbours:
    """What every item adds to the score of every other one, `fold_i . items_j`, the largest of each row kept.

    Items that are not `listed` have no list and stand in none (None: all are).
    """

    def __init__(
        self, fold: np.ndarray, items: np.ndarray, most: int, listed: np.ndarray | None = None
    ) -> None:
        self.fold, self.items = fold, items
        self.length, self.most = most, min(most, len(items) - 1)
        self.hidden = np.zeros(len(items), bool) if listed is None else ~listed

    @cached_property
    def _lists(self) -> tuple[np.ndarray, np.ndarray]:
        """Items and values, (items, most) each, largest first, of equal ones the lower item."""
        fold, items = self.fold, self.items
        others = np.empty((len(items), self.most), np.int64)
        values = np.empty((len(items), self.most), np.float32)
        for first in range(0, len(items), BLOCK_ROWS):
            scores = fold[first : first + BLOCK_ROWS] @ items.T
            own = np.arange(len(scores))
            scores[own, first + own] = -np.inf
            scores[:, self.hidden] = -np.inf
            scores[self.hidden[first : first + BLOCK_ROWS]] = -np.inf
            best = top_scored(scores.__getitem__, len(items), own, self.most, [])
            listed = np.maximum(best, 0)  # NO_ITEM where fewer are left
            others[first : first + BLOCK_ROWS] = listed
            values[first : first + BLOCK_ROWS] = np.where(
                best == NO_ITEM, -np.inf, np.take_along_axis(scores, listed, 1)
            )
        return others, values

    def encode(self, keep: int, bits: int) -> EncodedLists:
        """The `keep` best neighbours of each item, those that speak for it alone."""
        others, values = (part[:, :keep] for part in self._lists)
        order = np.argsort(others, axis=1)
        columns, sorted_values = np.take_along_axis(others, order, 1), np.take_along_axis(values, order, 1)
        used = sorted_values > 0
        starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        kept = SparseRows(sorted_values[used], columns[used], starts, len(others))
        return EncodedLists(encode_rows(kept, bits))
