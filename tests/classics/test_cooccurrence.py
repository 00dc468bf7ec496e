"""Lists of items chosen together: entries allocated by hand, gradients against autograd over dense scores."""

import numpy as np
import pytest
import scipy.sparse
import torch

from sparserec.classics import Cooccurrence, RP3beta, histories
from sparserec.classics.cooccurrence import allocate
from sparserec.classics.learn_lists import _add_gradient, learn_values
from sparserec.counter import dropout_factor, key_of
from sparserec.data import Interactions, make_world, read_source, split_interactions
from sparserec.evaluation import evaluate_scorer


def drawn(seed: int, n_users: int = 40, n_items: int = 25) -> Interactions:
    seen = np.random.default_rng(seed).random((n_users, n_items)) < 0.2
    seen[0], seen[:, 0], seen[:, 1] = (
        True,
        True,
        True,
    )  # every user and item is there, nobody has one item only
    return read_source(list(zip(*(axis.tolist() for axis in np.nonzero(seen))))).train


def test_allocation_by_hand() -> None:
    """Row 1 weighs ten times as much, so the twelve entries are 5 4 4 3 3 2 2 2 2 1 1 1; of equal ones the earlier."""
    rows = [[0, 4, 3, 2, 1], [0.5, 0, 0.4, 0.3, 0.2], [1, 2, 0, 1, 2], [0] * 5, [0] * 5]
    lists = scipy.sparse.csr_matrix(np.array(rows, np.float32))
    ten = np.array(rows, np.float32)
    ten[2, 0] = ten[2, 3] = 0
    np.testing.assert_array_equal(allocate(lists, 2, np.array([1.0, 10.0, 1.0, 1.0, 1.0])).toarray(), ten)
    five = allocate(lists, 1, np.ones(5)).toarray()  # the best of each row, then 3 and 2
    np.testing.assert_array_equal((five > 0).sum(axis=1), [3, 1, 1, 0, 0])
    assert allocate(lists, 5, np.ones(5)) is lists, "shorter than asked for: nothing to choose"


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_gradient_is_that_of_a_softmax_over_all_items(rate: float) -> None:
    train = drawn(2)
    pairs, lists = histories(train), RP3beta(neighbours=6).fit(train).lists
    values = np.random.default_rng(0).normal(size=lists.nnz).astype(np.float32)
    users, key = np.array([3, 7, 11, 0], np.int32), key_of(5, 1, 2)
    gradient = np.zeros(lists.nnz, np.float32)
    entries = lists.indptr.astype(np.int64), lists.indices
    loss = _add_gradient(users, (pairs.indptr, pairs.indices), entries, values, key, rate, gradient)
    learnt = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    rows = np.repeat(np.arange(train.n_items), np.diff(lists.indptr))
    dense = torch.zeros(train.n_items, train.n_items, dtype=torch.float64)
    dense = dense.index_put((torch.tensor(rows), torch.tensor(lists.indices)), learnt)
    total, weights = torch.tensor(0.0, dtype=torch.float64), []
    for user in users:
        items = pairs[int(user)].indices
        kept = [item for item in items if dropout_factor(key, rate, user, item) > 0]
        scores = dense[kept].sum(0) / max(len(kept), 1) ** 0.5
        weights.append(len(items) ** 0.5)
        total = total - weights[-1] * torch.log_softmax(scores, 0)[items].mean()
    expected = total / sum(weights)
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    np.testing.assert_allclose(gradient, learnt.grad.numpy(), atol=1e-7)


def test_learning_keeps_the_support_and_the_lists_it_began_with() -> None:
    train = drawn(4)
    lists = RP3beta(neighbours=5).fit(train).lists
    before = lists.copy()
    learnt = learn_values(lists, train, 30)
    assert (lists != before).nnz == 0
    assert learnt.nnz <= lists.nnz and (learnt.data > 0).all()
    assert set(zip(*learnt.nonzero())) <= set(zip(*lists.nonzero()))
    factor = learnt.max() / lists.max()
    assert np.abs(learnt - lists * factor).max() > 1e-3 * learnt.max(), "learning does more than scaling"
    assert (learn_values(lists, train, 30) != learnt).nnz == 0, "the same again"
    assert learn_values(lists, train, 0) is lists


def test_every_setting_counts() -> None:
    train = drawn(5)
    plain = Cooccurrence(neighbours=3, longest=8, steps=10).fit(train).lists.toarray()
    for change in (
        {"neighbours": 4},
        {"longest": 4},
        {"walk_exponent": 0.3},
        {"popularity_exponent": 0.9},
        {"frequency_exponent": 0.0},
        {"steps": 40},
    ):
        other = (
            Cooccurrence(**{"neighbours": 3, "longest": 8, "steps": 10} | change).fit(train).lists.toarray()
        )
        assert not np.array_equal(plain, other), change


def test_better_than_plain_lists_of_as_many_entries() -> None:
    """On the built-in city, validation items, eight entries an item."""
    split = split_interactions(make_world(), "resplit", 0)
    history = histories(split.train)

    def score(lists: object) -> float:
        return evaluate_scorer(lists.scorer(history), split.train, split.valid).metrics["ndcg@20"]

    plain = RP3beta(neighbours=8, popularity_exponent=0.2).fit(split.train)
    ours = Cooccurrence(neighbours=8).fit(split.train)
    assert ours.parameters <= plain.parameters
    assert score(ours) > score(plain)
