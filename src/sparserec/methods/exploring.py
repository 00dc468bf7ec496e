"""What methods share that explore by the gradient of the last batch over the whole table."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from sparserec import streams
from sparserec.exploration import (
    LargestScores,
    Scope,
    active_target,
    cosine_drop_fraction,
    explores_after,
    prune_and_regrow,
    uniform_support,
)
from sparserec.methods.base import Context, StepInfo
from sparserec.table import SparseTable


@dataclass(frozen=True)
class Rule:
    """When to explore, how much to drop and how entries are compared."""

    interval: int
    """Steps between explorations."""
    last_step: int
    """No exploration from here on; the drop fraction has fallen to its floor."""
    drop_fraction: float
    floor: float
    scope: Scope
    keep_value: bool
    """An entry dropped and regrown at once keeps value and moments."""


def uniform_table(context: Context) -> SparseTable:
    """A table with exactly the budget of positions, drawn uniformly."""
    shape = context.shape()
    target = active_target(shape, context.density)
    support = uniform_support(shape, target, np.random.default_rng([context.seed, streams.SUPPORT]))
    return SparseTable.create(shape, support, context.initial(context.dim))


def watch_last_gradient(table: SparseTable) -> None:
    """Keep the whole gradient of every batch: 4 bytes for every entry of the full table."""
    table.set_candidates(np.arange(table.shape.n_rows, dtype=np.int32), cumulative=False)


def explore_by_last_gradient(context: Context, table: SparseTable, now: StepInfo, rule: Rule) -> None:
    """Drop and regrow when it is time."""
    if not explores_after(now.step, rule.interval, rule.last_step):
        return
    fraction = cosine_drop_fraction(now.step, rule.last_step, rule.drop_fraction, rule.floor)
    growth = LargestScores.accumulated(table)
    done = prune_and_regrow(table, fraction, now.step, growth, rule.scope, rule.keep_value)
    context.record("explore", drop_fraction=fraction, **asdict(done))
    if now.step + rule.interval < rule.last_step:
        watch_last_gradient(table)
