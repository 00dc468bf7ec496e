"""pep: learn a soft threshold for every entry until the budget is met, then train the survivors anew (ICLR 2021).

Search: values and threshold logits are trained together; weight decay on the logits is what raises the thresholds
(without it they stay where they are). The search ends at the step where no more entries than the budget are above
their threshold. Retrain: the entries with the largest margin start again from their initial values.

Ours differs: thresholds are per entry and over both tables as in the code, but the budget is met exactly, by margins at
the crossing (the code takes the first table below its target); the start of the logits follows from the number of
search steps (a fixed -15 or -150 would prune at once or never with other step counts); only the logits decay, the
base's own regulariser acts on the values; no gradient clipping; the retraining stops on validation instead of test
scores.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from sparserec.compiled import compiled
from sparserec.exploration import active_target, largest_support
from sparserec.methods.base import Context, Method, Phase, StepInfo
from sparserec.settings import Between, Settings
from sparserec.table import (
    BETA_1,
    BETA_2,
    EPSILON,
    Held,
    InitialValues,
    Shape,
    SparseTable,
    Table,
    ThresholdedTable,
    Thresholds,
)

SHORTEST_TRAVEL = 8.0
"""Logits that thresholds rise over a search at least: from a few ten-thousandths of the typical value to all of it."""
SAMPLED = 100_000


class PEPSettings(Settings):
    search_epochs: int | None = Field(None, ge=1)
    """Longest search; None is the length of the recipe."""
    crossing: Annotated[float, Between(0.2, 0.8)] = Field(0.5, gt=0, lt=1)
    """Share of the search after which thresholds reach the typical initial value; trained ones are met later."""
    threshold_rate: float | None = Field(None, gt=0)
    """Adam's learning rate for the logits; None is .01, or more where the search is too short to rise 8 logits."""
    threshold_decay: float = Field(1e-5, gt=0)
    """Weight decay of the logits. Adam makes the speed the same for all but tiny ones, where the data has a say."""
    threshold_ceiling: float = Field(8.0, gt=0)
    """A threshold is this times the sigmoid of its logit. The paper's 1 can never rise above 1/2, while Adam at the
    recipe's rates grows values past 1; for small thresholds the two differ by a constant in the logit only."""


class PEP(Method):
    name = "pep"
    settings_kind = PEPSettings
    idea = "learn a threshold for every entry, then retrain the survivors"
    paper = "ICLR 2021"
    trainings = 2

    def phases(self, context: Context) -> list[Phase]:
        epochs, (searched, kept) = self.settings.search_epochs or context.epochs, self.tables(context)
        search = Phase("search", epochs, validated=False, holds=searched)
        return [search, Phase("retrain", context.epochs, holds=kept)]

    def tables(self, context: Context) -> tuple[Held, Held]:
        """What the search holds, and the training after it."""
        return ThresholdedTable.held(context.shape()), context.sparse()

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        if phase.name == "search":
            steps = phase.last_step(context.steps_per_epoch)
            initial = context.initial(context.dim)
            return search_table(context, self.settings, context.shape(), initial, context.density, steps)
        assert isinstance(previous, ThresholdedTable)
        target = active_target(previous.shape, context.density)
        support = margin_support(previous, target)
        by_size = largest_support(previous.shape, np.abs(previous.matrix()), target)
        same = sum(len(np.intersect1d(a, b, assume_unique=True)) for a, b in zip(support, by_size))
        context.record("support", same_as_magnitude=same / target)
        return SparseTable.create(previous.shape, support, context.initial(context.dim))

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        """End the search when the budget is met, or when its time is over."""
        if not isinstance(table, ThresholdedTable):
            return False
        crossed = table.parameters() <= context.budget
        if crossed or now.step == now.last_step:
            context.record("crossing", crossed=crossed, active=table.parameters(), **spread(table))
        return crossed


def margin_support(table: ThresholdedTable, target: int) -> list[np.ndarray]:
    """The `target` entries with the largest |value| - threshold, over both tables."""
    scores = table.margins()
    scores += np.float32(table.thresholds.ceiling)  # no threshold is above it: now none is negative
    return largest_support(table.shape, scores, target)


def search_table(
    context: Context, settings: PEPSettings, shape: Shape, initial: InitialValues, density: float, steps: int
) -> ThresholdedTable:
    """A table whose thresholds will have risen to the typical value when the planned share of `steps` is over."""
    planned = max(1, round(settings.crossing * steps))
    rate = settings.threshold_rate or max(0.01, SHORTEST_TRAVEL / planned)
    typical = typical_value(initial, shape, density, context.seed)
    goal = logit_of(typical / settings.threshold_ceiling)
    start = start_logit(goal, planned, rate, settings.threshold_decay)
    context.record("thresholds", start=start, goal=goal, planned_step=planned, rate=rate)
    thresholds = Thresholds(rate, settings.threshold_decay, settings.threshold_ceiling)
    return ThresholdedTable.create(shape, initial, start, thresholds)


def typical_value(initial: InitialValues, shape: Shape, density: float, seed: int) -> float:
    """The magnitude that a share `density` of the initial values exceeds."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, shape.n_rows, SAMPLED, dtype=np.int32)
    columns = rng.integers(0, shape.dim, SAMPLED, dtype=np.int32)
    values = np.abs(initial.at(rows, columns, shape.n_users))
    return max(float(np.quantile(values, 1.0 - density)), 1e-6)


def logit_of(value: float) -> float:
    """The logit whose sigmoid is `value`; weight decay takes none above 0."""
    value = min(value, 0.4)
    return math.log(value / (1.0 - value))


def start_logit(goal: float, steps: int, rate: float, decay: float) -> float:
    """Where logits must start to be at `goal` after `steps` of Adam under weight decay alone.

    A constant gradient would give goal - rate * steps. The decay's gradient shrinks with the logit while Adam still
    divides by the larger ones of before, which slows it down: the start is found by bisection.
    """
    low, high = goal - rate * steps - 1.0, goal
    for _ in range(50):
        middle = 0.5 * (low + high)
        if _logit_after(middle, steps, rate, decay) < goal:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@compiled()
def _logit_after(logit: float, steps: int, rate: float, decay: float) -> float:
    first = second = 0.0
    for step in range(1, steps + 1):
        gradient = decay * logit
        first = BETA_1 * first + (1.0 - BETA_1) * gradient
        second = BETA_2 * second + (1.0 - BETA_2) * gradient * gradient
        root = math.sqrt(second / (1.0 - BETA_2**step))
        logit -= rate * first / (1.0 - BETA_1**step) / (root + EPSILON)
    return logit


def spread(table: ThresholdedTable) -> dict[str, Any]:
    """How far thresholds differ: near 0 the schedule prunes, not the data."""
    logits = np.concatenate([block.reshape(-1) for block in table.logits])
    quantiles = np.quantile(logits, [0.05, 0.5, 0.95])
    return {
        "logit_mean": float(logits.mean(dtype=np.float64)),
        "logit_std": float(logits.std(dtype=np.float64)),
        "logit_quantiles": [float(q) for q in quantiles],
        "threshold_quantiles": [float(table.thresholds.ceiling / (1.0 + math.exp(-q))) for q in quantiles],
    }
