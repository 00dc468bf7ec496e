"""Classics against hand-worked numbers and brute force over dense matrices."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparserec.classics import (
    CLASSICS,
    EASE,
    ClassicSettings,
    Cosine,
    Popularity,
    RP3beta,
    histories,
    search,
)
from sparserec.data import Interactions, read_source
from sparserec.errors import SettingError

# Eight pairs. Items 0 and 1 share users 0 and 1, items 1 and 2 share users 1 and 2, items 0 and 2 share user 1.
EIGHT = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2), (3, 3)]


def eight() -> Interactions:
    return read_source(EIGHT).train


def scores(settings: ClassicSettings, train: Interactions) -> np.ndarray:
    return settings.fit(train).scorer(histories(train))(np.arange(train.n_users))


def drawn(seed: int, n_users: int = 30, n_items: int = 20) -> Interactions:
    seen = np.random.default_rng(seed).random((n_users, n_items)) < 0.2
    seen[0], seen[:, 0] = True, True  # every user and item is there
    return read_source(list(zip(*(axis.tolist() for axis in np.nonzero(seen))))).train


def test_cosine_by_hand() -> None:
    lists = Cosine(shrink=0, neighbours=4).fit(eight()).lists.toarray()
    near, far = 2 / 6**0.5, 1 / 2
    expected = [[0, near, far, 0], [near, 0, near, 0], [far, near, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(lists, expected, rtol=1e-6)


def test_shrink_by_hand() -> None:
    lists = Cosine(shrink=2, neighbours=4).fit(eight()).lists.toarray()
    np.testing.assert_allclose(lists[0], [0, 2 / (6**0.5 + 2), 1 / 4, 0], rtol=1e-6)


def test_of_equal_neighbours_the_lower_item_stays() -> None:
    lists = Cosine(shrink=0, neighbours=1).fit(eight()).lists.toarray()
    assert [np.flatnonzero(row).tolist() for row in lists] == [[1], [0], [1], []]


def test_rp3beta_by_hand() -> None:
    plain = RP3beta(walk_exponent=1, popularity_exponent=0, neighbours=4).fit(eight()).lists.toarray()
    expected = [[0, 5 / 12, 1 / 6, 0], [5 / 18, 0, 5 / 18, 0], [1 / 6, 5 / 12, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(plain, expected, rtol=1e-6)
    held_back = RP3beta(walk_exponent=1, popularity_exponent=1, neighbours=4).fit(eight()).lists.toarray()
    np.testing.assert_allclose(held_back, plain / [2, 3, 2, 1], rtol=1e-6)


def test_a_user_gets_the_sum_of_the_lists() -> None:
    found = scores(RP3beta(walk_exponent=1, popularity_exponent=0, neighbours=4), eight())
    np.testing.assert_allclose(found[0], [5 / 18, 5 / 12, 1 / 6 + 5 / 18, 0], rtol=1e-6)


def test_popularity_counts_users() -> None:
    assert scores(Popularity(), eight()).tolist() == [[2, 3, 2, 1]] * 4


@given(
    st.integers(0, 1000), st.sampled_from([0.0, 0.5, 1.3]), st.sampled_from([0.0, 0.4]), st.integers(1, 25)
)
@settings(max_examples=30, deadline=None)
def test_rp3beta_is_the_product_of_walks(seed: int, alpha: float, beta: float, count: int) -> None:
    train = drawn(seed)
    seen = histories(train).toarray().astype(np.float64)
    to_items = (seen / seen.sum(1, keepdims=True)) ** alpha * seen
    to_users = (seen.T / seen.T.sum(1, keepdims=True)) ** alpha * seen.T
    walks = to_users @ to_items / seen.sum(0) ** beta
    np.fill_diagonal(walks, 0)
    found = (
        RP3beta(walk_exponent=alpha, popularity_exponent=beta, neighbours=count).fit(train).lists.toarray()
    )
    for row, expected in zip(found, walks):
        kept = np.flatnonzero(row)
        assert len(kept) == min(count, int((expected > 0).sum()))
        np.testing.assert_allclose(row[kept], expected[kept], rtol=1e-5)
        np.testing.assert_allclose(np.sort(row[kept])[::-1], np.sort(expected)[::-1][: len(kept)], rtol=1e-5)


def test_ease_is_the_ridge_regression_of_each_item_on_the_others() -> None:
    train = drawn(3)
    seen = histories(train).toarray().astype(np.float64)
    weights = EASE(l2=2.5).fit(train).weights
    for item in range(train.n_items):
        others = np.delete(np.arange(train.n_items), item)
        x = seen[:, others]
        expected = np.linalg.solve(x.T @ x + 2.5 * np.eye(len(others)), x.T @ seen[:, item])
        np.testing.assert_allclose(weights[others, item], expected, atol=1e-4)
        assert weights[item, item] == 0


def test_ease_refuses_large_catalogues() -> None:
    train = read_source([(0, item) for item in range(EASE.most_items + 1)]).train
    with pytest.raises(SettingError, match="10,001 items"):
        EASE().fit(train)


@pytest.mark.parametrize("name", ["cosine", "rp3beta", "ease"])
def test_every_setting_counts(name: str) -> None:
    train, kind = drawn(5), CLASSICS[name]
    for setting, values in kind.choices.items():
        small = [value for value in values if setting != "neighbours"] or [2, 5]
        made = [scores(kind().with_value(setting, value), train) for value in small]
        assert all(not np.array_equal(one, other) for one, other in pairwise(made)), setting


@pytest.mark.parametrize("name", ["cosine", "rp3beta", "ease"])
def test_fewer_bits_are_coarser_and_smaller(name: str) -> None:
    train = drawn(7)
    whole = CLASSICS[name]().fit(train)
    history, everybody = histories(train), np.arange(train.n_users)
    exact = whole.scorer(history)(everybody)
    errors = [np.abs(whole.quantised(bits).scorer(history)(everybody) - exact).max() for bits in (8, 4)]
    assert 0 < errors[0] < errors[1] < 0.2 * np.abs(exact).max()
    assert whole.stored_bytes(4) < whole.stored_bytes(8) < 4 * whole.parameters


class Hill(ClassicSettings):
    """Two settings that must move together, and one that does not matter."""

    x: float = 0
    y: float = 0
    choices = {"x": (0, 1, 2, 3), "y": (0, 1, 2, 3)}  # noqa: RUF012


def test_search_climbs_until_nothing_improves() -> None:
    asked: list[tuple[float, float]] = []

    def score(point: Hill) -> float:
        asked.append((point.x, point.y))
        return -((point.x - 2) ** 2) - (point.y - point.x) ** 2 / 2

    tried = search(Hill(), score)  # type: ignore[arg-type]
    assert (tried[0].settings.x, tried[0].settings.y, tried[0].score) == (2, 2, 0)  # type: ignore[attr-defined]
    assert len(asked) == len(set(asked)) == len(tried) < 16
    assert [one.score for one in tried] == sorted((one.score for one in tried), reverse=True)


@pytest.mark.parametrize("least", [1, 2, 4])
def test_neighbours_that_enough_people_have_both_of(least: int) -> None:
    """Against the matrix of how many people have two items; similarities stay what they were."""
    rng = np.random.default_rng(2)
    train = Interactions.from_pairs(*np.nonzero(rng.random((40, 25)) < 0.25))
    seen = histories(train).toarray()
    both = seen.T @ seen
    np.fill_diagonal(both, 0)
    lists = RP3beta(neighbours=25, least_users=least).fit(train).lists.toarray()
    every = RP3beta(neighbours=25).fit(train).lists.toarray()
    np.testing.assert_array_equal(lists != 0, both >= least)
    np.testing.assert_allclose(lists, np.where(both >= least, every, 0))
    few = RP3beta(neighbours=3, least_users=least).fit(train).lists.toarray()
    np.testing.assert_allclose(np.sort(few, axis=1)[:, -3:], np.sort(lists, axis=1)[:, -3:])
