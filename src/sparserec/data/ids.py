"""External ids of one side (users or items) and the dense numbers that stand for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sparserec.data.errors import IdRangeError

LONGEST_ID = 1024


class IdMap:
    """External ids in dense order, int64 or text.

    Lookup is a binary search in a sorted permutation: a dictionary of a million ids would cost more than the graph.
    """

    def __init__(self, ids: np.ndarray | Iterable[Any]) -> None:
        self._ids = _plain(ids)
        ascending = bool(np.all(self._ids[1:] > self._ids[:-1]))
        self._order = None if ascending else np.argsort(self._ids, kind="stable").astype(np.int32)
        if not ascending:
            in_order = self._ids[self._order]
            if np.any(in_order[1:] == in_order[:-1]):
                raise IdRangeError("ids of one side must be unique: the same id appears twice")

    def __len__(self) -> int:
        return len(self._ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdMap) and np.array_equal(self._ids, other._ids)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"IdMap({len(self)} {'numbers' if self.is_integer else 'texts'})"

    @property
    def is_integer(self) -> bool:
        """Whether the ids are whole numbers; otherwise they are texts."""
        return self._ids.dtype.kind == "i"

    def external(self, indices: Any = None) -> np.ndarray:
        """External ids of dense `indices`, all of them when None."""
        return self._ids if indices is None else self._ids[np.asarray(indices)]

    def index_of(self, ids: Any) -> np.ndarray:
        """Dense numbers (int32) of external ids, -1 where unknown; "42" finds 42 and the other way round."""
        wanted, known = self._as_own_kind(np.atleast_1d(np.asarray(ids)))
        if len(self) == 0:
            return np.full(wanted.shape, -1, np.int32)
        at = np.searchsorted(self._ids, wanted, sorter=self._order)
        at = np.minimum(at, len(self) - 1)
        found = at if self._order is None else self._order[at]
        return np.where(known & (self._ids[found] == wanted), found, -1).astype(np.int32)

    def take(self, order: np.ndarray) -> IdMap:
        """The ids `order` points at, in that order."""
        return IdMap(self._ids[order])

    def ranks(self) -> np.ndarray | None:
        """Position of each id among the sorted ids (int32), or None when they are already sorted."""
        if self._order is None:
            return None
        ranks = np.empty(len(self), np.int32)
        ranks[self._order] = np.arange(len(self), dtype=np.int32)
        return ranks

    def _as_own_kind(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self.is_integer:
            return wanted.astype(str), np.ones(wanted.shape, bool)
        if wanted.dtype.kind in "iu":
            return wanted.astype(np.int64), np.asarray(wanted <= np.iinfo(np.int64).max)
        numbers, known = np.zeros(wanted.shape, np.int64), np.zeros(wanted.shape, bool)
        for position, value in np.ndenumerate(wanted):
            number = _whole_number(value)
            if number is not None:
                numbers[position], known[position] = number, True
        return numbers, known


def _whole_number(value: Any) -> int | None:
    """The int64 a text or number spells exactly, else None."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    spelled = str(value) == str(number) or (isinstance(value, float) and value == number)
    return number if spelled and -(2**63) <= number < 2**63 else None


def _plain(ids: np.ndarray | Iterable[Any]) -> np.ndarray:
    array = ids if isinstance(ids, np.ndarray) else np.asarray(list(ids))
    if array.ndim != 1:
        raise IdRangeError(f"ids must be a flat array, got shape {array.shape}")
    if len(array) == 0:
        return array.astype(np.int64) if array.dtype.kind not in "UO" else array.astype("U1")
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and array.max() >= 2**63:
            raise IdRangeError(f"id {array.max()} does not fit 64 bits; give ids as text")
        return array.astype(np.int64)
    if array.dtype.kind == "O":
        longest = max(len(str(value)) for value in array)
        if longest > LONGEST_ID:
            raise IdRangeError(
                f"an id is {longest} characters long (at most {LONGEST_ID}): is that column really an id?"
            )
    return array.astype(str)


def number_ids(values: Any) -> tuple[np.ndarray, IdMap]:
    """Dense codes (int32) of an id column and the map of its distinct ids, sorted.

    Sorted ids make the numbering independent of the order of rows. Arrow's hash encoding does the bulk work.
    """
    import pyarrow as pa

    column = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else _arrow(values)
    encoded = column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # older Arrow keeps one chunk as chunked
        encoded = encoded.chunk(0)
    distinct = _plain(encoded.dictionary.to_numpy(zero_copy_only=False))
    order = np.argsort(distinct, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return rank[codes], IdMap(distinct[order])


def _arrow(values: Any) -> Any:
    import pyarrow as pa

    return pa.array(_plain(values))
