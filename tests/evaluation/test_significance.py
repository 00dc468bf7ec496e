"""The paired test against scipy's own and a textbook example; Holm's correction and seed spread by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sparserec.errors import DataError, SettingError
from sparserec.evaluation import UserValues, holm, paired, paired_by_id, seed_spread


def test_four_users_by_hand() -> None:
    # Differences 1, 2, 3, 2: mean 2, standard deviation sqrt(2/3), t = 2 / (sqrt(2/3)/2) = 4.899.
    got = paired(np.array([2.0, 4, 6, 5]), np.array([1.0, 2, 3, 3]))
    assert (got.difference, got.n) == (2, 4)
    assert got.effect == pytest.approx(2 / math.sqrt(2 / 3))
    assert got.t == pytest.approx(4.898979)
    margin = 3.182446 * math.sqrt(2 / 3) / 2  # 97.5 % point of t with 3 degrees of freedom
    assert (got.low, got.high) == pytest.approx((2 - margin, 2 + margin), rel=1e-6)


@given(st.integers(0, 10_000), st.integers(2, 200))
def test_equals_scipy(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.random(n), rng.random(n)
    got, expected = paired(first, second, confidence=0.9), stats.ttest_rel(first, second)
    assert (got.t, got.p) == pytest.approx((expected.statistic, expected.pvalue))
    interval = expected.confidence_interval(0.9)
    assert (got.low, got.high) == pytest.approx((interval.low, interval.high))


def test_no_variation() -> None:
    ones = np.ones(5)
    same, better, worse = paired(ones, ones), paired(ones, 0 * ones), paired(0 * ones, ones)
    assert (same.difference, same.t, same.p, same.effect) == (0, 0, 1, 0)
    assert (better.t, better.p, better.effect) == (math.inf, 0, math.inf)
    assert (worse.t, worse.p, worse.low) == (-math.inf, 0, -1)


def test_holm_by_hand() -> None:
    # Sorted .01 .02 .03 .04 times 4 3 2 1 = .04 .06 .06 .04, made monotone: .04 .06 .06 .06.
    np.testing.assert_allclose(holm([0.03, 0.01, 0.04, 0.02]), [0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.9]).tolist() == [1, 1]
    assert holm([]).tolist() == []


def test_seed_spread() -> None:
    spread = seed_spread([1.0, 2.0, 3.0])
    assert (spread.mean, spread.std, spread.n) == (2, 1, 3)
    assert seed_spread([4.0]).std is None
    with pytest.raises(DataError):
        seed_spread([])


@given(st.integers(0, 10_000))
def test_people_are_paired_however_they_are_numbered(seed: int) -> None:
    """Results that follow each other closely, each in an order of its own: unpaired, the interval is far wider."""
    rng = np.random.default_rng(seed)
    people = np.array([f"person{number}" for number in range(60)])
    first = rng.random(60)
    second = first + 0.01 * rng.standard_normal(60)
    expected = stats.ttest_rel(first, second)
    one, other = rng.permutation(60), rng.permutation(60)
    got = paired_by_id(UserValues(people[one], first[one]), UserValues(people[other], second[other]))
    assert (got.t, got.p) == pytest.approx((expected.statistic, expected.pvalue))
    unpaired = paired(first[one], second[other])
    assert 3 * (got.high - got.low) < unpaired.high - unpaired.low


def test_other_people_are_refused() -> None:
    first = UserValues(np.array([3, 7]), np.array([0.5, 1.0]))
    with pytest.raises(DataError, match="different users"):
        paired_by_id(first, UserValues(np.array([3, 8]), np.array([0.5, 1.0])))
    with pytest.raises(DataError, match="one value per user"):
        paired_by_id(first, UserValues(np.array([3, 7]), np.array([0.5])))


def test_what_is_refused() -> None:
    with pytest.raises(DataError, match="aligned"):
        paired(np.ones(3), np.ones(4))
    with pytest.raises(DataError, match="two users"):
        paired(np.ones(1), np.ones(1))
    with pytest.raises(SettingError, match="confidence"):
        paired(np.ones(3), np.ones(3), confidence=95)
