"""What all methods that explore have in common: when they do, how much is dropped and how, and what is recorded of it.

A method of its own gives `growth`: which inactive entries take the place of the dropped ones; `gather` asks the table
for the gradients that it chooses by. Where it wants another order of dropping than by magnitude it gives `drop_scores`
too; `table.keep_gradient()` in `start` makes the gradient of the active entries in the last batch available for either.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.exploration import (
    Exploration,
    LargestScores,
    Scope,
    active_target,
    allocate_entries,
    cosine_drop_fraction,
    even_support,
    explores_after,
    fill_uniformly,
    nmf_support,
    prune_and_regrow,
    rotated_table,
    uniform_support,
)
from sparserec.methods.base import Context, Method, Phase, StepInfo
from sparserec.settings import Between, Settings
from sparserec.table import DenseTable, Held, SparseTable, Table

# Where a sparse table starts: a factorisation, a rotated dense table, or chance.
#
# Shared by the methods that have one.

Init = Literal["nmf", "rotated", "uniform"]
"""nmf: where a non-negative factorisation of the interactions is not zero. rotated: a dense table is trained for a
short while and turned to the axes on which its rows are sparsest. uniform: drawn at random."""
Rows = Literal["free", "even"]
"""free: rows compete for the budget, as in the paper. even: every row has its own number of entries and keeps it."""
DENSE = "rotate"


class FirstTableSettings(Settings):
    init: Init = "uniform"
    """Where the support is at first."""
    row_exponent: float = Field(0.0, ge=0, le=1)
    """Entries of a row grow with its number of interactions to this power, where rows are even or init is
    rotated.
    """
    dense_share: float = Field(0.5, gt=0)
    """Length of the dense training that init rotated begins with, as a share of the recipe's."""
    nmf_iterations: int = Field(50, ge=1)
    """Iterations of coordinate descent."""


class FromFirstTable(Method):
    """One training; before it a short dense one where the support comes from that."""

    settings: FirstTableSettings
    memory = "sparse"

    def __init__(self, settings: FirstTableSettings) -> None:
        self.settings = settings
        self.wants_factors = settings.nmf_iterations if settings.init == "nmf" else 0
        self.sparse_state = self.shardable = self.shardable_by_rows = settings.init != "rotated"
        # the dense training is all of the recipe's, so that a finished run of method `dense` may take its place
        self.begins_dense = settings.init == "rotated" and settings.dense_share == 1.0

    def phases(self, context: Context) -> list[Phase]:
        if self.settings.init != "rotated":
            return super().phases(context)
        epochs = max(1, round(self.settings.dense_share * context.epochs))
        dense = Phase(DENSE, epochs, validated=self.begins_dense, holds=context.dense())
        return [dense, Phase("train", context.epochs, scored_first=True, holds=self.holds(context))]

    def first_table(
        self, context: Context, phase: Phase, previous: Table | None, even: bool, filled: bool = False
    ) -> SparseTable | DenseTable:
        """The table of the phase; `filled`: a factorisation with fewer entries than the budget is filled up at random.

        Values of even rows on a factorisation start positive: items that share a component are alike, whatever their
        other ones.
        """
        shape, initial, init = context.shape(), context.initial(context.dim), self.settings.init
        if phase.name == DENSE:
            return DenseTable.create(shape, initial)
        target, rng = (
            active_target(shape, context.density),
            np.random.default_rng([context.seed, streams.SUPPORT]),
        )
        factors = None
        if init == "nmf":
            assert context.factors is not None
            factors = context.factors.load()
        if init == "rotated" or even:
            counts = np.concatenate(context.frequencies())
            sizes = allocate_entries(counts, target, shape.dim, self.settings.row_exponent)
        if init == "rotated":
            assert isinstance(previous, DenseTable)
            rotated, report = rotated_table(previous, sizes, rng, unit=not context.user_rows)
            context.record("rotate", **report)
            return rotated
        if even:
            entries = None if factors is None else factors.scaled_entries(shape.n_users)
            table = SparseTable.create(shape, [even_support(shape, sizes, rng, entries)], initial)
            if factors is not None:
                np.abs(table.values, out=table.values)
            return table
        support = (
            uniform_support(shape, target, rng) if factors is None else nmf_support(shape, target, factors)
        )
        support = fill_uniformly(shape, support, target, rng) if filled else support
        return SparseTable.create(shape, support, initial)


def even_rows(rows: Rows | None, context: Context) -> bool:
    """Whether rows are even: as asked for; by itself, where items are all there is."""
    return rows == "even" or (rows is None and not context.user_rows)


def uniform_positions(context: Context) -> list[np.ndarray]:
    """The budget of positions, drawn uniformly."""
    shape = context.shape()
    return uniform_support(
        shape, active_target(shape, context.density), np.random.default_rng([context.seed, streams.SUPPORT])
    )


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


class RuleSettings(Settings):
    """Settings of methods whose explorations end before the training does."""

    drop_fraction: Annotated[float, Between(0.05, 0.6)] = Field(0.3, ge=0, lt=1)
    """Share of active entries dropped at the first exploration."""
    explore_until: Annotated[float, Between(0.3, 1.0)] = Field(0.75, gt=0, le=1)
    """Share of the training after which the support stays fixed."""
    scope: Scope = "joint"
    """Rank users and items as one table, or each by itself with the magnitude split."""

    def rule(self, keep_value: bool = True) -> Rule:
        return Rule(self.drop_fraction, until=self.explore_until, scope=self.scope, keep_value=keep_value)


class Exploring(Method):
    """Starts from a random support and explores by the rule of its settings."""

    settings_kind: type[Settings] = RuleSettings
    rule: Rule
    memory = "sparse"
    sparse_state = True
    shardable = True

    def __init__(self, settings: Any) -> None:
        self.settings, self.rule = settings, settings.rule()

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        table = SparseTable.create(context.shape(), uniform_positions(context), context.initial(context.dim))
        self.gather(context, table, 0)
        return table

    def gather(self, context: Context, table: SparseTable, step: int) -> None:
        """An exploration lies ahead: ask the table for the gradients that it will choose by."""

    def after_step(self, context: Context, table: Any, now: StepInfo) -> bool:
        """Explore when it is time, and gather for the next one where there is one."""
        if self.due(context, now):
            self.explore(context, table, now)
            last_step = self.last_step(now)
            if now.step + context.exploration_interval(last_step) < last_step:
                self.gather(context, table, now.step)
        return False

    def growth(self, context: Context, table: Any, now: StepInfo) -> Any:
        """Which entries may grow, and which of them do: a `Growth`."""
        return LargestScores.accumulated(table)

    def drop_scores(self, table: Any) -> np.ndarray | None:
        """One number for every active entry, compared by magnitude; the smallest go first. None: their values."""
        return None

    def exchange(self, context: Context, table: Any, fraction: float, step: int, growth: Any) -> Exploration:
        """Drop, and grow as many."""
        rule, scores = self.rule, self.drop_scores(table)
        return prune_and_regrow(table, fraction, step, growth, rule.scope, rule.keep_value, scores)

    def last_step(self, now: StepInfo) -> int:
        """No exploration from here on; the drop fraction has fallen to its floor."""
        return round(self.rule.until * now.last_step)

    def due(self, context: Context, now: StepInfo, ahead: int = 0, since: int = 0) -> bool:
        """Whether an exploration follows this step, or the one so many steps ahead; intervals begin at `since`."""
        last_step = self.last_step(now)
        return explores_after(now.step + ahead, context.exploration_interval(last_step), last_step, since)

    def explore(self, context: Context, table: Any, now: StepInfo) -> None:
        """Drop, grow and record."""
        rule, growth = self.rule, self.growth(context, table, now)
        fraction = cosine_drop_fraction(now.step, self.last_step(now), rule.drop_fraction, rule.floor)
        done = self.exchange(context, table, fraction, now.step, growth)
        context.record("explore", drop_fraction=fraction, **getattr(growth, "recorded", {}), **asdict(done))


class ByLastGradient(Exploring):
    """Grows where the gradient of the last batch is largest, over the whole table."""

    memory = "dense"
    sparse_state = False  # the gradient of every entry is kept to choose from, 4 bytes each

    def holds(self, context: Context) -> Held:
        return context.sparse(candidates=context.shape().n_rows)

    def gather(self, context: Context, table: SparseTable, step: int) -> None:
        table.set_candidates(np.arange(table.shape.n_rows, dtype=np.int32), cumulative=False)
