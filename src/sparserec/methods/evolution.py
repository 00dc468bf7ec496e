"""set: drop by magnitude, grow at random (sparse evolutionary training, Nature Communications 2018).

What growing by gradients adds is measured against it. Settings and schedule are those of rigl, as in the code of RigL
that compares the two: the drop fraction starts at .3 and falls along half a cosine, exploration ends at three quarters
of the training, new entries start at 0 with empty moments. The first paper drops a constant share after every epoch.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.exploration import RandomGrowth, Scope, cosine_drop_fraction, explores_after, prune_and_regrow
from sparserec.methods.base import Context, Phase, StepInfo
from sparserec.methods.exploring import uniform_table
from sparserec.methods.plain import OneTraining
from sparserec.settings import Settings
from sparserec.table import SparseTable, Table


class SETSettings(Settings):
    drop_fraction: float = Field(0.3, ge=0, lt=1)
    """Share of active entries dropped at the first exploration."""
    explore_until: float = Field(0.75, gt=0, le=1)
    """Share of the training after which the support stays fixed."""
    scope: Scope = "joint"
    """Rank users and items as one table, or each by itself with the magnitude split."""


class SET(OneTraining):
    name = "set"
    sparse_state = True
    shardable = True

    def __init__(self, settings: SETSettings) -> None:
        self.settings = settings

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        return uniform_table(context)

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        assert isinstance(table, SparseTable)
        settings, step = self.settings, now.step
        last_step = round(settings.explore_until * now.last_step)
        if explores_after(step, context.exploration_interval(last_step), last_step):
            fraction = cosine_drop_fraction(step, last_step, settings.drop_fraction)
            growth = RandomGrowth(np.random.default_rng([context.seed, streams.GROWN, step]))
            done = prune_and_regrow(table, fraction, step, growth, settings.scope, keep_value=True)
            context.record("explore", drop_fraction=fraction, **asdict(done))
        return False
