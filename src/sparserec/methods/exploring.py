"""What all methods that explore have in common: when they do, how much is dropped and how, and what is recorded of it.

A method of its own gives `growth`: which inactive entries take the place of the dropped ones. Where it wants another
order of dropping than by magnitude it gives `drop_scores` too; `table.keep_gradient()` in `start` makes the gradient of
the active entries in the last batch available for either.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.exploration import (
    Exploration,
    LargestScores,
    Scope,
    active_target,
    cosine_drop_fraction,
    explores_after,
    prune_and_regrow,
    uniform_support,
)
from sparserec.methods.base import Context, Phase, StepInfo
from sparserec.methods.plain import OneTraining
from sparserec.settings import Between, Settings
from sparserec.table import SparseTable, Table


@dataclass(frozen=True)
class Rule:
    """How much to drop, until when, and how entries are compared."""

    drop_fraction: float
    """Share of active entries dropped at the first exploration; falls along half a cosine."""
    floor: float = 0.0
    """What the share falls to."""
    until: float = 1.0
    """Share of the training after which the support stays fixed."""
    scope: Scope = "joint"
    """Rank users and items as one table, or each by itself with the magnitude split."""
    keep_value: bool = True
    """An entry dropped and regrown at once keeps value and moments."""


class Exploring(OneTraining):
    """Starts from a random support and explores by its rule."""

    rule: Rule
    memory = "sparse"
    sparse_state = True
    shardable = True

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        return uniform_table(context)

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        self.explore(context, table, now)
        return False

    def growth(self, context: Context, table: Any, now: StepInfo) -> Any:
        """Which entries may grow, and which of them do: a `Growth`."""
        raise NotImplementedError

    def drop_scores(self, table: Any) -> np.ndarray | None:
        """One number for every active entry, compared by magnitude; the smallest go first. None: their values."""
        return None

    def exchange(self, context: Context, table: Any, fraction: float, step: int, growth: Any) -> Exploration:
        """Drop, and grow as many."""
        rule = self.rule
        scores = self.drop_scores(table)
        return prune_and_regrow(table, fraction, step, growth, rule.scope, rule.keep_value, scores)

    def last_step(self, now: StepInfo) -> int:
        """No exploration from here on; the drop fraction has fallen to its floor."""
        return round(self.rule.until * now.last_step)

    def due(self, context: Context, now: StepInfo, ahead: int = 0, since: int = 0) -> bool:
        """Whether an exploration follows this step, or the one so many steps ahead."""
        last_step = self.last_step(now)
        interval = context.exploration_interval(last_step)
        return explores_after(now.step + ahead, interval, last_step, since)

    def another(self, context: Context, now: StepInfo) -> bool:
        """Whether one follows after this one: else nothing will ask for what would be gathered for it."""
        last_step = self.last_step(now)
        return now.step + context.exploration_interval(last_step) < last_step

    def explore(self, context: Context, table: Any, now: StepInfo, since: int = 0) -> bool:
        """Drop and grow when it is time, `since` the step after which the interval begins; True when it was."""
        if not self.due(context, now, since=since):
            return False
        self.explore_now(context, table, now)
        return True

    def explore_now(self, context: Context, table: Any, now: StepInfo) -> None:
        """Drop, grow and record."""
        rule, growth = self.rule, self.growth(context, table, now)
        fraction = cosine_drop_fraction(now.step, self.last_step(now), rule.drop_fraction, rule.floor)
        done = self.exchange(context, table, fraction, now.step, growth)
        context.record("explore", drop_fraction=fraction, **_said_of(growth), **asdict(done))


class ByLastGradient(Exploring):
    """Grows where the gradient of the last batch is largest, over the whole table."""

    memory = "dense"
    sparse_state = False  # the gradient of every entry is kept to choose from

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        table = uniform_table(context)
        watch_last_gradient(table)
        return table

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        if self.explore(context, table, now) and self.another(context, now):
            assert isinstance(table, SparseTable)
            watch_last_gradient(table)
        return False

    def growth(self, context: Context, table: Any, now: StepInfo) -> Any:
        return LargestScores.accumulated(table)


class RuleSettings(Settings):
    """Settings of methods whose explorations end before the training does."""

    drop_fraction: Annotated[float, Between(0.05, 0.6)] = Field(0.3, ge=0, lt=1)
    """Share of active entries dropped at the first exploration."""
    explore_until: Annotated[float, Between(0.3, 1.0)] = Field(0.75, gt=0, le=1)
    """Share of the training after which the support stays fixed."""
    scope: Scope = "joint"
    """Rank users and items as one table, or each by itself with the magnitude split."""

    def rule(self, keep_value: bool) -> Rule:
        return Rule(self.drop_fraction, until=self.explore_until, scope=self.scope, keep_value=keep_value)


def uniform_table(context: Context) -> SparseTable:
    """A table with exactly the budget of positions, drawn uniformly."""
    return SparseTable.create(context.shape(), uniform_positions(context), context.initial(context.dim))


def uniform_positions(context: Context) -> list[np.ndarray]:
    """The budget of positions, drawn uniformly."""
    shape = context.shape()
    target = active_target(shape, context.density)
    return uniform_support(shape, target, np.random.default_rng([context.seed, streams.SUPPORT]))


def watch_last_gradient(table: SparseTable) -> None:
    """Keep the whole gradient of every batch: 4 bytes for every entry of the full table."""
    table.set_candidates(np.arange(table.shape.n_rows, dtype=np.int32), cumulative=False)


def _said_of(growth: Any) -> dict[str, Any]:
    return getattr(growth, "recorded", {})
