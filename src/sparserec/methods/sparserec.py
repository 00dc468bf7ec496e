"""sparserec: dynamic sparse training with an NMF mask, cumulative gradients and sampled candidates (arXiv 2411.12205).

The support starts where a non-negative factorisation of the interactions is not zero. Every now and then the smallest
active entries of each table are dropped and as many inactive entries of sampled rows, those with the largest
accumulated gradient, take their place. Gradients exist for active entries and sampled rows only. Where the paper is
silent or contradicts itself, docs/paper-notes.md says what we do and which setting switches it.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sparserec import streams
from sparserec.errors import SettingError
from sparserec.exploration import (
    CountScale,
    Exploration,
    LargestScores,
    active_target,
    allocate_entries,
    draw_candidates,
    exchange_in_rows,
    explores_after,
    fill_support,
    mark_kept,
)
from sparserec.methods.base import Context, Phase, StepInfo
from sparserec.methods.exploring import (
    Exploring,
    FirstTableSettings,
    FromFirstTable,
    Init,
    Rows,
    Rule,
    even_rows,
)
from sparserec.settings import Between
from sparserec.table import Held, SparseTable, Table

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


class SparseRecSettings(FirstTableSettings):
    start_ratio: Annotated[float, Between(1.0, 4.0)] = Field(1.0, ge=1)
    """Entries before the cuts, in budgets; never more than the whole table. 1: the budget from the start, no cuts."""
    cut_from: float = Field(0.5, ge=0, lt=1)
    """Share of the epochs at which cutting begins and exploring ends."""
    cut_until: float = Field(0.7, gt=0, le=1)
    """Share of the epochs at which the budget is reached."""
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

    def holds(self, context: Context) -> Held:
        context = self._wide(context)
        return context.sparse(candidates=round(self._candidate_ratio(context) * context.shape().n_rows))

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        context, even = self._wide(context), even_rows(self.settings.rows, context)
        if even and context.user_rows:
            raise SettingError(
                "method_settings.rows=even needs a base whose users have no rows, such as history"
            )
        table = self.first_table(context, phase, previous, even)
        if isinstance(table, SparseTable):
            ratio = self._candidate_ratio(context)
            context.record("candidates", ratio=ratio, largest_ratio=(1.0 - context.density) / 2.0)
            self.gather(context, table, 0)
        return table

    def _candidate_ratio(self, context: Context) -> float:
        """Half of what the paper's bound allows, unless given; above (1 - density) / 2 a dense gradient costs less."""
        return self.settings.candidate_ratio or (1.0 - context.density) / 4.0

    def gather(self, context: Context, table: SparseTable, step: int) -> None:
        """Gradients of rows that are sampled anew."""
        rng = np.random.default_rng([context.seed, streams.CANDIDATES, step])
        ratio = self._candidate_ratio(context)
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
            sizes, exponent = None, self.settings.row_exponent
            if exponent:  # a cut allocates entries by frequency, as the start did
                counts = np.concatenate(context.frequencies())
                sizes = allocate_entries(counts, wanted, table.shape.dim, exponent)
            cut_to(table, wanted, now.step, sizes)
            context.record("cut", dropped=before - wanted, active=wanted)
        return False

    def _change(self, context: Context, table: SparseTable, now: StepInfo) -> None:
        """Fill up to the budget, then explore; an interval begins where the support last changed."""
        target = active_target(table.shape, context.density)
        interval = context.exploration_interval(now.last_step)
        if table.parameters() < target:
            changed = self._fill(context, table, now, target, min(interval, now.steps_per_epoch))
        elif changed := self.due(context, now, since=table.changed_at):
            self.explore(context, table, now)
        if changed and (table.parameters() < target or now.step + interval < now.last_step):
            self.gather(context, table, now.step)  # else nothing will ask for them any more

    def _fill(self, context: Context, table: SparseTable, now: StepInfo, target: int, interval: int) -> bool:
        due = explores_after(now.step, interval, now.last_step, table.changed_at)
        if not (due or now.step == now.last_step):  # whatever the length, the budget is reached
            return False
        share = self.settings.fill_share if now.step < now.last_step * FILL_DEADLINE else 1.0
        done = fill_support(table, target, now.step, LargestScores.accumulated(table), share)
        context.record("fill", **asdict(done))
        return True

    def exchange(self, context: Context, table: Any, fraction: float, step: int, growth: Any) -> Exploration:
        if even_rows(self.settings.rows, context):
            return exchange_in_rows(table, fraction, step, growth)
        return super().exchange(context, table, fraction, step, growth)


class TaperSettings(SparseRecSettings):
    start_ratio: Annotated[float, Between(1.0, 4.0)] = Field(2.0, ge=1)
    """Entries before the cuts, in budgets; never more than the whole table."""

    @model_validator(mode="before")
    @classmethod
    def _exploring_is_a_group(cls, values: Any) -> Any:
        """How the wide table starts and explores was a group of its own, `exploring`, and may still be."""
        if not isinstance(values, dict) or "exploring" not in values:
            return values
        inner = dict(values["exploring"])
        for name in ("start_ratio", "cut_from", "cut_until"):
            if name in inner:
                raise ValueError(f"{name}: a setting of taper itself, not of exploring")
        return inner | {name: value for name, value in values.items() if name != "exploring"}


class Taper(SparseRec):
    """The same under the name, and with the first size, that its cuts are compared under."""

    name = "taper"
    item_starts = ()
    settings_kind = TaperSettings
    idea = "sparserec with twice the budget, cut row by row on the way"
    paper = "ours"


# Rows with more entries than the budget for a while, the surplus pruned row by row before the training ends.
#
# From what the comparison showed (docs/log.md): a trained table that is pruned keeps nearly all its quality when every
# row keeps its best few, and trains on to more. The surplus goes along a cubic (Zhu and Gupta, arXiv 1710.01878).


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
