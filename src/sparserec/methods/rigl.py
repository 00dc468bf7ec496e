"""rigl: drop by magnitude, grow by the gradient of the last batch, stop exploring before the end (arXiv 1911.11134).

As in the released code: the fraction to drop starts at .3, exploration ends at three quarters of the training, an entry
dropped and regrown at once keeps its value, and truly new entries start at 0 with empty moments. Ours differs where a
table is not a network: the stacked table is one layer (there is no layer-wise density to choose), the fraction falls
along half a cosine (the paper's; the code's flag defaults to constant), moments are Adam's with an own age per entry
(theirs is SGD with momentum), explorations are counted per training (theirs: every 100 steps), and the batch that
decides an exploration is also learnt from (theirs skips it).
"""

from __future__ import annotations

from pydantic import Field

from sparserec.exploration import Scope
from sparserec.methods.base import Context, Phase, StepInfo
from sparserec.methods.exploring import Rule, explore_by_last_gradient, uniform_table, watch_last_gradient
from sparserec.methods.plain import OneTraining
from sparserec.settings import Settings
from sparserec.table import SparseTable, Table


class RigLSettings(Settings):
    drop_fraction: float = Field(0.3, ge=0, lt=1)
    """Share of active entries dropped at the first exploration."""
    explore_until: float = Field(0.75, gt=0, le=1)
    """Share of the training after which the support stays fixed."""
    scope: Scope = "joint"
    """Rank users and items as one table, or each by itself with the magnitude split."""


class RigL(OneTraining):
    name = "rigl"
    sparse_state = False  # the gradient of every entry is kept to choose from
    shardable = True

    def __init__(self, settings: RigLSettings) -> None:
        self.settings = settings

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        table = uniform_table(context)
        watch_last_gradient(table)
        return table

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        assert isinstance(table, SparseTable)
        settings = self.settings
        last_step = round(settings.explore_until * now.last_step)
        rule = Rule(
            interval=context.exploration_interval(last_step),
            last_step=last_step,
            drop_fraction=settings.drop_fraction,
            floor=0.0,
            scope=settings.scope,
            keep_value=True,
        )
        explore_by_last_gradient(context, table, now, rule)
        return False
