"""Who interacted with what: sorted, unique pairs of dense numbers plus the ids they stand for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparserec.data.errors import IdRangeError

# External ids of one side (users or items) and the dense numbers that stand for them.

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

    column = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(_plain(values))
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


MOST_INTERACTIONS = 2**31 - 1


@dataclass(frozen=True)
class ItemInfo:
    """What people call the items, aligned with the item numbers."""

    titles: list[str] | None = None
    tags: list[tuple[str, ...]] | None = None
    note: str = ""
    """Where this is from and how many of the items it names, for reports."""

    def take(self, order: np.ndarray) -> ItemInfo:
        """The info of the items `order` points at, in that order."""
        return ItemInfo(
            titles=None if self.titles is None else [self.titles[i] for i in order],
            tags=None if self.tags is None else [self.tags[i] for i in order],
            note=self.note,
        )


@dataclass(frozen=True, eq=False)
class Interactions:
    """Unique (user, item) pairs sorted by user, then item: `items` with `offsets()` is already a CSR matrix."""

    users: np.ndarray
    items: np.ndarray
    user_ids: IdMap
    item_ids: IdMap
    timestamps: np.ndarray | None = None
    item_info: ItemInfo | None = None
    duplicates: int = 0
    """How many given pairs were repeats of another; only from_pairs collapses any."""
    weights: np.ndarray | None = None
    """float32, above 0: how much each pair counts in a loss, twice as much being the pair twice; None: all alike."""

    def __post_init__(self) -> None:
        assert self.users.dtype == np.int32 and self.items.dtype == np.int32
        assert self.users.shape == self.items.shape
        assert self.timestamps is None or len(self.timestamps) == len(self.users)
        assert self.weights is None or len(self.weights) == len(self.users)

    def __len__(self) -> int:
        return len(self.users)

    @property
    def n_users(self) -> int:
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        return len(self.item_ids)

    @classmethod
    def from_pairs(cls, users: Any, items: Any, timestamps: Any = None) -> Interactions:
        """Build from external ids in any order.

        Of repeated pairs the earliest stays: a revisit must not move an already seen item into a temporal test set.
        """
        user_codes, user_ids = number_ids(users)
        item_codes, item_ids = number_ids(items)
        return cls.from_codes(user_codes, item_codes, user_ids, item_ids, timestamps)

    @classmethod
    def from_codes(
        cls,
        users: np.ndarray,
        items: np.ndarray,
        user_ids: IdMap,
        item_ids: IdMap,
        timestamps: Any = None,
        item_info: ItemInfo | None = None,
        weights: np.ndarray | None = None,
    ) -> Interactions:
        """Build from dense numbers in any order, collapsing repeats; weights of repeats add up."""
        if len(users) > MOST_INTERACTIONS:
            raise IdRangeError(f"{len(users):,} interactions; at most {MOST_INTERACTIONS:,} are supported")
        key = users.astype(np.int64) * max(len(item_ids), 1) + items
        times = None if timestamps is None else np.asarray(timestamps)
        duplicates = 0
        if not np.all(key[1:] > key[:-1]):  # sort, and keep one of each: the earliest
            order = np.argsort(key, kind="stable") if times is None else np.lexsort((times, key))
            ordered, first = key[order], np.ones(len(key), bool)
            first[1:] = ordered[1:] != ordered[:-1]
            kept = order[first]
            duplicates = len(key) - len(kept)
            users, items, times = users[kept], items[kept], None if times is None else times[kept]
        if weights is not None:  # of repeats they add up, by ascending key as the pairs are
            weights = np.bincount(np.unique(key, return_inverse=True)[1], weights).astype(np.float32)
        numbers = users.astype(np.int32, copy=False), items.astype(np.int32, copy=False)
        return cls(*numbers, user_ids, item_ids, times, item_info, duplicates, weights)

    def user_counts(self) -> np.ndarray:
        """Interactions per user, int32."""
        return np.bincount(self.users, minlength=self.n_users).astype(np.int32)

    def item_counts(self) -> np.ndarray:
        """Interactions per item, int32."""
        return np.bincount(self.items, minlength=self.n_items).astype(np.int32)

    def offsets(self) -> np.ndarray:
        """CSR row offsets, int32[n_users + 1]: user u has items[offsets[u]:offsets[u + 1]]."""
        return np.concatenate([np.zeros(1, np.int32), np.cumsum(self.user_counts(), dtype=np.int32)])

    def select(self, chosen: np.ndarray) -> Interactions:
        """The interactions where the boolean mask `chosen` is set, with the same users and items."""
        times = None if self.timestamps is None else self.timestamps[chosen]
        weights = None if self.weights is None else self.weights[chosen]
        pairs = {"users": self.users[chosen], "items": self.items[chosen]}
        return replace(self, **pairs, timestamps=times, weights=weights, duplicates=0)

    def relabel(self, user_order: np.ndarray, item_order: np.ndarray) -> Interactions:
        """Renumber: new user j is old user user_order[j], items alike; only the id maps know the old numbers."""
        users = _inverse(user_order, self.n_users, "user")[self.users]
        items = _inverse(item_order, self.n_items, "item")[self.items]
        order = np.argsort(users.astype(np.int64) * max(self.n_items, 1) + items, kind="stable")
        return replace(
            self,
            users=users[order],
            items=items[order],
            user_ids=self.user_ids.take(user_order),
            item_ids=self.item_ids.take(item_order),
            timestamps=None if self.timestamps is None else self.timestamps[order],
            weights=None if self.weights is None else self.weights[order],
            item_info=None if self.item_info is None else self.item_info.take(item_order),
        )

    def pair_hash(self) -> str:
        """SHA-256 of sizes, ids and pairs in the order of external ids, so that numbering does not matter."""
        user_ranks, item_ranks = self.user_ids.ranks(), self.item_ids.ranks()
        users = self.users if user_ranks is None else user_ranks[self.users]
        items = self.items if item_ranks is None else item_ranks[self.items]
        if user_ranks is not None or item_ranks is not None:
            key = np.sort(users.astype(np.int64) * max(self.n_items, 1) + items)
            users, items = (part.astype(np.int32) for part in np.divmod(key, max(self.n_items, 1)))
        digest = hashlib.sha256(f"{self.n_users} {self.n_items} {len(self)}\n".encode())
        for ids in (self.user_ids, self.item_ids):
            digest.update(_id_bytes(np.sort(ids.external())))
        for numbers in (users, items):
            digest.update(np.ascontiguousarray(numbers, "<i4").data)
        return digest.hexdigest()


def join(parts: Sequence[Interactions]) -> Interactions:
    """Parts over the same users and items as one; times and weights stay only where every part has them."""
    if len(parts) == 1:
        return parts[0]
    times = [part.timestamps for part in parts if part.timestamps is not None]
    weights = [part.weights for part in parts if part.weights is not None]
    first = parts[0]
    return Interactions.from_codes(
        np.concatenate([part.users for part in parts]),
        np.concatenate([part.items for part in parts]),
        first.user_ids,
        first.item_ids,
        np.concatenate(times) if len(times) == len(parts) else None,
        first.item_info,
        np.concatenate(weights) if len(weights) == len(parts) else None,
    )


def _inverse(order: np.ndarray, size: int, side: str) -> np.ndarray:
    inverse = np.full(size, -1, np.int32)
    inverse[order] = np.arange(len(order), dtype=np.int32)
    if len(order) != size or (size and inverse.min() < 0):
        raise IdRangeError(f"the new {side} order must name each of the {size} {side}s once")
    return inverse


def _id_bytes(ids: np.ndarray) -> bytes:
    """Bytes of sorted ids: numbers as little-endian int64, texts as UTF-8 with their length in front."""
    if ids.dtype.kind == "i":
        return b"int64\n" + ids.astype("<i8").tobytes()
    texts = [text.encode() for text in ids.tolist()]
    return b"text\n" + b"".join(len(text).to_bytes(4, "little") + text for text in texts)
