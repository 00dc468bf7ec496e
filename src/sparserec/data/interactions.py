"""Who interacted with what: sorted, unique pairs of dense numbers plus the ids they stand for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparserec.data.errors import IdRangeError
from sparserec.data.ids import IdMap, number_ids

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

    @property
    def density(self) -> float:
        """Share of all possible pairs that were observed."""
        return len(self) / max(self.n_users * self.n_items, 1)

    @classmethod
    def from_pairs(
        cls,
        users: Any,
        items: Any,
        timestamps: Any = None,
        user_ids: IdMap | None = None,
        item_ids: IdMap | None = None,
        item_info: ItemInfo | None = None,
    ) -> Interactions:
        """Build from external ids in any order; `user_ids` and `item_ids` fix the numbering when given.

        Of repeated pairs the earliest stays: a revisit must not move an already seen item into a temporal test set.
        """
        user_codes, user_ids = _encode(users, user_ids, "user")
        item_codes, item_ids = _encode(items, item_ids, "item")
        return cls.from_codes(user_codes, item_codes, user_ids, item_ids, timestamps, item_info)

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
        kept = _first_of_each(key, None if timestamps is None else np.asarray(timestamps))
        duplicates = len(key) - (len(key) if kept is None else len(kept))
        if kept is not None:
            users, items = users[kept], items[kept]
            timestamps = None if timestamps is None else np.asarray(timestamps)[kept]
        times = None if timestamps is None else np.asarray(timestamps)
        summed = None if weights is None else _sums(key, np.asarray(weights, np.float64))
        numbers = users.astype(np.int32, copy=False), items.astype(np.int32, copy=False)
        return cls(*numbers, user_ids, item_ids, times, item_info, duplicates, summed)

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

    def with_item_info(self, item_info: ItemInfo | None) -> Interactions:
        """The same interactions with names for the items."""
        return replace(self, item_info=item_info)

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


def _encode(values: Any, ids: IdMap | None, side: str) -> tuple[np.ndarray, IdMap]:
    if ids is None:
        return number_ids(values)
    codes = ids.index_of(values)
    if len(codes) and codes.min() < 0:
        unknown = np.asarray(values)[np.argmin(codes)]
        raise IdRangeError(f"{side} {unknown} is not among the {len(ids):,} known {side}s")
    return codes, ids


def _first_of_each(key: np.ndarray, times: np.ndarray | None) -> np.ndarray | None:
    """Positions that sort `key` and keep one of each, the earliest; None when it is sorted and unique already."""
    if np.all(key[1:] > key[:-1]):
        return None
    order = np.argsort(key, kind="stable") if times is None else np.lexsort((times, key))
    ordered = key[order]
    first = np.ones(len(key), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return order[first]


def _sums(key: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sum of the weights of each different key, by ascending key, float32."""
    _, place = np.unique(key, return_inverse=True)
    return np.bincount(place, weights).astype(np.float32)


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
