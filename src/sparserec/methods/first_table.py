"""Where a sparse table starts: a factorisation, a rotated dense table, or chance.

Shared by the methods that have one.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.exploration import (
    active_target,
    deal_entries,
    even_support,
    fill_uniformly,
    nmf_support,
    rotated_table,
    uniform_support,
)
from sparserec.methods.base import Context, MethodDefaults, Phase, PhaseResult
from sparserec.settings import Settings
from sparserec.table import DenseTable, SparseTable, Table

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
