"""How far ours and the published agree, and whether a difference between two of ours is more than chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from reproduction.recorded import Found
from sparserec.evaluation import Comparison, paired_by_id


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between two rankings: 1 the same order, -1 the reverse."""

    tau: float
    p: float
    """Chance of a tau at least this far from 0 if the orders had nothing to do with each other."""
    n: int


def rank_agreement(ours: Mapping[str, float], published: Mapping[str, float]) -> Agreement | None:
    """Over the methods that both have; None where fewer than two are left or all are equal."""
    both = [name for name in ours if name in published]
    if len(both) < 2:
        return None
    found = stats.kendalltau([ours[name] for name in both], [published[name] for name in both])
    return (
        None
        if np.isnan(found.statistic)
        else Agreement(float(found.statistic), float(found.pvalue), len(both))
    )


def paired_test(first: Found, second: Found) -> Comparison | None:
    """First minus second user by user; None where per-user results are not here or are of another split."""
    if first.row["split"]["hash"] != second.row["split"]["hash"]:
        return None
    one, other = first.users, second.users
    return None if one is None or other is None else paired_by_id(one, other)
