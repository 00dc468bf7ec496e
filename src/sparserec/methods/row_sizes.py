"""What methods share that search for a size of every row: their trainings, budgets allocated to the last number, and
how good rows are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparserec.errors import SettingError
from sparserec.exploration import active_target
from sparserec.methods.base import Context, Method, Phase, PhaseResult, Validation
from sparserec.table import DenseTable, Held, Shape, Table

LISTS = (5, 10, 20)
"""List lengths that rows are judged at."""


class SizeSearch(Method):
    """A dense training, probes of many sizes, the best of them trained in full, and the choice among those."""

    begins_dense = True
    needs_validation = True
    probe_rate: float | None = None
    """Learning rate of a probe."""

    @property
    def probes(self) -> int:
        """How many."""
        return self.settings.probes

    def best(self, context: Context) -> list[int]:
        """Numbers of the probes whose sizes are trained in full, best first."""
        raise NotImplementedError

    def sized(self, context: Context, phase: Phase, number: int, dense: Table) -> Table:
        """The table of a probe, or of a training in full, with the sizes of probe `number`."""
        raise NotImplementedError

    def phases(self, context: Context) -> list[Phase]:
        steps = max(1, round(self.settings.probe_share * context.epochs * context.steps_per_epoch))
        epochs, best, sparse = -(-steps // context.steps_per_epoch), self.best(context), context.sparse()
        probe = Phase(
            "probe", epochs, False, learning_rate=self.probe_rate, starts_from=0, kind="probe", steps=steps
        )
        probe = replace(probe, holds=self.holds(context), judged=1)
        retrain = Phase("retrain", context.epochs, kept=len(best) > 1, kind="retrain", holds=sparse)
        choose = Phase("choose", 0, scored_first=True, holds=sparse)
        return [
            Phase("dense", context.epochs, kept=True, holds=context.dense(), judged=1),
            *(replace(probe, name=f"probe {number}") for number in range(self.probes)),
            *(replace(retrain, name=f"retrain {number}") for number in best),
            *[choose][: len(best) - 1],
        ]

    def holds(self, context: Context) -> Held:
        """What a probe holds at most."""
        return context.sparse()

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        phase = super().next_phase(context, done)
        if phase is None or phase.name != "choose":
            return phase
        retrained = range(1 + self.probes, len(done))
        return replace(phase, starts_from=max(retrained, key=lambda number: done[number].best_score or 0.0))

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        if phase.name == "dense":
            size_budget(context, self.name)  # a mistake is told before the first training
            return DenseTable.create(context.shape(), context.initial(context.dim))
        assert previous is not None
        if phase.name == "choose":
            return previous
        return self.sized(context, phase, int(phase.name.split()[1]), previous)


def size_budget(context: Context, method: str) -> int:
    """Numbers to allocate to the rows; an error where there is not one for every row."""
    shape = context.shape()
    target = active_target(shape, context.density)
    if target < shape.n_rows:
        raise SettingError(
            f"{method} gives every row at least one number, and density {context.density:g} leaves {target:,} for "
            f"{shape.n_rows:,} rows; raise density or dim"
        )
    return target


def allocate(sizes: np.ndarray, budget: int, dim: int, order: np.ndarray) -> np.ndarray:
    """Sizes whose sum is the budget: one more for rows in this order, or one less in the opposite one, again and again.

    `sizes` are between 1 and `dim`, and stay so.
    """
    given = sizes.astype(np.int64)
    while (missing := budget - int(given.sum())) != 0:
        step, rows = (1, order) if missing > 0 else (-1, order[::-1])
        able = rows[(given[rows] < dim) if missing > 0 else (given[rows] > 1)]
        given[able[: abs(missing)]] += step
    return given


def fitted(wanted: np.ndarray, budget: int, dim: int, order: np.ndarray) -> np.ndarray:
    """Sizes in proportion to those wanted, between 1 and `dim`, whose sum is the budget."""

    def scaled(factor: float) -> np.ndarray:
        return np.clip(np.floor(factor * wanted), 1, dim)

    low, high = 0.0, dim / max(float(wanted.min()), 1e-9)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if scaled(middle).sum() <= budget else (low, middle)
    return allocate(scaled(low), budget, dim, order)


def by_frequency(shape: Shape, frequencies: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """All rows, the most frequent of both tables first; ties by row."""
    return np.argsort(-np.concatenate(frequencies)[: shape.n_rows], kind="stable")


def user_quality(found: Validation, n_users: int) -> np.ndarray:
    """Mean recall and NDCG at several list lengths of every user; who has nothing held out gets the others' mean."""
    names = [f"{metric}@{k}" for metric in ("recall", "ndcg") for k in LISTS]
    parts = [found.per_user[name] for name in names if name in found.per_user]
    parts = parts or [
        values for name, values in found.per_user.items() if name.startswith(("recall", "ndcg"))
    ]
    measured = np.mean(parts, axis=0)
    quality = np.full(n_users, measured.mean())
    quality[found.users] = measured
    return quality


def judged(context: Context, table: Table) -> np.ndarray:
    """Quality of every user under a table."""
    assert context.validate is not None
    return user_quality(context.validate(table, also_at=LISTS), context.train.n_users)
