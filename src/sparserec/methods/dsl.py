"""dsl: dynamic sparse training as DSL does it (WSDM 2024), in the released form and as SparseRec describes it.

released: users and items are one table under a mask; the smallest active entries are dropped and the entries with the
largest gradient of the last batch activated. Masks are applied to values only, so every entry has a gradient and Adam
moments at all times: the state is dense, and the ledger says so. described: the two tables are pruned apart, regrowth
is split by their magnitudes, regrown entries start at 0, and moments exist on active entries only (their own age
corrects Adam); the last batch's gradient is still dense. Both start from exactly the budget of positions (the code
draws each with probability `density`), explore to the end, and are restored to the best validation epoch (the code
reports the best test epoch).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.exploration import (
    active_target,
    cosine_drop_fraction,
    explores_after,
    prune_and_regrow_masked,
    uniform_support,
)
from sparserec.methods.base import Context, Phase, PhaseResult, StepInfo
from sparserec.methods.exploring import (
    Rule,
    explore_by_last_gradient,
    uniform_table,
    watch_last_gradient,
)
from sparserec.methods.plain import MethodDefaults
from sparserec.settings import Settings
from sparserec.table import MaskedTable, SparseTable, Table


class DSLSettings(Settings):
    mode: Literal["released", "described"] = "released"
    """As the released code works, or as SparseRec's paper describes it."""
    drop_fraction: float = Field(0.5, ge=0, lt=1)
    """Share of active entries dropped at the first exploration."""
    drop_floor: float = Field(0.005, ge=0, lt=1)
    """What the share falls to at the end, along half a cosine."""


class DSL(MethodDefaults):
    name = "dsl"
    sparse_state = False  # a dense gradient in both modes, dense moments too in the released one

    def __init__(self, settings: DSLSettings) -> None:
        self.settings = settings

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        """One training; the released mode ends by leaving the mask and everything under it behind."""
        phases = [Phase("train", context.epochs)]
        if self.settings.mode == "released":
            phases.append(Phase("compact", 0, scored_first=True))
        return phases[len(done)] if len(done) < len(phases) else None

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        if phase.name == "compact":
            assert isinstance(previous, MaskedTable)
            return previous.to_sparse()
        if self.settings.mode == "described":
            table = uniform_table(context)
            watch_last_gradient(table)
            return table
        shape = context.shape()
        target = active_target(shape, context.density)
        support = uniform_support(shape, target, np.random.default_rng([context.seed, streams.SUPPORT]))
        return MaskedTable.create(shape, support, context.initial(context.dim))

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        settings, interval = self.settings, context.exploration_interval(now.last_step)
        if isinstance(table, SparseTable):
            rule = Rule(
                interval=interval,
                last_step=now.last_step,
                drop_fraction=settings.drop_fraction,
                floor=settings.drop_floor,
                scope="tables",
                keep_value=False,  # "regrown entries start at zero"
            )
            explore_by_last_gradient(context, table, now, rule)
        elif explores_after(now.step, interval, now.last_step):
            assert isinstance(table, MaskedTable)
            fraction = cosine_drop_fraction(
                now.step, now.last_step, settings.drop_fraction, settings.drop_floor
            )
            done = prune_and_regrow_masked(table, fraction)
            context.record("explore", drop_fraction=fraction, **asdict(done))
        return False
