"""sparserec: dynamic sparse training with an NMF mask, cumulative gradients and sampled candidates (arXiv 2411.12205).

The support starts where a non-negative factorisation of the interactions is not zero. Every now and then the smallest
active entries of each table are dropped and as many inactive entries of sampled rows, those with the largest
accumulated gradient, take their place. Gradients exist for active entries and sampled rows only. Where the paper is
silent or contradicts itself, docs/paper-notes.md says what we do and which setting switches it.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.errors import SettingError
from sparserec.exploration import (
    CountScale,
    Exploration,
    LargestScores,
    active_target,
    deal_entries,
    draw_candidates,
    exchange_in_rows,
    explores_after,
    fill_support,
)
from sparserec.methods.base import Context, Phase, StepInfo
from sparserec.methods.exploring import (
    CutSettings,
    Exploring,
    FirstTableSettings,
    FromFirstTable,
    Init,
    Rows,
    Rule,
    cut_to,
    first_table,
    rows_of,
)
from sparserec.settings import Between
from sparserec.table import DenseTable, SparseTable, Table

ITEM_STARTS: tuple[dict[str, Any], ...] = (
    {"init": "rotated", "start_ratio": 2.0, "row_exponent": 0.3},
    {"init": "nmf"},
)
"""Where users have no rows and nobody says: on rotated axes, with twice the entries that are kept, more of them for
items that many have, the best of what was compared (docs/log.md). It takes a dense training of the same width, so the
paper's factorisation stands where that does not fit into memory or where several processes share the table.
"""
FILL_DEADLINE = 1 / 3
"""Share of the steps after which a support that is still below the budget takes all it can at once."""


class SparseRecSettings(FirstTableSettings, CutSettings):
    init: Init = "nmf"
    """Where the support is at first."""
    rows: Rows | None = None
    """Whether rows compete for entries when the support changes; None: only where users have rows too."""
    growth: Literal["cumulative", "instantaneous"] = "cumulative"
    """Rank inactive entries by the gradient summed since the last exploration, or by the last batch's."""
    drop_fraction: Annotated[float, Between(0.05, 0.6)] = Field(0.3, ge=0, lt=1)
    """Share of active entries dropped at the first exploration; falls to 0 along half a cosine."""
    candidate_ratio: float | None = Field(None, gt=0, le=1)
    """Share of rows whose inactive entries are looked at; default (1 - density) / 4, the paper's h/2."""
    candidates: CountScale = "log"
    """How counts become sampling logits."""
    fill_share: float = Field(0.25, gt=0, le=1)
    """While NMF gave fewer entries than the budget: largest share of the candidates' inactive entries filled at once,
    after every epoch, or sooner where explorations are less than an epoch apart."""
    keep_value: bool = False
    """An entry dropped and regrown at once keeps its value instead of starting at 0."""


class SparseRec(FromFirstTable, Exploring):
    name = "sparserec"
    item_starts = ITEM_STARTS
    settings_kind = SparseRecSettings
    idea = "first support by a factorisation, drop the smallest, grow by summed gradients of sampled rows"
    paper = "arXiv 2411.12205"
    settings: SparseRecSettings

    def __init__(self, settings: SparseRecSettings) -> None:
        super().__init__(settings)
        self.rule = Rule(settings.drop_fraction, scope="tables", keep_value=settings.keep_value)
        # the last batch's gradient of every candidate is taken from whole rows of the whole table
        self.shardable_by_rows = self.shardable_by_rows and settings.growth == "cumulative"

    def _wide(self, context: Context) -> Context:
        """The context before the cuts: a larger budget, or the same where there are none."""
        return replace(context, density=self.settings.wide(context.density))

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        context = self._wide(context)
        settings, rows = self.settings, rows_of(self.settings.rows, context)
        if rows == "even" and context.user_rows:
            raise SettingError(
                "method_settings.rows=even needs a base whose users have no rows, such as history"
            )
        table = first_table(context, phase, previous, settings.init, rows, settings.row_exponent)
        if isinstance(table, DenseTable):
            return table
        ratio = self._candidate_ratio(context)
        context.record("candidates", ratio=ratio, largest_ratio=(1.0 - context.density) / 2.0)
        self._new_candidates(context, table, 0)
        return table

    def _candidate_ratio(self, context: Context) -> float:
        """Half of what the paper's bound allows, unless given; above (1 - density) / 2 a dense gradient costs less."""
        return self.settings.candidate_ratio or (1.0 - context.density) / 4.0

    def _new_candidates(self, context: Context, table: SparseTable, step: int) -> None:
        ratio = self._candidate_ratio(context)
        rng = np.random.default_rng([context.seed, streams.CANDIDATES, step])
        rows = draw_candidates(*context.frequencies(), ratio, self.settings.candidates, rng)
        table.set_candidates(rows, self.settings.growth == "cumulative")

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        """Fill up and explore, then cut what was more than the budget from the start."""
        if not isinstance(table, SparseTable):
            return False
        budget = active_target(table.shape, context.density)
        if not self.settings.begun(now) or table.parameters() < budget:
            self._change(self._wide(context), table, now)
        before, wanted = table.parameters(), self.settings.wanted(table, context.density, now)
        if wanted < before:
            cut_to(table, wanted, now.step, self._dealt(context, table, wanted))
            context.record("cut", dropped=before - wanted, active=wanted)
        return False

    def _dealt(self, context: Context, table: SparseTable, count: int) -> np.ndarray | None:
        """Entries of each row where they are dealt by frequency, so that a cut deals as the start did."""
        if not self.settings.row_exponent:
            return None
        frequencies = np.concatenate(context.frequencies())
        return deal_entries(frequencies, count, table.shape.dim, self.settings.row_exponent)

    def _change(self, context: Context, table: SparseTable, now: StepInfo) -> None:
        """Fill up to the budget, then explore; an interval begins where the support last changed."""
        target, interval = (
            active_target(table.shape, context.density),
            context.exploration_interval(now.last_step),
        )
        if table.parameters() < target:
            changed = self._fill(context, table, now, target, min(interval, now.steps_per_epoch))
        else:
            changed = self.explore(context, table, now, since=table.changed_at)
        if changed and (table.parameters() < target or now.step + interval < now.last_step):
            self._new_candidates(context, table, now.step)  # else nothing will ask for them any more

    def _fill(self, context: Context, table: SparseTable, now: StepInfo, target: int, interval: int) -> bool:
        due = explores_after(now.step, interval, now.last_step, table.changed_at)
        if not (due or now.step == now.last_step):  # whatever the length, the budget is reached
            return False
        share = self.settings.fill_share if now.step < now.last_step * FILL_DEADLINE else 1.0
        done = fill_support(table, target, now.step, LargestScores.accumulated(table), share)
        context.record("fill", **asdict(done))
        return True

    def growth(self, context: Context, table: Any, now: StepInfo) -> LargestScores:
        return LargestScores.accumulated(table)

    def exchange(self, context: Context, table: Any, fraction: float, step: int, growth: Any) -> Exploration:
        if rows_of(self.settings.rows, context) == "even":
            return exchange_in_rows(table, fraction, step, growth)
        return super().exchange(context, table, fraction, step, growth)
