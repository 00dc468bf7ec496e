"""How good ranked lists are, user by user and for groups of users and items.

Definitions (those of LightGCN's evaluation, which the other base recommenders share). For a user with test
items T and a list of k:
    recall     hits / |T|, not capped at k        precision  hits / k        hit_rate  1 if there is a hit
    ndcg       sum of 1/log2(rank+1) over hits / the same sum over the first min(k, |T|) ranks
Averages are over users who have test items; nobody else enters. Coverage is the share of the catalogue that
appears in at least one list, the popular share that of the places of all lists which hold one of the most popular tenth
of items: a model must not win by listing what everybody knows.

Groups: users and items are ordered by train interactions (ties by id); those that hold the first third of all
interactions are the head, the next third the middle, the rest, including everything never seen, the tail.
A few heavy users or hits thus form the head, and each group stands for the same amount of behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

METRICS = ("recall", "ndcg", "precision", "hit_rate")
GROUPS = ("head", "middle", "tail")


class Listed(Protocol):
    """What evaluation needs of interactions: pairs sorted by user, then item."""

    @property
    def users(self) -> np.ndarray: ...
    @property
    def items(self) -> np.ndarray: ...
    @property
    def n_users(self) -> int: ...
    @property
    def n_items(self) -> int: ...
    def offsets(self) -> np.ndarray: ...


def matches(
    top: np.ndarray,  # (len(users), >= k)
    truth_offsets: np.ndarray,
    truth_items: np.ndarray,
    users: np.ndarray,
) -> np.ndarray:
    """For each entry of `top`: the position in `truth_items` it hits, or -1."""
    owners = np.repeat(np.arange(len(truth_offsets) - 1, dtype=np.int64), np.diff(truth_offsets))
    truth_keys = (owners << 32) | truth_items
    keys = (users.astype(np.int64)[:, None] << 32) | top
    place = np.minimum(np.searchsorted(truth_keys, keys), len(truth_keys) - 1)
    return np.where((truth_keys[place] == keys) & (top >= 0), place, -1)


def per_user(
    top: np.ndarray,  # (len(users), >= k), best first
    truth_offsets: np.ndarray,
    truth_items: np.ndarray,  # ascending within a user
    users: np.ndarray,
    k: int,
) -> dict[str, np.ndarray]:
    """Every metric of the module for each of `users`, float64, aligned with `users`."""
    wanted = np.diff(truth_offsets)[users]
    if len(wanted) and wanted.min() == 0:
        raise ValueError(f"user {users[wanted.argmin()]} has no test items and cannot be measured")
    hits = matches(top[:, :k], truth_offsets, truth_items, users) >= 0
    gain = 1.0 / np.log2(np.arange(2, k + 2))
    ideal = np.cumsum(gain)[np.minimum(wanted, k) - 1]
    count = hits.sum(axis=1)
    return {
        "recall": count / wanted,
        "ndcg": hits @ gain / ideal,
        "precision": count / k,
        "hit_rate": (count > 0).astype(np.float64),
    }


def coverage(top: np.ndarray, n_items: int) -> float:
    """Share of all items that at least one list holds."""
    return float(len(np.unique(top[top >= 0])) / n_items)


def popular_tenth(counts: np.ndarray) -> np.ndarray:
    """Whether each item is among the tenth (rounded up) with the most train interactions, ties by id."""
    popular = np.zeros(len(counts), dtype=bool)
    popular[np.argsort(-counts, kind="stable")[: -(-len(counts) // 10)]] = True
    return popular


def popular_share(top: np.ndarray, popular: np.ndarray) -> float:
    """Share of the filled places of all lists that hold a popular item."""
    listed = top[top >= 0]
    return float(popular[listed].mean()) if len(listed) else 0.0


def popularity_thirds(counts: np.ndarray) -> np.ndarray:
    """Group of each user or item by its train interactions: 0 head, 1 middle, 2 tail (see the module)."""
    order = np.argsort(-counts, kind="stable")
    ordered = counts[order].astype(np.int64)
    before = np.cumsum(ordered) - ordered
    group = np.empty(len(counts), dtype=np.int8)
    group[order] = np.where(ordered == 0, 2, np.minimum(3 * before // max(int(ordered.sum()), 1), 2))
    return group


def summarise(
    per: Mapping[str, np.ndarray],  # "recall@20" and so on, aligned with users
    top: np.ndarray,
    users: np.ndarray,
    train: Listed,
    truth: Listed,
    ks: Sequence[int],
) -> dict[str, float]:
    """Averages over all users and over the groups, as one flat mapping ready for a record.

    Keys: `recall@20`; `coverage@20`; `popular_share@20`; `users.head.ndcg@20` for users of a group;
    `items.tail.recall@20`, the recall of test items of a group, averaged over users who have any; `users.head.count` is
    the number of users averaged, `items.tail.count` of test interactions. A group that holds nobody has its count 0 and
    no averages.
    """
    result = {name: float(values.mean()) for name, values in per.items()}
    popular = popular_tenth(np.bincount(train.items, minlength=train.n_items))
    for k in ks:
        result[f"coverage@{k}"] = coverage(top[:, :k], truth.n_items)
        result[f"popular_share@{k}"] = popular_share(top[:, :k], popular)
    group_of_user = popularity_thirds(np.bincount(train.users, minlength=train.n_users))[users]
    for group, name in enumerate(GROUPS):
        chosen = group_of_user == group
        result[f"users.{name}.count"] = int(chosen.sum())
        if chosen.any():
            result |= {
                f"users.{name}.{metric}": float(values[chosen].mean()) for metric, values in per.items()
            }
    return result | _item_groups(top, users, train, truth, ks)


def _item_groups(
    top: np.ndarray, users: np.ndarray, train: Listed, truth: Listed, ks: Sequence[int]
) -> dict[str, float]:
    group_of_item = popularity_thirds(np.bincount(train.items, minlength=train.n_items))
    place = matches(top, truth.offsets(), truth.items, users)
    rank_of_pair = np.full(len(truth.items), max(ks), dtype=np.int64)
    row, rank = np.nonzero(place >= 0)
    rank_of_pair[place[row, rank]] = rank
    measured = np.isin(truth.users, users)
    result: dict[str, float] = {}
    for group, name in enumerate(GROUPS):
        pairs = (group_of_item[truth.items] == group) & measured
        result[f"items.{name}.count"] = int(pairs.sum())
        wanted = np.bincount(truth.users[pairs], minlength=truth.n_users)
        for k in ks if pairs.any() else ():
            hits = np.bincount(truth.users[pairs & (rank_of_pair < k)], minlength=truth.n_users)
            result[f"items.{name}.recall@{k}"] = float((hits[wanted > 0] / wanted[wanted > 0]).mean())
    return result
