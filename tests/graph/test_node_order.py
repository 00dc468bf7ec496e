"""Orders name every node once and put the busiest first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import Interactions
from sparserec.data.interactions import IdMap
from sparserec.graph.adjacency import by_degree, by_group


def example() -> Interactions:
    users = np.array([0, 0, 0, 1, 2, 2, 3], np.int32)
    items = np.array([0, 1, 2, 1, 1, 2, 1], np.int32)
    return Interactions.from_codes(users, items, IdMap(range(4)), IdMap(range(4)))


def test_by_degree_hand_worked() -> None:
    users, items = by_degree(example())  # user counts 3 1 2 1, item counts 1 4 2 0
    assert users.tolist() == [0, 2, 1, 3] and items.tolist() == [1, 2, 0, 3]


def test_by_group_hand_worked() -> None:
    users, items = by_group(example(), np.array([1, 0, 1, 0, 2, 2, 0, 0]))
    assert users.tolist() == [1, 3, 0, 2] and items.tolist() == [2, 3, 1, 0]


@given(st.lists(st.integers(0, 5), min_size=8, max_size=8))
def test_an_order_can_renumber_the_interactions_and_keeps_the_data(groups: list[int]) -> None:
    train = example()
    users, items = by_group(train, np.array(groups))
    renumbered = train.relabel(users, items)
    assert renumbered.pair_hash() == train.pair_hash()
    by_id = dict(zip(renumbered.user_ids.external().tolist(), renumbered.user_counts().tolist()))
    assert by_id == dict(enumerate(train.user_counts().tolist()))
