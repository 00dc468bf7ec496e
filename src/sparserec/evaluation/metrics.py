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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import torch

from sparserec.data import Interactions
from sparserec.distributed import ALONE, Processes
from sparserec.errors import DataError, SettingError
from sparserec.evaluation.ranking import Listing, Scorer, UserVectors, top_items, top_scored

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


# From vectors and a split to metrics: rank all items, compare with what was held out, keep every user's result.


@dataclass(frozen=True)
class Evaluation:
    """What one evaluation found. Per-user results are kept so that two runs can be compared user by user."""

    metrics: dict[str, float]
    """Averages by name; `metrics.summarise` says which."""
    per_user: dict[str, np.ndarray]
    """`recall@20` and so on, one number per user, aligned with `users`."""
    users: np.ndarray
    """The users measured: all who have held-out items, ascending."""


def evaluate(
    user_vectors: UserVectors,
    item_vectors: torch.Tensor,  # (n_items, dim)
    train: Listed,
    truth: Listed,
    also_seen: Sequence[Listed] = (),
    ks: Sequence[int] = (20,),
    processes: Processes = ALONE,
) -> Evaluation:
    """Rank all items but those of `train` and `also_seen` for every user of `truth` and measure the lists.

    Several processes share the users, and all get the result.
    """

    def ranked(users: np.ndarray, k: int, seen: Sequence[Listing]) -> np.ndarray:
        if len(item_vectors) != train.n_items:
            raise DataError(f"{len(item_vectors)} item vectors for {train.n_items} items")
        return top_items(user_vectors, item_vectors, users, k, seen, processes=processes)

    return _measure(ranked, train, truth, also_seen, ks)


def evaluate_scorer(
    scorer: Scorer, train: Listed, truth: Listed, also_seen: Sequence[Listed] = (), ks: Sequence[int] = (20,)
) -> Evaluation:
    """The same for a recommender that has no vectors, only scores."""
    return _measure(partial(top_scored, scorer, train.n_items), train, truth, also_seen, ks)


def _measure(
    ranked: Callable[[np.ndarray, int, Sequence[Listing]], np.ndarray],
    train: Listed,
    truth: Listed,
    also_seen: Sequence[Listed],
    ks: Sequence[int],
) -> Evaluation:
    """Metrics of the lists that `ranked` makes for users, a length and what is hidden."""
    if len(truth.items) == 0:
        raise DataError("there is nothing to evaluate on: the held-out part of the split is empty")
    sizes = {(part.n_users, part.n_items) for part in (train, truth, *also_seen)}
    if len(sizes) > 1:
        raise DataError(f"the parts of the split differ in (users, items): {sorted(sizes)}")
    if not ks or min(ks) < 1 or max(ks) > train.n_items:
        raise SettingError(
            f"ks = {list(ks)}: list lengths must be between 1 and the number of items, {train.n_items}"
        )
    users = np.flatnonzero(np.diff(truth.offsets())).astype(np.int32)
    top = ranked(users, max(ks), [(known.offsets(), known.items) for known in (train, *also_seen)])
    per = {
        f"{name}@{k}": values
        for k in ks
        for name, values in per_user(top, truth.offsets(), truth.items, users, k).items()
    }
    return Evaluation(summarise(per, top, users, train, truth, ks), per, users)


def some_users(part: Interactions, count: int, seed: int = 0) -> Interactions:
    """The interactions of at most `count` users drawn at random: enough to choose by, a fraction of the time."""
    users = np.unique(part.users)
    if len(users) <= count:
        return part
    chosen = np.zeros(part.n_users, bool)
    chosen[np.random.default_rng(seed).choice(users, count, replace=False)] = True
    return part.select(chosen[part.users])
