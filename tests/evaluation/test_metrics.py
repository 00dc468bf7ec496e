"""Metrics on numbers one can check on paper, and against a plain loop over users."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sparserec.errors import DataError, SettingError
from sparserec.evaluation import (
    coverage,
    evaluate,
    per_user,
    popular_share,
    popular_tenth,
    popularity_thirds,
    summarise,
)


@dataclass(frozen=True)
class Pairs:
    users: np.ndarray
    items: np.ndarray
    n_users: int
    n_items: int

    def offsets(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(np.bincount(self.users, minlength=self.n_users))]).astype(
            np.int32
        )


def pairs(listed: list[tuple[int, int]], n_users: int, n_items: int) -> Pairs:
    array = np.array(sorted(listed), dtype=np.int32).reshape(-1, 2)
    return Pairs(array[:, 0].copy(), array[:, 1].copy(), n_users, n_items)


def test_three_users_by_hand() -> None:
    # User 0 wants 1, 4, 7, 8, 9 and gets 4 at rank 1 and 9 at rank 3; user 2 wants 6 and gets it at rank 2;
    # user 3 wants 0 and is shown only two items, neither of them 0. User 1 has no test items.
    truth = pairs([(0, 1), (0, 4), (0, 7), (0, 8), (0, 9), (2, 6), (3, 0)], 4, 10)
    top = np.array([[4, 0, 9], [3, 6, 1], [5, 2, -1]], dtype=np.int32)
    got = per_user(top, truth.offsets(), truth.items, np.array([0, 2, 3]), 3)
    np.testing.assert_allclose(got["recall"], [2 / 5, 1, 0])
    np.testing.assert_allclose(got["precision"], [2 / 3, 1 / 3, 0])
    np.testing.assert_allclose(got["hit_rate"], [1, 1, 0])
    ideal_of_three = 1 + 1 / log2(3) + 1 / 2
    np.testing.assert_allclose(got["ndcg"], [(1 + 1 / 2) / ideal_of_three, (1 / log2(3)) / 1, 0])


def test_a_shorter_list_is_a_prefix() -> None:
    truth = pairs([(0, 1), (0, 2)], 1, 4)
    top = np.array([[3, 1, 2]], dtype=np.int32)
    assert per_user(top, truth.offsets(), truth.items, np.array([0]), 1)["recall"].tolist() == [0]
    assert per_user(top, truth.offsets(), truth.items, np.array([0]), 2)["recall"].tolist() == [0.5]


def test_coverage_ignores_empty_places() -> None:
    assert coverage(np.array([[0, 1], [1, -1]]), n_items=8) == 2 / 8


def test_thirds_by_hand() -> None:
    # 12 interactions: item 3 holds the first 4; items 0 and 1 start within the next 4; then 2 and 5; 4 has none.
    assert popularity_thirds(np.array([3, 2, 2, 4, 0, 1])).tolist() == [1, 1, 2, 0, 2, 2]
    assert popularity_thirds(np.array([1, 1, 1])).tolist() == [0, 1, 2]
    assert popularity_thirds(np.array([0, 0])).tolist() == [2, 2]


def test_groups_by_hand() -> None:
    # Train: item 0 is popular (3 of 6), item 1 (2) middle, item 2 (1) and item 3 (0) tail;
    # user 0 is heavy (3), user 1 middle (2), user 2 tail (1).
    train = pairs([(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)], 3, 5)
    assert popularity_thirds(np.array([3, 2, 1, 0, 0])).tolist() == [0, 1, 2, 2, 2]
    truth = pairs([(0, 3), (0, 4), (1, 2), (2, 1), (2, 3)], 3, 5)
    users = np.array([0, 1, 2])
    top = np.array([[3, 4], [3, 4], [1, 4]], dtype=np.int32)
    per = {f"{name}@2": v for name, v in per_user(top, truth.offsets(), truth.items, users, 2).items()}
    got = summarise(per, top, users, train, truth, [1, 2])
    assert got["recall@2"] == pytest.approx((1 + 0 + 0.5) / 3)
    assert [got[f"users.{group}.recall@2"] for group in ("head", "middle", "tail")] == [1, 0, 0.5]
    assert [got[f"users.{group}.count"] for group in ("head", "middle", "tail")] == [1, 1, 1]
    assert [got[f"items.{group}.count"] for group in ("head", "middle", "tail")] == [0, 1, 4]
    assert "items.head.recall@2" not in got
    assert got["items.middle.recall@1"] == 1
    assert got["items.tail.recall@2"] == pytest.approx((2 / 2 + 0 / 1 + 0 / 1) / 3)
    assert got["items.tail.recall@1"] == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert (got["coverage@1"], got["coverage@2"]) == (2 / 5, 3 / 5)
    assert got["popular_share@2"] == 0  # item 0, the popular one of five, is in no list


def test_popular_tenth_by_hand() -> None:
    # Of 11 items two are the tenth, rounded up: item 4 has most; 2 and 7 have as many, and 2 comes first.
    popular = popular_tenth(np.array([0, 1, 5, 1, 9, 0, 0, 5, 2, 0, 0]))
    assert np.flatnonzero(popular).tolist() == [2, 4]
    # Six places, one of them empty; 4 is listed twice and 2 once.
    assert popular_share(np.array([[4, 2, 0], [7, 4, -1]]), popular) == 3 / 5
    assert popular_share(np.array([[-1]]), popular) == 0


@st.composite
def splits(draw: st.DrawFn) -> tuple[Pairs, Pairs, np.random.Generator]:
    n_users, n_items = draw(st.integers(1, 12)), draw(st.integers(3, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    part = rng.choice(3, size=(n_users, n_items), p=[0.6, 0.2, 0.2])
    part[0, 0] = 2  # never an empty test set
    train, truth = (pairs(list(zip(*np.nonzero(part == value))), n_users, n_items) for value in (1, 2))
    return train, truth, rng


@given(splits(), st.integers(1, 3))
def test_evaluation_equals_a_plain_loop(split: tuple[Pairs, Pairs, np.random.Generator], k: int) -> None:
    train, truth, rng = split
    scores = torch.from_numpy(rng.permutation(train.n_users * train.n_items).astype(np.float32))
    scores = scores.view(train.n_users, train.n_items)
    found = evaluate(scores.__getitem__, torch.eye(train.n_items), train, truth, ks=(k, 1))
    recalls, ndcgs, measured = [], [], []
    for user in range(truth.n_users):
        wanted = set(truth.items[truth.users == user].tolist())
        known = set(train.items[train.users == user].tolist())
        if not wanted:
            continue
        ranked = [item for item in np.argsort(-scores[user].numpy()).tolist() if item not in known][:k]
        gains = [1 / log2(rank + 2) for rank, item in enumerate(ranked) if item in wanted]
        measured.append(user)
        recalls.append(len(gains) / len(wanted))
        ndcgs.append(sum(gains) / sum(1 / log2(rank + 2) for rank in range(min(k, len(wanted)))))
    assert found.users.tolist() == measured
    np.testing.assert_allclose(found.per_user[f"recall@{k}"], recalls)
    np.testing.assert_allclose(found.per_user[f"ndcg@{k}"], ndcgs, atol=1e-12)
    assert found.metrics[f"recall@{k}"] == pytest.approx(np.mean(recalls))
    assert sum(found.metrics[f"users.{group}.count"] for group in ("head", "middle", "tail")) == len(measured)
    assert sum(found.metrics[f"items.{group}.count"] for group in ("head", "middle", "tail")) == len(
        truth.items
    )


def test_a_perfect_ranking_scores_one_and_validation_items_are_hidden() -> None:
    train, valid, test = (
        pairs(some, 2, 6) for some in ([(0, 0), (1, 5)], [(0, 1), (1, 4)], [(0, 2), (1, 3)])
    )
    scores = torch.tensor([[9.0, 8, 7, 0, 0, 0], [0, 0, 0, 7, 8, 9]])
    hidden = evaluate(scores.__getitem__, torch.eye(6), train, test, also_seen=[valid], ks=(1,))
    shown = evaluate(scores.__getitem__, torch.eye(6), train, test, ks=(1, 2))
    assert hidden.metrics["recall@1"] == hidden.metrics["ndcg@1"] == hidden.metrics["precision@1"] == 1
    assert shown.metrics["recall@1"] == 0 and shown.metrics["recall@2"] == 1


def test_what_is_refused() -> None:
    train, truth = pairs([(0, 0)], 2, 3), pairs([(0, 1)], 2, 3)
    table = torch.eye(3)
    with pytest.raises(DataError, match="empty"):
        evaluate(table.__getitem__, table, train, pairs([], 2, 3))
    with pytest.raises(SettingError, match=r"ks = \[20\].*number of items, 3"):
        evaluate(table.__getitem__, table, train, truth)
    with pytest.raises(DataError, match="differ"):
        evaluate(table.__getitem__, table, pairs([(0, 0)], 2, 4), truth, ks=(1,))
    with pytest.raises(DataError, match="2 item vectors for 3 items"):
        evaluate(table.__getitem__, table[:2], train, truth, ks=(1,))
    with pytest.raises(ValueError, match="user 1 has no test items"):
        per_user(np.array([[0]]), truth.offsets(), truth.items, np.array([1]), 1)
