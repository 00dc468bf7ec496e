"""Batches and steps of a base: edges filtered over the graph, or users and their histories."""

from __future__ import annotations

from typing import Any, Protocol

from sparserec.data import Interactions, Sampler, UserSampler
from sparserec.graph import Adjacency
from sparserec.recommenders import History, Recommender
from sparserec.table import Ledger, Table
from sparserec.training.history_step import HistoryStepper
from sparserec.training.recipe import Recipe
from sparserec.training.step import Stepper


class Batches(Protocol):
    """What a step is made from, as a pure function of (epoch, step)."""

    @property
    def steps_per_epoch(self) -> int: ...

    def batch(self, epoch: int, step: int) -> Any:
        """The batch of one step, of the kind that the base's stepper takes."""


class Steps(Protocol):
    """One phase's steps."""

    table: Table

    def run(self, batch: Any, step: int, learning_rate: float) -> float:
        """Update the table with one batch; returns the loss before the update."""

    def ledger(self) -> Ledger:
        """Bytes of a step by role, the table's included."""


def make_sampler(recommender: Recommender, train: Interactions, recipe: Recipe, seed: int) -> Batches:
    """Batches of a training; the size of those of users is a setting of their base."""
    if isinstance(recommender, History):
        return UserSampler(train, recommender.settings.batch_of(train.n_users), seed)
    draws = recommender.sampling
    return Sampler(
        train,
        recipe.batch_size,
        seed,
        recipe.batches,
        draws.negatives_per_edge,
        draws.group_size,
        draws.reject,
    )


def make_stepper(
    recommender: Recommender, graph: Adjacency, table: Table, seed: int, weight_decay: float = 0.0
) -> Steps:
    """The steps of one phase on one table."""
    if isinstance(recommender, History):
        return HistoryStepper(recommender, graph, table, seed, weight_decay)
    return Stepper(recommender, graph, table, seed, weight_decay=weight_decay)
