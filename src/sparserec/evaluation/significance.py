"""Whether a difference between two models is more than chance, and how large it is.

Two sources of chance are kept apart: users (a paired test on one pair of runs) and seeds (the spread of a
metric over repeated runs). With thousands of users almost any difference is significant, hence the effect size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparserec.errors import DataError, SettingError


@dataclass(frozen=True, eq=False)
class UserValues:
    """One number per user, under the id the user has in the log: every run numbers its users in its own way."""

    ids: np.ndarray
    values: np.ndarray

    def in_order(self) -> UserValues:
        """The same, ids ascending."""
        if self.ids.shape != self.values.shape or self.ids.ndim != 1:
            raise DataError(f"one value per user: shapes {self.ids.shape} and {self.values.shape}")
        order = np.argsort(self.ids, kind="stable")
        return UserValues(self.ids[order], self.values[order])


@dataclass(frozen=True)
class Comparison:
    """First minus second, paired by user."""

    difference: float
    low: float
    """Lower end of the confidence interval of the difference."""
    high: float
    t: float
    p: float
    """Two-sided, not corrected; `holm` corrects several."""
    effect: float
    """Cohen's d of the differences: their mean in units of their standard deviation."""
    n: int


@dataclass(frozen=True)
class Spread:
    """A metric over seeds."""

    mean: float
    std: float | None
    """Sample standard deviation (n - 1); None for a single seed, whose spread is not known."""
    n: int


def paired(first: np.ndarray, second: np.ndarray, confidence: float = 0.95) -> Comparison:
    """Paired t-test of two aligned arrays, one number per user."""
    if first.shape != second.shape or first.ndim != 1:
        raise DataError(f"paired results must be aligned: shapes {first.shape} and {second.shape}")
    if len(first) < 2:
        raise DataError(f"a paired test needs at least two users, got {len(first)}")
    if not 0 < confidence < 1:
        raise SettingError(f"confidence = {confidence}: must be between 0 and 1")
    differences = np.asarray(first, dtype=np.float64) - second
    n, mean, std = len(differences), float(differences.mean()), float(differences.std(ddof=1))
    if std == 0:  # every user differs by the same amount: certain, or no difference at all
        size = math.copysign(math.inf, mean) if mean else 0.0
        return Comparison(mean, mean, mean, size, 0.0 if mean else 1.0, size, n)
    error = std / math.sqrt(n)
    t = mean / error
    from scipy import stats  # here alone: listing recorded results needs none of it

    margin = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * error
    return Comparison(
        mean, mean - margin, mean + margin, t, float(2 * stats.t.sf(abs(t), n - 1)), mean / std, n
    )


def paired_by_id(first: UserValues, second: UserValues, confidence: float = 0.95) -> Comparison:
    """`paired` for results of the same people, in whatever order each of the two has them."""
    one, other = first.in_order(), second.in_order()
    if not np.array_equal(one.ids, other.ids):
        raise DataError("the two results are of different users: compare runs of the same split")
    return paired(one.values, other.values, confidence)


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Holm's correction: adjusted p-values in the given order; the chance of any false claim stays below p."""
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def seed_spread(values: Sequence[float]) -> Spread:
    """Mean, standard deviation and number of one metric over runs that differ in their seed only."""
    if len(values) == 0:
        raise DataError("the spread over seeds needs at least one run")
    array = np.asarray(values, dtype=np.float64)
    return Spread(float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else None, len(array))
