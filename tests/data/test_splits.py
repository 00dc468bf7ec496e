"""Split protocols: counts worked out by hand, invariants on random data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import Interactions, ReadReport, Source, Split, split_interactions
from sparserec.data.errors import ProtocolError


def source_of(counts, timestamps=None, test=None):
    users = np.repeat(np.arange(len(counts)), counts)
    items = np.concatenate([np.arange(count) for count in counts])
    return Source(Interactions.from_pairs(users, items, timestamps), None, test, ReadReport("made"))


def with_own_test(counts, tests):
    whole = source_of(np.add(counts, tests)).train
    in_train = whole.items < np.array(counts)[whole.users]
    return Source(whole.select(in_train), None, whole.select(~in_train), ReadReport("made"))


def pairs(part):
    return set(zip(part.users.tolist(), part.items.tolist()))


def test_resplit_rounding_by_hand():
    # a user's count -> (train, valid, test): test is n/5, validation n/10, each rounded half up
    expected = {1: (1, 0, 0), 2: (2, 0, 0), 3: (2, 0, 1), 4: (3, 0, 1), 5: (3, 1, 1), 10: (7, 1, 2), 15: (10, 2, 3),
                100: (70, 10, 20)}  # fmt: skip
    split = split_interactions(source_of(list(expected)), "resplit", seed=3)
    for user, numbers in enumerate(expected.values()):
        assert (
            tuple(int(part.user_counts()[user]) for part in (split.train, split.valid, split.test)) == numbers
        )


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(0, 100))
def test_resplit_is_a_partition_that_leaves_train_to_everyone(counts, seed):
    source = source_of(counts)
    split = split_interactions(source, "resplit", seed)
    parts = [pairs(part) for part in (split.train, split.valid, split.test)]
    assert set.union(*parts) == pairs(source.train) and sum(map(len, parts)) == len(source.train)
    assert split.train.user_counts().min() >= 1
    again = split_interactions(source, "resplit", seed)
    assert again.hash == split.hash and pairs(again.test) == parts[2]


def test_of_some_users_only_something_is_held_out():
    """They are cut as ever; of all others everything is trained on, and nobody without a test part is chosen."""
    counts = [2] * 20 + [10] * 30
    source = source_of(counts, timestamps=np.arange(340))
    for protocol in ("resplit", "temporal"):
        all_users = split_interactions(source, protocol, 3)
        some = split_interactions(source, protocol, 3, held_out_users=4)
        chosen = np.unique(some.test.users)
        assert len(chosen) == 4 and chosen.min() >= 20
        for part in ("valid", "test"):
            whole = getattr(all_users, part)
            assert pairs(getattr(some, part)) == pairs(whole.select(np.isin(whole.users, chosen)))
        parts = [pairs(part) for part in (some.train, some.valid, some.test)]
        assert set.union(*parts) == pairs(source.train) and sum(map(len, parts)) == len(source.train)
    assert len(split_interactions(source, "resplit", 3, held_out_users=99).test) == len(
        split_interactions(source, "resplit", 3).test
    )
    with pytest.raises(ProtocolError, match="held_out_users is for the protocols resplit and temporal"):
        split_interactions(source, "new-users", held_out_users=4)


def test_resplit_merges_the_parts_and_the_seed_matters():
    source = with_own_test([20] * 10, [5] * 10)
    first, second = (split_interactions(source, "resplit", seed) for seed in (0, 1))
    assert len(first.test) == 50 and pairs(first.test) != pairs(source.test)
    assert first.hash != second.hash


def test_resplit_picks_uniformly():
    hits = np.zeros(10)
    for seed in range(200):
        hits += split_interactions(source_of([10] * 20), "resplit", seed).test.item_counts()
    assert np.all(np.abs(hits / (200 * 20) - 0.2) < 0.03)


def test_the_split_of_a_seed_never_changes():
    split = split_interactions(source_of([7, 12, 30]), "resplit", seed=0)
    assert split.hash == "83e14d0ba1b841e4212d839ea129b72a073f8cac9767501a9896ae91d9b76b03"


def test_public_takes_an_eighth_of_train():
    source = with_own_test([3, 4, 8, 16, 20], [1, 1, 2, 4, 5])
    split = split_interactions(source, "public", seed=0)
    assert split.valid.user_counts().tolist() == [0, 1, 1, 2, 3]
    assert pairs(split.train) | pairs(split.valid) == pairs(source.train)
    assert pairs(split.test) == pairs(source.test)


def test_public_full_keeps_what_was_given():
    source = with_own_test([3, 4], [1, 1])
    split = split_interactions(source, "public-full", seed=0)
    assert pairs(split.train) == pairs(source.train) and len(split.valid) == 0


def test_files_keeps_the_parts_and_takes_validation_from_train_only_where_there_is_none():
    given = with_own_test([3, 4, 8], [1, 1, 2])
    cut = split_interactions(given, "files", seed=0)
    assert pairs(cut.test) == pairs(given.test) and cut.valid.user_counts().tolist() == [0, 1, 1]
    assert pairs(cut.train) | pairs(cut.valid) == pairs(given.train)
    all_three = Source(cut.train, cut.valid, cut.test, given.report)
    kept = split_interactions(all_three, "files", seed=5)
    assert [pairs(part) for part in (kept.train, kept.valid, kept.test)] == [
        pairs(part) for part in (cut.train, cut.valid, cut.test)
    ]


def test_temporal_takes_the_last_by_time():
    times = np.r_[np.arange(10)[::-1], np.arange(10)]  # user 0 goes backwards through the items
    split = split_interactions(source_of([10, 10], times), "temporal", seed=0)
    assert pairs(split.test) == {(0, 0), (0, 1), (1, 8), (1, 9)}
    assert pairs(split.valid) == {(0, 2), (1, 7)}


def test_hash_survives_relabel():
    split = split_interactions(source_of([5, 9, 12, 30]), "resplit", seed=1)
    rng = np.random.default_rng(0)
    moved = split.relabel(rng.permutation(split.n_users), rng.permutation(split.n_items))
    assert moved.hash == split.hash
    assert Split.of(moved.train, moved.valid, moved.test, "resplit", 1).hash == split.hash


def test_protocols_that_do_not_fit_say_so():
    source = source_of([5, 5])
    with pytest.raises(ProtocolError, match="unknown split protocol 'random'; known: resplit"):
        split_interactions(source, "random")
    for protocol in ("public", "public-full", "files"):
        with pytest.raises(ProtocolError, match="test file"):
            split_interactions(source, protocol)
    with pytest.raises(ProtocolError, match="timestamp"):
        split_interactions(source, "temporal")
    with pytest.raises(ProtocolError, match="negative"):
        split_interactions(source, "resplit", -1)
    given = with_own_test([8], [2])
    with_valid = Source(given.train, given.test, given.test, given.report)
    for protocol in ("public", "public-full"):
        with pytest.raises(ProtocolError, match="no use for a validation file"):
            split_interactions(with_valid, protocol)


def test_new_users_by_hand():
    # 25 users of 10: a tenth is 3 (2.5 rounded half up). New ones give 8 and are tested on 2, the others keep 9 and 1.
    split = split_interactions(source_of([10] * 25), "new-users", seed=4)
    new = np.unique(split.test.users)
    assert len(new) == 3
    assert split.given.user_counts()[new].tolist() == [8] * 3 and len(split.given) == 24
    assert split.test.user_counts()[new].tolist() == [2] * 3 and len(split.test) == 6
    others = np.setdiff1d(np.arange(25), new)
    assert split.train.user_counts()[new].tolist() == split.valid.user_counts()[new].tolist() == [0] * 3
    assert split.train.user_counts()[others].tolist() == [9] * 22
    assert split.valid.user_counts()[others].tolist() == [1] * 22


@given(st.lists(st.integers(5, 40), min_size=2, max_size=40), st.integers(0, 100))
def test_new_users_is_a_partition_and_nothing_of_them_is_trained_on(counts, seed):
    source = source_of(counts)
    split = split_interactions(source, "new-users", seed)
    parts = [pairs(part) for part in (split.train, split.valid, split.test, split.given)]
    assert set.union(*parts) == pairs(source.train) and sum(map(len, parts)) == len(source.train)
    new = {user for user, _ in parts[2] | parts[3]}
    assert len(new) == max(1, int(len(counts) / 10 + 0.5))
    assert not new & {user for user, _ in parts[0] | parts[1]}
    assert split_interactions(source, "new-users", seed).hash == split.hash


def test_new_users_are_drawn_uniformly():
    hits = np.zeros(20)
    for seed in range(1000):
        hits[np.unique(split_interactions(source_of([5] * 20), "new-users", seed).test.users)] += 1
    assert np.all(np.abs(hits / 1000 - 0.1) < 0.035)


def test_new_users_hash_survives_relabel_and_covers_what_is_given():
    split = split_interactions(source_of([5, 9, 12, 30, 7]), "new-users", seed=1)
    rng = np.random.default_rng(0)
    moved = split.relabel(rng.permutation(split.n_users), rng.permutation(split.n_items))
    parts = moved.train, moved.valid, moved.test
    assert Split.of(*parts, "new-users", 1, moved.given).hash == moved.hash == split.hash
    assert Split.of(*parts, "new-users", 1).hash != split.hash


def test_new_users_needs_something_to_validate_and_test_on():
    for counts in ([30], [4] * 20, [2] * 20):
        with pytest.raises(ProtocolError, match="validate or to test on"):
            split_interactions(source_of(counts), "new-users")
