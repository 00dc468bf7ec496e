"""A finished dense run in the place of a method's first training: the same result, and what does not fit is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from small_run import blocks, small_config

from sparserec.errors import RunError, SettingError
from sparserec.methods import METHODS, make_method
from sparserec.runs.train import train_run
from sparserec.runs.warm_start import open_dense_run

SHORT = {
    "bet": {"probes": 2, "actions": 3, "retrained": 1},
    "ciess": {"episodes": 1, "episode_steps": 2, "updates": 1, "retrained": 1},
}
BEGIN_DENSE = [name for name in METHODS if make_method(name).begins_dense]


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "dense"
    config = small_config(method="dense", method_settings={}, density=0.5, open_test=False)
    train_run(config, folder, source=blocks())
    return folder


def test_methods_that_begin_dense_are_known() -> None:
    assert BEGIN_DENSE == ["magnitude", "lottery", "bet", "ciess"]


@pytest.mark.parametrize("name", BEGIN_DENSE)
def test_a_dense_run_changes_nothing_but_the_time(dense: Path, tmp_path: Path, name: str) -> None:
    config = small_config(method=name, method_settings=SHORT.get(name, {}))
    alone = train_run(config, tmp_path / "alone", source=blocks())
    after = train_run(config, tmp_path / "after", source=blocks(), start=open_dense_run(dense))
    for left, right in zip(alone.table.entries(), after.table.entries()):  # type: ignore[attr-defined]
        np.testing.assert_array_equal(left, right)
    for field in ("test", "steps", "cost", "epochs", "digest"):
        assert after.record[field] == alone.record[field], field
    spent = json.loads((dense / "record.json").read_text())["seconds"]["train"]
    assert after.record["seconds"]["train"] > spent
    first = json.loads((tmp_path / "after" / "events.jsonl").read_text().splitlines()[0])
    assert (first["event"], first["name"]) == ("phase", "dense") and first["taken_from"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "sparserec"}, "sparserec does not begin with a dense training"),
        ({"method": "lottery", "method_settings": {}, "seed": 3}, "other settings .seed 0, now 3"),
        ({"method": "lottery", "method_settings": {}, "dim": 12}, "other settings .dim 24, now 12"),
    ],
)
def test_a_run_that_does_not_fit_is_refused(dense: Path, tmp_path: Path, changes: dict, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        train_run(small_config(**changes), tmp_path / "run", source=blocks(), start=open_dense_run(dense))
    assert not (tmp_path / "run").exists()


def test_other_data_is_refused(dense: Path, tmp_path: Path) -> None:
    config = small_config(method="lottery", method_settings={})
    with pytest.raises(SettingError, match="other data"):
        train_run(config, tmp_path / "run", source=blocks(seed=1), start=open_dense_run(dense))


def test_only_a_finished_run_of_dense_will_do(dense: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"`dense_run` .*not a run folder"):
        open_dense_run(tmp_path)
    train_run(small_config(method="small_dense", method_settings={}), tmp_path / "small", source=blocks())
    with pytest.raises(SettingError, match="holds method small_dense, not dense"):
        open_dense_run(tmp_path / "small")
