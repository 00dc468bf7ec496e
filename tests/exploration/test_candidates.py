"""Which rows are drawn: exact probabilities in small cases, for all three scales."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.exploration import CountScale, draw_candidates
from sparserec.exploration.candidates import draw_rows, logits_of

DRAWS = 20_000


def set_probabilities(weights: np.ndarray, size: int) -> dict[tuple[int, ...], float]:
    """Drawing one after the other without replacement, summed over the orders of each set."""
    chances: dict[tuple[int, ...], float] = defaultdict(float)
    for order in itertools.permutations(range(len(weights)), size):
        chance, left = 1.0, weights.sum()
        for row in order:
            chance *= weights[row] / left
            left -= weights[row]
        chances[tuple(sorted(order))] += chance
    return chances


@pytest.mark.parametrize(
    ("scale", "weights"),
    [
        ("raw", np.exp([1.0, 2.0, 3.0, 5.0])),
        ("log", np.array([1.0, 2.0, 3.0, 5.0])),
        ("minmax", np.exp([0.0, 0.25, 0.5, 1.0])),
    ],
)
def test_sets_come_with_the_probability_of_the_scale(scale: CountScale, weights: np.ndarray) -> None:
    rng, counts = np.random.default_rng(11), np.array([1, 2, 3, 5])
    seen = Counter(tuple(draw_rows(counts, 0.5, scale, rng).tolist()) for _ in range(DRAWS))
    for chosen, chance in set_probabilities(weights, 2).items():
        assert seen[chosen] / DRAWS == pytest.approx(chance, abs=4 * (chance * (1 - chance) / DRAWS) ** 0.5)


def test_raw_counts_do_not_saturate() -> None:
    """Over counts of thousands a float32 softmax leaves all but one row at 0; here the largest win, in order."""
    counts, rng = np.array([5, 90_000, 7, 90_001, 3000]), np.random.default_rng(0)
    draws = [draw_rows(counts, 0.4, "raw", rng).tolist() for _ in range(50)]
    assert draws == [[1, 3]] * 50


def test_scales_hand_worked() -> None:
    counts = np.array([0, 1, 4])
    assert logits_of(counts, "raw").tolist() == [0, 1, 4]
    np.testing.assert_allclose(logits_of(counts, "log")[1:], [0, np.log(4)])
    assert logits_of(counts, "log")[0] < -20  # a row nobody uses comes last, but exists
    assert logits_of(counts, "minmax").tolist() == [0, 0.25, 1]
    assert logits_of(np.array([3, 3]), "minmax").tolist() == [0, 0]


@given(
    st.integers(1, 30),
    st.integers(1, 30),
    st.floats(0.001, 1.0),
    st.sampled_from(["raw", "log", "minmax"]),
    st.integers(0, 99),
)
def test_both_tables_give_their_share_of_distinct_ascending_rows(
    n_users: int, n_items: int, ratio: float, scale: CountScale, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    user_counts, item_counts = rng.integers(0, 9, n_users), rng.integers(0, 9, n_items)
    rows = draw_candidates(user_counts, item_counts, ratio, scale, rng)
    assert rows.dtype == np.int32 and np.all(np.diff(rows) > 0)
    assert (rows < n_users).sum() == max(1, round(ratio * n_users))
    assert (rows >= n_users).sum() == max(1, round(ratio * n_items))
    assert rows.max() < n_users + n_items


@pytest.mark.parametrize("scale", ["raw", "log", "minmax"])
def test_ratio_one_takes_every_row(scale: CountScale) -> None:
    rows = draw_candidates(np.arange(5), np.arange(7), 1.0, scale, np.random.default_rng(0))
    assert rows.tolist() == list(range(12))


def test_the_same_generator_state_gives_the_same_rows() -> None:
    counts = np.arange(200)
    first, second = (draw_rows(counts, 0.3, "log", np.random.default_rng([4, 2, 9])) for _ in range(2))
    np.testing.assert_array_equal(first, second)
