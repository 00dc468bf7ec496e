"""What all methods that explore have in common: when they do, how much is dropped and how, and what is recorded of it.

A method of its own gives `growth`: which inactive entries take the place of the dropped ones. Where it wants another
order of dropping than by magnitude it gives `drop_scores` too; `table.keep_gradient()` in `start` makes the gradient of
the active entries in the last batch available for either.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sparserec import streams
from sparserec.exploration import (
    Exploration,
    LargestScores,
    Scope,
    active_target,
    cosine_drop_fraction,
    deal_entries,
    even_support,
    explores_after,
    fill_uniformly,
    mark_kept,
    nmf_support,
    prune_and_regrow,
    rotated_table,
    uniform_support,
)
from sparserec.methods.base import Context, MethodDefaults, OneTraining, Phase, PhaseResult, StepInfo
from sparserec.settings import Between, Settings
from sparserec.table import DenseTable, SparseTable, Table

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
    """Entries dealt to a row grow with its number of interactions to this power, where rows are even or init is
    rotated.
    """
    dense_share: float = Field(0.5, gt=0)
    """Length of the dense training that init rotated begins with, as a share of the recipe's."""
    nmf_iterations: int = Field(50, ge=1)
    """Iterations of coordinate descent."""


class FromFirstTable(MethodDefaults):
    """One training; before it a short dense one where the support comes from that."""

    settings: FirstTableSettings
    memory = "sparse"
    sparse_state = True

    def __init__(self, settings: FirstTableSettings) -> None:
        self.settings = settings
        self.wants_factors = settings.nmf_iterations if settings.init == "nmf" else 0
        self.sparse_state = self.shardable = self.shardable_by_rows = settings.init != "rotated"
        # the dense training is all of the recipe's, so that a finished run of method `dense` may take its place
        self.begins_dense = settings.init == "rotated" and settings.dense_share == 1.0

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        phases = [Phase("train", context.epochs)]
        if self.settings.init == "rotated":
            epochs = max(1, round(self.settings.dense_share * context.epochs))
            dense = Phase(DENSE, epochs, validated=self.begins_dense)
            phases = [dense, Phase("train", context.epochs, scored_first=True)]
        return phases[len(done)] if len(done) < len(phases) else None


def rows_of(rows: Rows | None, context: Context) -> Rows:
    """What was asked for; by itself, even rows where items are all there is."""
    return rows or ("free" if context.user_rows else "even")


def first_table(
    context: Context,
    phase: Phase,
    previous: Table | None,
    init: Init,
    rows: Rows,
    exponent: float = 0.0,
    filled: bool = False,
) -> SparseTable | DenseTable:
    """The table of the phase; `filled`: a factorisation with fewer entries than the budget is filled up at random."""
    if phase.name == DENSE:
        return DenseTable.create(context.shape(), context.initial(context.dim))
    shape, rng = context.shape(), np.random.default_rng([context.seed, streams.SUPPORT])
    target = active_target(shape, context.density)
    if init == "rotated":
        assert isinstance(previous, DenseTable)
        sizes = deal_entries(np.concatenate(context.frequencies()), target, shape.dim, exponent)
        table, report = rotated_table(previous, sizes, rng, unit=not context.user_rows)
        context.record("rotate", **report)
        return table
    if rows == "even":
        return _even_table(context, init, target, exponent, rng)
    if init == "uniform":
        support = uniform_support(shape, target, rng)
    else:
        assert context.factors is not None
        support = nmf_support(shape, target, context.factors.load())
        support = fill_uniformly(shape, support, target, rng) if filled else support
    return SparseTable.create(shape, support, context.initial(context.dim))


def _even_table(
    context: Context, init: Init, target: int, exponent: float, rng: np.random.Generator
) -> SparseTable:
    """Values on a factorisation start positive: items that share a component are alike, whatever their other ones."""
    shape, entries = context.shape(), None
    sizes = deal_entries(np.concatenate(context.frequencies()), target, shape.dim, exponent)
    if init == "nmf":
        assert context.factors is not None
        entries = context.factors.load().scaled_entries(shape.n_users)
    table = SparseTable.create(
        shape, [even_support(shape, sizes, rng, entries)], context.initial(context.dim)
    )
    if init == "nmf":
        np.abs(table.values, out=table.values)
    return table


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


# Rows with more entries than the budget for a while, the surplus pruned row by row before the training ends.
#
# From what the comparison showed (docs/log.md): a trained table that is pruned keeps nearly all its quality when every
# row keeps its best few, and trains on to more. The surplus goes along a cubic (Zhu and Gupta, arXiv 1710.01878).


class CutSettings(Settings):
    start_ratio: Annotated[float, Between(1.0, 4.0)] = Field(1.0, ge=1)
    """Entries before the cuts, in budgets; never more than the whole table. 1: the budget from the start, no cuts."""
    cut_from: float = Field(0.5, ge=0, lt=1)
    """Share of the epochs at which cutting begins and exploring ends."""
    cut_until: float = Field(0.7, gt=0, le=1)
    """Share of the epochs at which the budget is reached."""

    @model_validator(mode="after")
    def _cuts_take_time(self) -> Self:
        if self.cut_from >= self.cut_until:
            raise ValueError(f"cut_from {self.cut_from} must be below cut_until {self.cut_until}")
        return self

    def wide(self, density: float) -> float:
        """The density before the cuts."""
        return min(1.0, self.start_ratio * density)

    def begun(self, now: StepInfo) -> bool:
        """Whether exploring has ended: nothing is grown after the first cut."""
        return self.start_ratio > 1 and now.step / now.last_step >= self.cut_from

    def wanted(self, table: SparseTable, density: float, now: StepInfo) -> int:
        """Entries that are left after this step.

        Cuts come where epochs end; where none ends between the last cut and the end of the training, after any step.
        """
        few = now.phase.epochs * (1.0 - self.cut_until) <= 1.0
        if not self.begun(now) or not (now.ends_epoch or few):
            return table.parameters()
        budget, wide = (active_target(table.shape, one) for one in (density, self.wide(density)))
        way = (now.step / now.last_step - self.cut_from) / (self.cut_until - self.cut_from)
        return min(table.parameters(), tapered(way, wide, budget))


def tapered(way: float, wide: int, budget: int) -> int:
    """Entries wanted at this part of the way: `wide` up to 0, then down a cubic to exactly `budget` from 1 on."""
    left = 1.0 - min(max(way, 0.0), 1.0)
    return budget + round((wide - budget) * left**3)


def cut_to(table: SparseTable, count: int, step: int, sizes: np.ndarray | None = None) -> None:
    """Keep `count` entries, the best `sizes` of every row first (None: of all rows as many); nothing grows from here
    on, so no gradients are summed.
    """
    table.set_candidates(None)
    keep = mark_kept(table, count, sizes)
    table.change_support(keep, [np.empty(0, np.int32) for _ in table.shape.blocks], step)
