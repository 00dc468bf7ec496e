"""Weights of interactions, from where they are read to the batches and losses that they count in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
import scipy.sparse

from sparserec.data import Interactions, Sampler, read_source, split_interactions
from sparserec.data.errors import BadValueError, MissingColumnError
from sparserec.errors import SettingError
from sparserec.runs.folder import load_split, save_split

FRAME = pandas.DataFrame(
    {"user": ["b", "a", "a", "b", "a"], "item": ["y", "x", "y", "y", "z"], "plays": [3, 1, 4, 2, 0]}
)
EXPECTED = {("a", "x"): 1.0, ("a", "y"): 4.0, ("b", "y"): 5.0}


def weights_of(part: Interactions) -> dict[tuple[str, str], float]:
    assert part.weights is not None and part.weights.dtype == np.float32
    users, items = part.user_ids.external(part.users), part.item_ids.external(part.items)
    return dict(zip(zip(users.tolist(), items.tolist()), part.weights.tolist()))


def test_a_column_of_weights(tmp_path: Path) -> None:
    """Rows of one pair add up; a row of weight 0 is none."""
    FRAME.to_csv(tmp_path / "log.csv", index=False)
    FRAME.to_parquet(tmp_path / "log.parquet")
    for what in (FRAME, tmp_path / "log.csv", tmp_path / "log.parquet"):
        source = read_source(what, weight_col="plays")
        assert weights_of(source.train) == EXPECTED
        assert source.report.dropped == {"weight 0": 1} and source.report.columns["weight"] == "plays"
    pairs = read_source([tuple(row) for row in FRAME.itertuples(index=False)], weight_col="3").train
    assert weights_of(pairs) == EXPECTED
    assert read_source(FRAME).train.weights is None


def test_a_matrix_and_repeated_rows() -> None:
    matrix = scipy.sparse.coo_matrix(([2.5, 1.0, 3.0], ([0, 0, 1], [1, 2, 2])))
    found = read_source(matrix, weight_col="value").train
    assert found.weights is not None and found.weights.tolist() == [2.5, 1.0, 3.0]
    assert weights_of(read_source(FRAME, count_repeats=True).train) == {
        ("a", "x"): 1, ("a", "y"): 1, ("a", "z"): 1, ("b", "y"): 2,
    }  # fmt: skip


def test_what_is_no_weight_is_told_with_its_place(tmp_path: Path) -> None:
    frame = FRAME.assign(plays=[1, 2, -3, 1, 1])
    with pytest.raises(BadValueError, match="row 2: column 'plays' has the weight -3; weights are above 0"):
        read_source(frame, weight_col="plays")
    frame.to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(BadValueError, match=r"log\.csv:4: column 'plays'"):
        read_source(tmp_path / "log.csv", weight_col="plays")
    with pytest.raises(MissingColumnError, match=r"no column 'play'.*did you mean 'plays'"):
        read_source(FRAME, weight_col="play")
    with pytest.raises(SettingError, match="give one of them"):
        read_source(FRAME, weight_col="plays", count_repeats=True)
    with pytest.raises(MissingColumnError, match="weight_col='value' takes its values"):
        read_source(scipy.sparse.eye(3), weight_col="plays")


def weighed_log(n_users: int = 30, n_items: int = 12) -> Interactions:
    rng = np.random.default_rng(0)
    users, items = np.nonzero(rng.random((n_users, n_items)) < 0.5)
    frame = pandas.DataFrame({"user": users, "item": items, "weight": rng.integers(1, 9, len(users))})
    return read_source(frame, weight_col="weight").train


def test_weights_follow_their_pairs_through_a_split_and_a_run_folder(tmp_path: Path) -> None:
    log = weighed_log()
    known = weights_of(log)
    split = split_interactions(read_source(log), "resplit", 0)
    turned = split.relabel(np.arange(log.n_users)[::-1], np.arange(log.n_items)[::-1])
    save_split(tmp_path / "data.safetensors", turned)
    stored = load_split(tmp_path / "data.safetensors")
    for part in (split.train, turned.valid, stored.train, stored.test, stored.everything()):
        found = weights_of(part)
        assert found and all(known[pair] == weight for pair, weight in found.items())
    assert len(stored.everything()) == len(log)
    assert split.hash == split_interactions(read_source(_unweighed(log)), "resplit", 0).hash


def _unweighed(log: Interactions) -> Interactions:
    return Interactions(log.users, log.items, log.user_ids, log.item_ids)


def drawn(sampler: Sampler, epochs: int) -> np.ndarray:
    """How often each pair was met."""
    train = sampler.train
    seen = np.zeros((train.n_users, train.n_items))
    for epoch in range(epochs):
        for step in range(sampler.steps_per_epoch):
            batch = sampler.batch(epoch, step)
            np.add.at(seen, (batch.users, batch.positives), 1)
    return seen[train.users, train.items]


def test_an_edge_comes_as_often_as_its_weight_says() -> None:
    """As in a log that holds the pair so many times: the same number of draws for each unit of weight."""
    log = weighed_log()
    assert log.weights is not None
    share = log.weights / log.weights.mean()
    once = drawn(Sampler(log, 16, 3), 1)
    assert once.sum() == len(log)
    assert ((once == np.floor(share)) | (once == np.ceil(share))).all()
    often = drawn(Sampler(log, 16, 3), 400) / 400
    np.testing.assert_allclose(often, share, atol=0.12)


def test_equal_weights_are_none() -> None:
    log = weighed_log()
    equal = Interactions(
        log.users, log.items, log.user_ids, log.item_ids, weights=np.full(len(log), 7, np.float32)
    )
    assert (drawn(Sampler(equal, 16, 3), 1) == 1).all()


def test_items_of_a_drawn_user_come_in_proportion() -> None:
    log = weighed_log(6, 8)
    assert log.weights is not None
    totals = np.bincount(log.users, log.weights)
    epochs = 4000
    often = drawn(Sampler(log, 64, 5, order="users"), epochs) / (epochs * len(log))
    np.testing.assert_allclose(often, log.weights / totals[log.users] / len(totals), atol=0.004)
