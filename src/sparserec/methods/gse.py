"""gse: guided stochastic exploration: grow by the gradient of a random sample of inactive entries (arXiv 2401.06898).

Before an exploration as many inactive entries are drawn as `sample_ratio` times the budget; the next batch's gradient
is kept for these alone, and those with the largest take the place of the smallest active entries. So nothing of the
size of the full table is ever made, not even for one batch. As in the released code: a fifth is dropped first, falling
along half a cosine, exploration ends at three fifths of the training, grown entries cannot be dropped at once. There
entries are drawn by what bounds their gradient; for a table that is how often the row occurs, so rows are drawn by
frequency and columns uniformly. Ours keeps Adam's moments with an own age per entry (theirs is SGD), and really is
sparse: the released code computes the whole gradient and looks at the sample.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.exploration import Growth, LargestOfSample, Scope, sample_inactive
from sparserec.methods.base import Context, StepInfo
from sparserec.methods.exploring import Exploring, Rule, RuleSettings
from sparserec.settings import Between
from sparserec.table import Held


class GSESettings(RuleSettings):
    drop_fraction: Annotated[float, Between(0.05, 0.6)] = Field(0.2, ge=0, lt=1)
    """Share of active entries dropped at the first exploration."""
    explore_until: Annotated[float, Between(0.3, 1.0)] = Field(0.6, gt=0, le=1)
    """Share of the training after which the support stays fixed."""
    sample_ratio: float = Field(1.0, gt=0)
    """Draws before an exploration, in budgets; entries drawn twice or already active are left out."""
    rows: Literal["frequency", "uniform"] = "frequency"
    """How rows are drawn."""
    scope: Scope = "joint"
    """Rank users and items as one table, as the code ranks all layers, or each by itself with the magnitude split."""

    def rule(self, keep_value: bool = False) -> Rule:
        return super().rule(keep_value)


class GSE(Exploring):
    name = "gse"
    settings_kind = GSESettings
    idea = "drop the smallest, grow by the gradient of a random sample"
    paper = "arXiv 2401.06898"

    def holds(self, context: Context) -> Held:
        return context.sparse(watched=round(self.settings.sample_ratio * context.budget))

    def growth(self, context: Context, table: Any, now: StepInfo) -> Growth:
        return LargestOfSample(table)

    def after_step(self, context: Context, table: Any, now: StepInfo) -> bool:
        """Explore with what the last batch said about the sample; draw one for the batch before an exploration."""
        if table.watched is not None:
            self.explore(context, table, now)
        if self.due(context, now, ahead=1):
            rng = np.random.default_rng([context.seed, streams.GSE_SAMPLED, now.step])
            counts = np.concatenate(context.frequencies()).astype(np.float64)
            weights = counts if self.settings.rows == "frequency" else np.ones_like(counts)
            draws = round(self.settings.sample_ratio * table.parameters())
            table.watch(sample_inactive(table, weights, draws, rng))
        return False
