"""Which of the measured files is taken, by hand and over all budgets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparserec.encodings import Encoding
from sparserec.export.choose import Point, choose_point, smallest_near, surely_near


def point(size: int, ndcg: np.ndarray) -> Point:
    return Point(Encoding(keep=size), size, {"ndcg@20": ndcg, "recall@20": ndcg})


def flat(size: int, score: float) -> Point:
    """Every user has the same: nothing is left to chance."""
    return point(size, np.full(50, score))


def test_the_smallest_within_one_percent_of_the_best_that_fits() -> None:
    points = [
        flat(100, 0.20),
        flat(200, 0.35),
        flat(300, 0.34),
        flat(400, 0.496),
        flat(500, 0.50),
        flat(600, 0.9),
    ]
    chosen = {budget: choose_point(points, budget) for budget in (99, 150, 250, 350, 450, 550, 700)}
    sizes = {budget: one and one.bytes for budget, one in chosen.items()}
    assert sizes == {99: None, 150: 100, 250: 200, 350: 200, 450: 400, 550: 400, 700: 600}
    assert smallest_near(points, np.full(50, 0.35)).bytes == 200
    assert smallest_near(points, np.full(50, 2.0)) is None


def test_in_doubt_the_larger_file() -> None:
    """The same half percent lost: by all users alike, or by few users who differ by much more."""
    rng = np.random.default_rng(0)
    best = rng.random(2000)
    noise = np.concatenate([np.full(1000, 0.2), np.full(1000, -0.2)])
    lost = 0.005 * best.mean()
    assert surely_near(best - lost, best)
    assert not surely_near(best - lost + noise, best), "+-.0088 around .0025"
    assert surely_near(np.tile(best - lost + noise, 30), np.tile(best, 30)), "enough users to be sure"
    assert choose_point([point(10, best - lost + noise), point(20, best)], 30).bytes == 20
    assert choose_point([point(10, best - lost), point(20, best)], 30).bytes == 10
    assert surely_near(np.array([0.5]), np.array([0.5])) and not surely_near(np.array([0.4]), np.array([0.5]))


def test_a_choice_is_given_up_for_a_better_score_only() -> None:
    """Which file is near depends on which one is best; the second best here is near the noisy best of all, and smaller
    than what a smaller budget has, but worse.
    """
    users = 400
    rng = np.random.default_rng(3)
    steady = np.full(users, 0.500)
    wild = 0.504 + 0.3 * rng.standard_normal(users)
    wild += 0.504 - wild.mean()
    like_wild = wild - 0.0045
    points = [point(10, like_wild), point(20, steady), point(30, wild)]
    assert choose_point(points, 25).bytes == 20
    assert surely_near(like_wild, wild) and like_wild.mean() < steady.mean()
    assert choose_point(points, 35).bytes == 20


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([1, 2, 30, 400]))
def test_a_larger_budget_is_never_worse(seed: int, count: int, users: int) -> None:
    """Whatever was measured: sizes that repeat, users that agree or do not, scores that fall as files grow."""
    rng = np.random.default_rng(seed)
    common = rng.random(users)
    sizes = rng.integers(1, 15, count)
    steps, spread = 0.01 * rng.standard_normal(count), rng.choice([0.0, 0.01, 0.3], count)
    points = [
        point(int(size), np.clip(common + step + wide * rng.standard_normal(users), 0, 1))
        for size, step, wide in zip(sizes, steps, spread)
    ]
    before = -np.inf
    for budget in range(16):
        chosen = choose_point(points, budget)
        assert (chosen is None) == (budget < sizes.min())
        if chosen is not None:
            fit = [one for one in points if one.bytes <= budget]
            assert chosen in fit and chosen.score >= before
            before = chosen.score
            best = max(fit, key=lambda one: one.score)
            smaller = [one for one in fit if one.bytes < chosen.bytes and one.score >= chosen.score]
            assert chosen is best or surely_near(chosen.ndcg, best.ndcg) or not smaller
