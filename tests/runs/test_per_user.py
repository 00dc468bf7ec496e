"""Users beside a result file: what is read back is what was measured, under the ids of the log, in two bytes each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparserec.data import IdMap, Interactions, Split
from sparserec.errors import RunError, SettingError
from sparserec.runs import RunFolder, record_users, recorded_path, recorded_users, save_split


def run_of(folder: Path, ids: np.ndarray, order: np.ndarray, values: np.ndarray) -> RunFolder:
    """A folder with the two files that hold users: their numbers inside the run are places in `order`."""
    run = RunFolder(folder)
    users, items = IdMap(ids[order]), IdMap(np.arange(3))
    part = Interactions(np.arange(len(ids), dtype=np.int32), np.zeros(len(ids), np.int32), users, items)
    save_split(run.data, Split(part, part, part, "resplit", 0, "hash"))
    measured = {"int8.ndcg@20": values[order].astype(np.float32)}
    np.savez(run.per_user, users=np.arange(len(ids), dtype=np.int32), **measured)
    return run


@pytest.mark.parametrize("text", [False, True])
def test_what_is_read_back(tmp_path: Path, text: bool) -> None:
    rng = np.random.default_rng(0)
    numbers = np.sort(rng.choice(10**12, 500, replace=False))
    ids = np.array([f"person {number}" for number in numbers]) if text else numbers
    values = rng.random(500)
    path = recorded_path(tmp_path / "results" / "some.jsonl", "a run@0.1")
    assert path == tmp_path / "results" / "per_user" / "some" / "a run@0.1.npz"
    record_users(path, run_of(tmp_path, ids, rng.permutation(500), values))
    found = recorded_users(path)
    expected = dict(zip(ids.tolist(), values.tolist()))
    assert found.ids.tolist() == sorted(expected)
    errors = [abs(value - expected[one]) for one, value in zip(found.ids.tolist(), found.values.tolist())]
    assert max(errors) <= 0.5 / 65535 + 1e-7


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_every_order_of_users_gives_the_same_file(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("run")
    values, files = rng.random(40), []
    for name in ("first", "second"):
        (folder / name).mkdir()
        path = folder / f"{name}.npz"
        record_users(path, run_of(folder / name, np.arange(40), rng.permutation(40), values))
        files.append(recorded_users(path))
    assert np.array_equal(files[0].values, files[1].values)


def test_it_is_small(tmp_path: Path) -> None:
    """Two bytes a user and hardly anything for ids that are consecutive."""
    ids = np.arange(20_000)
    record_users(tmp_path / "x.npz", run_of(tmp_path, ids, ids, np.random.default_rng(0).random(20_000)))
    assert (tmp_path / "x.npz").stat().st_size < 2.1 * 20_000


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"x\.npz: is missing"):
        recorded_users(tmp_path / "x.npz")
    (tmp_path / "x.npz").write_bytes(b"PK")
    with pytest.raises(RunError, match=r"x\.npz: damaged"):
        recorded_users(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", ids=np.arange(3), **{"int8.ndcg@20": np.zeros(3, np.uint16)})
    with pytest.raises(SettingError, match=r"int8\.ndcg@20 alone, not float\.recall@20"):
        recorded_users(tmp_path / "x.npz", "recall@20", "float")
    np.savez(tmp_path / "x.npz", ids=np.arange(3), **{"int8.ndcg@20": np.zeros(4, np.uint16)})
    with pytest.raises(RunError, match="damaged"):
        recorded_users(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", ids=np.array([{}], dtype=object), **{"int8.ndcg@20": np.zeros(1, np.uint16)})
    with pytest.raises(RunError, match="damaged"):
        recorded_users(tmp_path / "x.npz")
