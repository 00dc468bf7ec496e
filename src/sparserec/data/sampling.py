"""Training batches as a pure function of (seed, epoch, step): any step can be made again, in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparserec import streams
from sparserec.data.errors import SamplingError
from sparserec.data.interactions import Interactions
from sparserec.errors import SettingError


@dataclass(frozen=True)
class Batch:
    """Edges of one step and items to contrast them with; group g of negatives serves edges g*group_size onwards."""

    users: np.ndarray  # int32[edges]
    positives: np.ndarray  # int32[edges]
    negatives: np.ndarray  # int32[groups, per_edge]


class Sampler:
    """Draws batches from train interactions.

    `order="edges"`: every edge once per epoch in random order, the last batch may be short.
    `order="users"`: users with an interaction drawn uniformly, then one of their items, as LightGCN's code does.
    Edges with weights come as often as their weight says: in an epoch of as many edges, once for each mean weight that
    an edge has, the rest by chance; and a user's items in proportion. So every loss is weighed, whatever it is.
    Negatives are uniform; with `reject` and groups of one edge they are never a train item of that edge's user.
    """

    def __init__(
        self,
        train: Interactions,
        batch_size: int,
        seed: int,
        order: Literal["edges", "users"] = "edges",
        negatives_per_edge: int = 1,
        group_size: int = 1,
        reject: bool = True,
    ) -> None:
        _check(train, batch_size, seed, order, negatives_per_edge, group_size)
        self.train, self.batch_size, self.seed, self.order = train, batch_size, seed, order
        self.negatives_per_edge, self.group_size = negatives_per_edge, group_size
        self.reject = reject and group_size == 1
        self._offsets = train.offsets()
        self._active = np.flatnonzero(np.diff(self._offsets)).astype(np.int32)
        self._rounds = int(np.diff(self._offsets).max()).bit_length()
        self._ends = None if train.weights is None else np.cumsum(train.weights, dtype=np.float64)
        self._epoch, self._permutation = -1, np.empty(0, np.int32)
        if self.reject:
            self._refuse_full_users()

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self.train) // self.batch_size)

    def batch(self, epoch: int, step: int) -> Batch:
        """The batch of one step; 0 <= step < steps_per_epoch."""
        if not 0 <= step < self.steps_per_epoch:
            raise SamplingError(f"step {step} is outside an epoch of {self.steps_per_epoch} steps")
        rng = np.random.Generator(
            np.random.Philox(np.random.SeedSequence([streams.DRAWN_ITEMS, self.seed, epoch, step]))
        )
        start = step * self.batch_size
        size = min(self.batch_size, len(self.train) - start)
        edges = (
            self._epoch_order(epoch)[start : start + size]
            if self.order == "edges"
            else self._by_user(rng, size)
        )
        if self.group_size == 1:  # edges are stored by user: their rows are then met one after the other
            edges = np.sort(edges)
        users = self.train.users[edges]
        return Batch(users, self.train.items[edges], self._negatives(rng, users))

    def _epoch_order(self, epoch: int) -> np.ndarray:
        """The random order of all edges in one epoch; only the current epoch's is kept."""
        if epoch != self._epoch:
            self._permutation = np.empty(0, np.int32)
            stream = np.random.SeedSequence([streams.EDGE_ORDER, self.seed, epoch])
            rng = np.random.Generator(np.random.Philox(stream))
            order = self._edges_of_epoch(rng)
            rng.shuffle(order)
            self._epoch, self._permutation = epoch, order
        return self._permutation

    def _edges_of_epoch(self, rng: np.random.Generator) -> np.ndarray:
        """Every edge once, or, with weights, as often as its share of them says, rounded up or down by chance."""
        count = len(self.train)
        if self._ends is None:
            return np.arange(count, dtype=np.int32)
        marks = (np.arange(count) + rng.random()) * (self._ends[-1] / count)
        return np.minimum(np.searchsorted(self._ends, marks, side="right"), count - 1).astype(np.int32)

    def _by_user(self, rng: np.random.Generator, size: int) -> np.ndarray:
        users = self._active[rng.integers(0, len(self._active), size)]
        start, end = self._offsets[users], self._offsets[users + 1]
        if self._ends is None:
            return start + (rng.random(size) * (end - start)).astype(np.int32)
        before = np.where(start > 0, self._ends[np.maximum(start - 1, 0)], 0.0)
        marks = before + rng.random(size) * (self._ends[end - 1] - before)
        found = np.searchsorted(self._ends, marks, side="right")
        return np.clip(found, start, end - 1).astype(np.int32)

    def _negatives(self, rng: np.random.Generator, users: np.ndarray) -> np.ndarray:
        if not self.reject:
            shape = -(-len(users) // self.group_size), self.negatives_per_edge
            return rng.integers(0, self.train.n_items, shape, dtype=np.int32)
        repeated = np.repeat(users, self.negatives_per_edge)
        unseen = self.train.n_items - (self._offsets[repeated + 1] - self._offsets[repeated])
        rank = (rng.random(len(repeated)) * unseen).astype(np.int32)
        return self._unseen_item(repeated, rank).reshape(len(users), self.negatives_per_edge)

    def _unseen_item(self, users: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """The rank-th item (from 0) each user has not seen.

        Same distribution as drawing until a draw is not a positive, without the loop: the answer is rank + k, where
        k counts the user's sorted items p_0 < p_1 < ... with p_j - j <= rank, found by binary search in all rows.
        """
        start = self._offsets[users]
        low, high = start.copy(), self._offsets[users + 1].copy()
        last = len(self.train) - 1
        for _ in range(self._rounds):
            middle = low + ((high - low) >> 1)
            below = self.train.items[np.minimum(middle, last)] - (middle - start) <= rank
            below &= low < high
            low = np.where(below, middle + 1, low)
            high = np.where(below, high, middle)
        return rank + (low - start)

    def _refuse_full_users(self) -> None:
        full = np.flatnonzero(np.diff(self._offsets) == self.train.n_items)
        if len(full):
            name = self.train.user_ids.external(full[:1])[0]
            raise SamplingError(
                f"user {name} has all {self.train.n_items} items in train ({len(full)} such users): there is no item "
                "to contrast with; leave such users out or sample without rejection"
            )


def _check(
    train: Interactions, batch_size: int, seed: int, order: str, per_edge: int, group_size: int
) -> None:
    if len(train) == 0:
        raise SamplingError("there are no train interactions to draw batches from")
    sizes = {"batch_size": batch_size, "negatives_per_edge": per_edge, "group_size": group_size}
    for name, value in sizes.items():
        if value < 1:
            raise SettingError(f"{name} must be at least 1 (got {value})")
    if seed < 0:
        raise SettingError(f"seed must not be negative (got {seed})")
    if order not in ("edges", "users"):
        raise SettingError(f"sampling order must be 'edges' or 'users' (got {order!r})")


# Batches of users, for losses that look at whole histories; a pure function of (seed, epoch, step) like `Sampler`.

FEWEST_ITEMS = 2
"""A user with one item has nothing it could be predicted from."""


class UserSampler:
    """Every user with at least two train items once per epoch in random order; the last batch may be short."""

    def __init__(self, train: Interactions, batch_size: int, seed: int) -> None:
        self.batch_size, self.seed = batch_size, seed
        self._users = np.flatnonzero(train.user_counts() >= FEWEST_ITEMS).astype(np.int32)
        if len(self._users) == 0:
            raise SamplingError(
                "no user has two train items, so no item can be predicted from the others of its user; "
                "train another base than history, or bring a longer log"
            )
        self._epoch, self._order = -1, self._users

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self._users) // self.batch_size)

    def batch(self, epoch: int, step: int) -> np.ndarray:
        """User numbers of one step, int32; 0 <= step < steps_per_epoch."""
        if not 0 <= step < self.steps_per_epoch:
            raise SamplingError(f"step {step} is outside an epoch of {self.steps_per_epoch} steps")
        if epoch != self._epoch:
            stream = np.random.SeedSequence([streams.USER_ORDER, self.seed, epoch])
            self._order = np.random.Generator(np.random.Philox(stream)).permutation(self._users)
            self._epoch = epoch
        return self._order[step * self.batch_size : (step + 1) * self.batch_size]
