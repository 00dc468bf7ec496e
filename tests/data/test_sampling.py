"""Batches: purity, coverage, and exact uniformity of negatives against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import Interactions, Sampler
from sparserec.data.errors import SamplingError
from sparserec.errors import SettingError


def random_train(seed=0, users=40, items=30, pairs=300):
    rng = np.random.default_rng(seed)
    return Interactions.from_pairs(rng.integers(0, users, pairs), rng.integers(0, items, pairs))


def pairs_of(train):
    return set(zip(train.users.tolist(), train.items.tolist()))


@given(st.integers(0, 50), st.integers(1, 70))
def test_every_edge_once_per_epoch(seed, batch_size):
    train = random_train(seed)
    sampler = Sampler(train, batch_size, seed)
    batches = [sampler.batch(2, step) for step in range(sampler.steps_per_epoch)]
    drawn = [pair for batch in batches for pair in zip(batch.users.tolist(), batch.positives.tolist())]
    assert len(drawn) == len(train) and set(drawn) == pairs_of(train)
    assert all(len(batch.users) == batch_size for batch in batches[:-1])


@given(st.integers(0, 50), st.sampled_from(["edges", "users"]))
def test_negatives_are_never_train_items_and_positives_always_are(seed, order):
    train = random_train(seed)
    known = pairs_of(train)
    batch = Sampler(train, 64, seed, order=order, negatives_per_edge=3).batch(0, 1)
    assert batch.negatives.shape == (64, 3) and batch.negatives.dtype == np.int32
    assert all(pair in known for pair in zip(batch.users.tolist(), batch.positives.tolist()))
    for user, row in zip(batch.users.tolist(), batch.negatives.tolist()):
        assert all(0 <= item < train.n_items and (user, item) not in known for item in row)


def test_rank_to_unseen_item_by_enumeration():
    train = Interactions.from_pairs([0, 0, 0, 1, 1, 2], [0, 2, 3, 5, 6, 1])
    sampler = Sampler(train, 2, 0)
    for user in range(3):
        seen = set(train.items[train.users == user].tolist())
        unseen = [item for item in range(train.n_items) if item not in seen]
        users = np.full(len(unseen), user, np.int32)
        assert sampler._unseen_item(users, np.arange(len(unseen), dtype=np.int32)).tolist() == unseen


def test_negatives_are_uniform_over_unseen_items():
    train = Interactions.from_pairs([0] * 4 + [1] * 6, [1, 2, 3, 9, 0, 1, 2, 3, 4, 5])
    sampler = Sampler(train, 10, 0, negatives_per_edge=5000)
    batch = sampler.batch(0, 0)
    counts = np.bincount(batch.negatives[batch.users == 1].ravel(), minlength=7)
    unseen_code = train.item_ids.index_of([9])[0]
    assert counts[unseen_code] == 6 * 5000  # the only item user 1 has not seen
    row = np.bincount(batch.negatives[batch.users == 0].ravel(), minlength=7)
    assert np.all(np.abs(row[row > 0] / 20000 - 1 / 3) < 0.02) and np.count_nonzero(row) == 3


def test_users_order_draws_users_uniformly():
    train = Interactions.from_pairs([0] * 50 + [1], list(range(50)) + [0])
    sampler = Sampler(train, 51, 0, order="users", reject=False)
    share = np.mean([np.mean(sampler.batch(epoch, 0).users) for epoch in range(200)])
    assert abs(share - 0.5) < 0.02


def test_a_batch_depends_on_seed_epoch_and_step_alone():
    train = random_train()
    forward, backward = Sampler(train, 50, 7), Sampler(train, 50, 7)
    order = [(epoch, step) for epoch in range(3) for step in range(forward.steps_per_epoch)]
    made = {place: forward.batch(*place) for place in order}
    for place in reversed(order):
        again = backward.batch(*place)
        for name in ("users", "positives", "negatives"):
            assert np.array_equal(getattr(again, name), getattr(made[place], name))
    assert not np.array_equal(made[0, 0].users, made[1, 0].users)
    assert not np.array_equal(made[0, 0].negatives, made[0, 1].negatives)
    assert not np.array_equal(made[0, 0].users, Sampler(train, 50, 8).batch(0, 0).users)


def test_groups_share_negatives():
    train = random_train()
    sampler = Sampler(train, 100, 0, negatives_per_edge=20, group_size=32, reject=False)
    assert sampler.batch(0, 0).negatives.shape == (4, 20)  # 32 + 32 + 32 + 4 edges


def test_what_cannot_be_sampled_is_refused():
    full = Interactions.from_pairs(["ann", "ann", "bob"], [1, 2, 1])
    with pytest.raises(SamplingError, match="user ann has all 2 items"):
        Sampler(full, 2, 0)
    Sampler(full, 2, 0, reject=False)
    with pytest.raises(SamplingError, match="no train interactions"):
        Sampler(full.select(np.zeros(3, bool)), 2, 0)
    with pytest.raises(SamplingError, match="step 9 is outside"):
        Sampler(random_train(), 300, 0).batch(0, 9)
    for wrong in ({"batch_size": 0}, {"seed": -1}, {"order": "items"}, {"group_size": 0}):
        with pytest.raises(SettingError):
            Sampler(random_train(), **{"batch_size": 10, "seed": 0, **wrong})
