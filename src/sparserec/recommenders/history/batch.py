"""Settings of base `history`, and what a step looks at: the pairs of its users, and the items its softmax runs over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.compiled import compiled
from sparserec.counter import dropout_factor, key_of
from sparserec.graph import Adjacency
from sparserec.settings import Between, Settings
from sparserec.table import Shape

TEMPERATURE = 0.2
"""Where none is given and none is chosen."""


class HistorySettings(Settings):
    temperature: Annotated[float | None, Between(0.05, 4.0, log=True)] = Field(None, gt=0)
    """Scores are divided by it, times the mean length of items' vectors, before the softmax; None: chosen on
    validation by short trainings, .2 without validation.
    """
    item_exponent: Annotated[float, Between(0.0, 0.5)] = Field(0.1, ge=0, le=1)
    """Weight of an item in a history: its number of users to minus this. The graph's normalisation would be .5."""
    length_exponent: Annotated[float | None, Between(0.0, 0.5)] = Field(None, ge=0, le=1)
    """Length of an item's vector: its number of users to this power; longer ones are recommended sooner. None: chosen
    on validation where the temperature is, else 0.
    """
    user_exponent: Annotated[float, Between(0.0, 1.0)] = Field(0.5, ge=0, le=1)
    """Weight of a user in the loss: the size of their history to this power. 0: users weigh the same, 1: pairs do."""
    history_dropout: Annotated[float, Between(0.0, 0.5)] = Field(0.0, ge=0, lt=1)
    """Share of a history left out of the user's vector in a training step; it is still to be predicted."""
    candidate_cost: float = Field(0.5, gt=0)
    """Entries of candidates whose gradient a step takes, as a share of the active entries: candidates take turns, and
    the more are looked at, the slower is a step. 1000: all of them on every step."""
    users_per_batch: int | None = Field(None, ge=1)
    """Users of a training step; None: 256, fewer where that would leave an epoch with fewer than 40 steps."""
    largest_softmax: int = Field(100_000_000, ge=1)
    """Items times users of a batch up to which the softmax runs over all items; beyond it over a sample of that size.
    """

    def batch_of(self, n_users: int) -> int:
        """Users of a training step where there are so many of them."""
        return self.users_per_batch or min(256, max(32, n_users // 40))


@dataclass(frozen=True)
class HistoryBatch:
    """Pairs of the batch's users sorted by item, and the items of the softmax, which hold all of the pairs'."""

    users: np.ndarray  # float32 (users,) weight of each user in the loss; they sum to 1
    items: np.ndarray  # int32 (pairs,) ascending
    owners: np.ndarray  # int32 (pairs,) whose pair it is, as a place in the batch
    weights: np.ndarray  # float32 (pairs,) of the item in the user's vector, over the temperature; 0: dropped
    targets: np.ndarray  # float32 (pairs,) weight of the pair in the loss; they sum to 1
    softmax: np.ndarray  # int32 (n,) ascending
    odds: np.ndarray  # float32 (n,) how many items each one of the softmax stands for
    starts: np.ndarray  # int32 (n + 1,) where the pairs of each item of the softmax begin
    lengths: np.ndarray  # float32 (items of the log,) how long each item's vector is

    def chunks(self, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
        """Where the pairs, and the items of the softmax, of each chunk of rows held here begin; and end, at last."""
        edges = shape.held_edges
        return np.searchsorted(self.items, edges), np.searchsorted(self.softmax, edges)


class Histories:
    """Makes batches from users; a pure function of (seed, step)."""

    def __init__(self, graph: Adjacency, settings: HistorySettings, seed: int) -> None:
        self.graph, self.settings, self.seed = graph, settings, seed
        most = settings.largest_softmax // settings.batch_of(graph.n_users)
        self.softmax_items = min(graph.n_items, max(1, most))
        ones = np.ones(graph.n_items, np.float32)
        self.lengths = ones if graph.item_lengths is None else graph.item_lengths
        self.temperature = np.float32((settings.temperature or TEMPERATURE) * self.lengths.mean())
        self._all = np.arange(graph.n_items, dtype=np.int32), ones

    def batch(self, users: np.ndarray, step: int) -> HistoryBatch:
        """The histories of these users, with this step's dropout and sample."""
        graph, settings = self.graph, self.settings
        first, sizes = graph.offsets[users], graph.offsets[users + 1] - graph.offsets[users]
        pairs = np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum(), dtype=np.int32)
        owners = np.repeat(np.arange(len(users), dtype=np.int32), sizes)
        items = graph.neighbours[pairs] - np.int32(graph.n_users)
        weights = graph.weights[pairs] / self.temperature
        if settings.history_dropout:
            key = key_of(self.seed, streams.HISTORY_DROPOUT, step)
            _drop(weights, users[owners], items, key, settings.history_dropout)  # type: ignore[arg-type]
        of_users, targets = self._counted(pairs, owners, sizes)
        order = np.argsort(items, kind="stable")
        items = items[order]
        sampled = self.softmax_items < graph.n_items
        softmax, odds = self._sample(items, step) if sampled else self._all
        starts = np.append(np.searchsorted(items, softmax), len(items)).astype(np.int32)
        of_pairs = items, owners[order], weights[order], targets[order]
        return HistoryBatch(of_users, *of_pairs, softmax, odds, starts, self.lengths)

    def _counted(
        self, pairs: np.ndarray, owners: np.ndarray, sizes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What each user, and each of their pairs, counts for in the loss: a pair of weight 2 as if it were two."""
        given = self.graph.pair_weights
        own = None if given is None else given[pairs].astype(np.float64)
        totals = sizes.astype(np.float64) if own is None else np.bincount(owners, own, len(sizes))
        of_users = totals**self.settings.user_exponent
        of_users = (of_users / of_users.sum()).astype(np.float32)
        if own is None:
            return of_users, np.repeat(of_users / sizes.astype(np.float32), sizes)
        return of_users, (of_users[owners] * (own / totals[owners])).astype(np.float32)

    def _sample(self, items: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        """All items of the batch, each for itself, and others drawn uniformly, each standing for as many as it must."""
        rng = np.random.Generator(np.random.Philox(int(key_of(self.seed, streams.HISTORY_SAMPLE, step))))
        own = np.zeros(self.graph.n_items, bool)
        own[items] = True
        others = np.flatnonzero(~own)
        count = min(len(others), max(1, self.softmax_items - (len(own) - len(others))))
        drawn = rng.choice(others, count, replace=False) if len(others) else others
        softmax = np.sort(np.concatenate([np.flatnonzero(own), drawn])).astype(np.int32)
        odds = np.where(own[softmax], np.float32(1.0), np.float32(len(others) / max(count, 1)))
        return softmax, odds


@compiled()
def _drop(weights: np.ndarray, users: np.ndarray, items: np.ndarray, key: int, rate: float) -> None:
    for pair in range(len(weights)):
        weights[pair] *= dropout_factor(key, rate, users[pair], items[pair])
