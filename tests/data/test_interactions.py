"""Interactions against sets of pairs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import IdMap, Interactions, ItemInfo
from sparserec.data.errors import IdRangeError

pair_lists = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abcdef")), min_size=1, max_size=60)


def external_pairs(data):
    return list(zip(data.user_ids.external(data.users).tolist(), data.item_ids.external(data.items).tolist()))


@given(pair_lists)
def test_from_pairs_is_a_sorted_set(pairs):
    data = Interactions.from_pairs([user for user, _ in pairs], [item for _, item in pairs])
    assert external_pairs(data) == sorted(set(pairs))
    assert data.duplicates == len(pairs) - len(set(pairs))
    assert data.users.dtype == data.items.dtype == np.int32


@given(pair_lists)
def test_offsets_and_counts(pairs):
    data = Interactions.from_pairs([user for user, _ in pairs], [item for _, item in pairs])
    offsets = data.offsets()
    assert offsets.dtype == np.int32 and len(offsets) == data.n_users + 1
    for user in range(data.n_users):
        row = data.items[offsets[user] : offsets[user + 1]].tolist()
        assert row == sorted(data.items[data.users == user].tolist())
        assert data.user_counts()[user] == len(row)
    assert data.item_counts().sum() == len(data)


@given(pair_lists, st.integers(0, 1000))
def test_relabel_keeps_external_pairs_and_hash(pairs, seed):
    rng = np.random.default_rng(seed)
    times = np.arange(len(pairs))
    data = Interactions.from_pairs([user for user, _ in pairs], [item for _, item in pairs], times)
    data = replace(data, item_info=ItemInfo(titles=[f"title {name}" for name in data.item_ids.external()]))
    user_order, item_order = rng.permutation(data.n_users), rng.permutation(data.n_items)
    moved = data.relabel(user_order, item_order)
    assert moved.user_ids.external().tolist() == data.user_ids.external(user_order).tolist()
    assert dict(zip(external_pairs(moved), moved.timestamps)) == dict(
        zip(external_pairs(data), data.timestamps)
    )
    assert moved.item_info.titles == [f"title {name}" for name in moved.item_ids.external()]
    assert np.all(np.diff(moved.users.astype(np.int64) * moved.n_items + moved.items) > 0)
    assert moved.pair_hash() == data.pair_hash()


def test_hash_sees_pairs_ids_and_sizes():
    base = Interactions.from_pairs([1, 2], [5, 6])
    assert base.pair_hash() == Interactions.from_pairs([2, 1, 1], [6, 5, 5]).pair_hash()
    others = [
        Interactions.from_pairs([1, 2], [6, 5]),
        Interactions.from_pairs([1, 3], [5, 6]),
        replace(base, user_ids=IdMap(np.array([1, 2, 3]))),
        Interactions.from_pairs(["1", "2"], [5, 6]),
    ]
    assert len({data.pair_hash() for data in [base, *others]}) == 5


def test_the_earliest_of_repeated_pairs_stays():
    data = Interactions.from_pairs([1, 1, 1], ["a", "b", "a"], timestamps=np.array([9, 5, 3]))
    assert data.timestamps.tolist() == [3, 5]


def test_a_new_order_names_everybody_once():
    with pytest.raises(IdRangeError, match="each of the 2 users once"):
        Interactions.from_pairs([1, 2], [1, 2]).relabel(np.array([0, 0]), np.array([0, 1]))
