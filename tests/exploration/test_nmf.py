"""The factorisation child: finds planted blocks, is cached, and fails with a named error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sparserec.data import Interactions
from sparserec.data.interactions import IdMap
from sparserec.errors import RunError, TrainingError
from sparserec.exploration import factorise, nmf, nmf_support
from sparserec.exploration.nmf import _numbered_hash
from sparserec.graph.adjacency import by_group
from sparserec.table import Shape

GROUPS, USERS, ITEMS = 3, 8, 6  # users and items of each group


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARSEREC_CACHE", str(tmp_path))
    return tmp_path


def planted(one_less: bool = False) -> Interactions:
    """Everyone likes everything of the own group; groups are interleaved, so that order gives nothing away."""
    pairs = [
        (user, item)
        for user in range(GROUPS * USERS)
        for item in range(GROUPS * ITEMS)
        if user % GROUPS == item % GROUPS
    ]
    users, items = np.array(pairs[:-1] if one_less else pairs, np.int32).T
    return Interactions.from_codes(users, items, IdMap(range(GROUPS * USERS)), IdMap(range(GROUPS * ITEMS)))


def test_planted_blocks_are_found_and_cached(own_cache: Path) -> None:
    train = planted()
    found = factorise(train, GROUPS, 30, seed=1)
    shape = Shape(train.n_users, train.n_items, GROUPS, GROUPS)
    # One entry a row is the whole structure; ask for that many and see that each row got its group's component.
    support = nmf_support(shape, shape.n_rows, found)[0]
    rows, columns = support // GROUPS, support % GROUPS
    assert rows.tolist() == list(range(shape.n_rows))
    group = np.concatenate([np.arange(train.n_users) % GROUPS, np.arange(train.n_items) % GROUPS])
    assert (
        len(set(zip(group.tolist(), columns.tolist()))) == GROUPS
    )  # one component a group, one group a component
    assert found.strongest(shape.n_rows, train.n_users).tolist() == columns.tolist()
    users, items = by_group(train, found.strongest(shape.n_rows, train.n_users))
    assert [len(set(part)) for part in np.split(users % GROUPS, GROUPS)] == [1] * GROUPS
    assert [len(set(part)) for part in np.split(items % GROUPS, GROUPS)] == [1] * GROUPS
    info = found.info
    assert not info.cached and info.iterations == 30 and info.seconds > 0
    in_users = found.rows < train.n_users
    assert info.density_users == pytest.approx(in_users.sum() / (train.n_users * GROUPS))

    files = [(path, path.stat().st_mtime_ns) for path in (own_cache / "nmf").iterdir()]
    assert len(files) == 1 and files[0][0].name.endswith("-3-30-1-v1.npz")  # rank, iterations, seed
    again = factorise(train, GROUPS, 30, seed=1)
    assert again.info.cached
    np.testing.assert_array_equal(again.values, found.values)
    assert files == [(path, path.stat().st_mtime_ns) for path in (own_cache / "nmf").iterdir()]

    files[0][0].write_bytes(files[0][0].read_bytes()[:100])  # damaged: made again, not trusted and not fatal
    repaired = factorise(train, GROUPS, 30, seed=1)
    assert not repaired.info.cached
    np.testing.assert_array_equal(repaired.values, found.values)


def test_other_data_is_another_file() -> None:
    assert _numbered_hash(planted()) != _numbered_hash(planted(one_less=True))


def test_a_child_that_fails_is_a_training_error_and_leaves_nothing(own_cache: Path) -> None:
    with pytest.raises(TrainingError, match=r"NMF child process failed \(ZeroDivisionError.*init=uniform"):
        factorise(planted(), 0, 5, seed=1)
    assert list((own_cache / "nmf").iterdir()) == []


def test_of_many_users_a_sample_is_factorised_and_the_others_follow() -> None:
    """The items' factor of some users places all users in their group, those outside the sample too."""
    train = planted()
    found = factorise(train, GROUPS, 30, seed=1, most_users=12)
    strongest = found.strongest(train.n_users + train.n_items, train.n_users)
    users, items = strongest[: train.n_users], strongest[train.n_users :]
    for group in range(GROUPS):
        assert len(set(users[group::GROUPS]) | set(items[group::GROUPS])) == 1
    assert len(set(users)) == GROUPS
    assert np.bincount(found.rows[found.rows < train.n_users]).tolist() == [1] * train.n_users, (
        "a row's largest"
    )


def test_factors_of_another_version_are_made_again(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = planted()
    factorise(train, GROUPS, 5, seed=1)
    assert factorise(train, GROUPS, 5, seed=1).info.cached
    monkeypatch.setattr(nmf, "VERSION", nmf.VERSION + 1)
    assert not factorise(train, GROUPS, 5, seed=1).info.cached


def test_stored_factors_that_are_gone_are_named(own_cache: Path) -> None:
    train = planted()
    info, path = factorise(train, GROUPS, 5, seed=1).info, nmf.cached_path(train, GROUPS, 5, 1)
    stored = nmf.StoredFactors(path, GROUPS, info, np.arange(train.n_users + train.n_items))
    assert len(stored.load().rows)
    path.unlink()
    with pytest.raises(RunError, match="was removed while this run went on"):
        stored.load()
