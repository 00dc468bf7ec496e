"""Recommenders that only have scores are ranked and measured as vectors are."""

import numpy as np
import pytest
import torch

from sparserec.data import read_source, split_interactions
from sparserec.errors import TrainingError
from sparserec.evaluation import NO_ITEM, evaluate, evaluate_scorer, top_items, top_scored

RNG = np.random.default_rng(0)
USERS, ITEMS = (
    RNG.integers(-2, 3, (50, 4)).astype(np.float32),
    RNG.integers(-2, 3, (40, 4)).astype(np.float32),
)
# small whole numbers: many ties, and sums that are exact in any order


def by_vectors(ids: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(USERS)[torch.from_numpy(ids).long()]


def by_scores(ids: np.ndarray) -> np.ndarray:
    return USERS[ids] @ ITEMS.T


@pytest.mark.parametrize("scratch", [1, 2000, 1 << 20])
def test_the_same_lists_as_from_vectors(scratch: int) -> None:
    users = np.arange(3, 50, dtype=np.int32)
    seen = [(np.arange(51) * 3, np.sort(RNG.integers(0, 40, (50, 3)), axis=1).ravel())]
    expected = top_items(by_vectors, torch.from_numpy(ITEMS), users, 7, seen)
    np.testing.assert_array_equal(top_scored(by_scores, 40, users, 7, seen, scratch), expected)


def test_no_more_users_at_once_than_fit() -> None:
    asked: list[int] = []

    def scorer(ids: np.ndarray) -> np.ndarray:
        asked.append(len(ids))
        return by_scores(ids)

    top_scored(scorer, 40, np.arange(50, dtype=np.int32), 7, [], scratch_bytes=4 * 47 * 12)
    assert asked == [12, 12, 12, 12, 2]


def test_the_same_measures_as_from_vectors() -> None:
    pairs = [(user, item) for user in range(50) for item in range(40) if (user * 7 + item * 3) % 5 < 2]
    split = split_interactions(read_source(pairs), "resplit", 0)
    known = (split.train, split.test, (split.valid,))
    expected = evaluate(by_vectors, torch.from_numpy(ITEMS), *known)
    found = evaluate_scorer(by_scores, *known)
    assert found.metrics == expected.metrics
    np.testing.assert_array_equal(found.users, expected.users)
    np.testing.assert_array_equal(found.per_user["ndcg@20"], expected.per_user["ndcg@20"])


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(TrainingError, match="not a number"):
        top_scored(lambda ids: np.full((len(ids), 40), np.nan), 40, np.arange(3, dtype=np.int32), 5, [])


def test_minus_infinity_keeps_an_item_out_however_short_the_list() -> None:
    scores = np.array([[3, -np.inf, 1, -np.inf]], np.float32)
    top = top_scored(lambda ids: scores[ids], 4, np.arange(1, dtype=np.int32), 3, [])
    assert top.tolist() == [[0, 2, NO_ITEM]]
