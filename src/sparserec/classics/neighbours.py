"""Item neighbours: every item has a list of the items most often found beside it, and a user gets the sum of the lists.

    similarity of i and j = sum over users u of both of weight_u / (left_i * right_j + shrink)

cosine: weights 1, left and right the square roots of the numbers of users. RP3beta (Paudel et al., TiiS 2017): a walk
from an item to its users to their items, its steps to the power alpha, so weight_u = items_u^-alpha and left_i =
users_i^alpha; items that many walks end at are held back by right_j = users_j^beta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse
from pydantic import Field

from sparserec.classics.base import ClassicSettings, histories
from sparserec.compiled import compiled
from sparserec.data import Interactions
from sparserec.device import fake_quantise_flat, gap_bytes
from sparserec.evaluation import Scorer


class Cosine(ClassicSettings):
    neighbours: int = Field(100, ge=1)
    """Length of an item's list."""
    shrink: float = Field(10.0, ge=0)
    """Holds back pairs that few users stand for."""
    choices: ClassVar = {"shrink": (0.0, 5.0, 10.0, 20.0, 50.0), "neighbours": (20, 50, 100, 200)}

    def fit(self, train: Interactions) -> NeighbourLists:
        size = np.sqrt(np.maximum(train.item_counts(), 1))
        return nearest(train, self.neighbours, np.ones(train.n_users), size, size, self.shrink)


class RP3beta(ClassicSettings):
    neighbours: int = Field(100, ge=1)
    """Length of an item's list."""
    walk_exponent: float = Field(0.8, ge=0)
    """alpha: power of the steps of a walk; below 1 it evens out users with few and with many items."""
    popularity_exponent: float = Field(0.4, ge=0)
    """beta: power of an item's number of users that its similarities are divided by."""
    least_users: int = Field(1, ge=1)
    """People who must have both items for one to stand in the other's list."""
    choices: ClassVar = {
        "popularity_exponent": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), "walk_exponent": (0.2, 0.4, 0.6, 0.8, 1.0),
        "neighbours": (20, 50, 100, 200),
    }  # fmt: skip

    def fit(self, train: Interactions) -> NeighbourLists:
        items_of_user = np.maximum(train.user_counts(), 1.0)
        users_of_item = np.maximum(train.item_counts(), 1.0)
        left, right = users_of_item**self.walk_exponent, users_of_item**self.popularity_exponent
        weight = items_of_user**-self.walk_exponent
        return nearest(train, self.neighbours, weight, left, right, 0.0, self.least_users)


@dataclass(frozen=True, eq=False)
class NeighbourLists:
    """Row i holds the neighbours of item i, by ascending item, and their similarities."""

    lists: scipy.sparse.csr_matrix  # (items, items) float32

    @property
    def parameters(self) -> int:
        return int(self.lists.nnz)

    @property
    def columns(self) -> int:
        return int(self.lists.shape[1])

    def stored_bytes(self, bits: int) -> int:
        sizes, rows = np.unique(np.diff(self.lists.indptr), return_counts=True)
        parts = (gap_bytes(int(size), int(count), self.columns, bits) for size, count in zip(sizes, rows))
        return round(sum(parts))

    def quantised(self, bits: int) -> NeighbourLists:
        starts, n_items = self.lists.indptr, self.lists.shape[0]
        rows = np.repeat(np.arange(n_items), np.diff(starts))
        values = fake_quantise_flat(self.lists.data, rows, n_items, bits)
        return NeighbourLists(scipy.sparse.csr_matrix((values, self.lists.indices, starts), self.lists.shape))

    def scorer(self, history: scipy.sparse.csr_matrix) -> Scorer:
        return lambda users: (history[users] @ self.lists).toarray()


def nearest(
    train: Interactions,
    count: int,
    user_weight: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    shrink: float,
    least_users: int = 1,
) -> NeighbourLists:
    """The `count` most similar items of each, by the module's formula; of equal ones the lower item.

    Only pairs that at least `least_users` people have are looked at.
    """
    by_user, by_item = histories(train), histories(train).tocsc()
    weights = (user_weight.astype(np.float64), left.astype(np.float64), right.astype(np.float64))
    pairs = (by_user.indptr, by_user.indices), (by_item.indptr, by_item.indices)
    lists = _nearest(*pairs, weights, shrink, count, least_users)
    return NeighbourLists(scipy.sparse.csr_matrix(lists, shape=(train.n_items, train.n_items)))


@compiled()
def _nearest(by_user, by_item, weights, shrink, count, least):  # type: ignore[no-untyped-def]
    """Values, columns and starts of all lists; scratch is a few numbers per item and the lists themselves."""
    (user_starts, items), (item_starts, users), (user_weight, left, right) = by_user, by_item, weights
    n_items = len(item_starts) - 1
    summed, touched = np.zeros(n_items), np.empty(n_items, np.int32)
    people = np.zeros(n_items, np.int32)
    values = np.empty(n_items * min(count, n_items), np.float32)
    columns = np.empty(len(values), np.int32)
    starts = np.zeros(n_items + 1, np.int64)
    for item in range(n_items):
        found = 0
        for user in users[item_starts[item] : item_starts[item + 1]]:
            for other in items[user_starts[user] : user_starts[user + 1]]:
                if other != item:
                    if people[other] == 0:
                        touched[found] = other
                        found += 1
                    people[other] += 1
                    summed[other] += user_weight[user]
        reached = touched[:found]
        near = np.sort(reached[people[reached] >= least])
        similar = summed[near] / (left[item] * right[near] + shrink)
        summed[reached], people[reached] = 0.0, 0
        if len(near) > count:  # a stable order of the negatives keeps the lower of equal items
            chosen = np.sort(np.argsort(-similar, kind="mergesort")[:count])
            near, similar = near[chosen], similar[chosen]
        end = starts[item] + len(near)
        values[starts[item] : end] = similar
        columns[starts[item] : end] = near
        starts[item + 1] = end
    return values[: starts[n_items]].copy(), columns[: starts[n_items]].copy(), starts
