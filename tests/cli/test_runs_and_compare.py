"""runs, evaluate and compare on finished, unfinished and damaged runs."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sparserec.errors import RunError, SettingError
from sparserec.runs.stored_split import load_split


def test_runs_lists_all_states(call: Callable, ask: Callable, runs: Path, tmp_path: Path) -> None:
    for name in ("sparse", "dense"):
        shutil.copytree(runs / name, tmp_path / "deep" / name)
    (tmp_path / "deep" / "dense" / "record.json").unlink()
    shutil.copytree(runs / "sparse", tmp_path / "broken")
    (tmp_path / "broken" / "config.json").write_text("{")
    found = {run["run"]: run for run in ask("runs", tmp_path)}
    assert found["deep/sparse"]["state"] == "finished" and found["deep/sparse"]["metric"] == "ndcg@20"
    assert found["deep/dense"]["state"] == "epoch 12/12" and found["deep/dense"]["score"] is None
    assert found["broken"]["state"] == "damaged" and "config.json" in found["broken"]["error"]
    shown = call("runs", tmp_path).stdout
    assert all(name in shown for name in ("deep/sparse", "finished", "damaged", "epoch 12/12"))


def test_runs_of_nothing(call: Callable, tmp_path: Path) -> None:
    assert "no runs in" in call("runs", tmp_path).stdout
    assert isinstance(call("runs", tmp_path / "none").exception, RunError)


def test_evaluate_shows_the_stored_result(call: Callable, ask: Callable, runs: Path) -> None:
    record = json.loads((runs / "sparse" / "record.json").read_text())
    found = ask("evaluate", runs / "sparse")
    assert found["test"] == record["test"] and found["opened"] == 1
    shown = call("evaluate", runs / "sparse").stdout
    assert "opened once" in shown and f"{record['test']['int4']['recall@20']:.4f}" in shown


def test_evaluate_again_is_written_down(call: Callable, ask: Callable, runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "sparse", tmp_path / "run")
    first = ask("evaluate", tmp_path / "run")
    again = ask("evaluate", tmp_path / "run", "--again")
    assert again["test"] == first["test"] and again["opened"] == 2
    assert "opened 2 times" in call("evaluate", tmp_path / "run").stdout


def per_user(run: Path) -> dict[str, float]:
    stored = np.load(run / "per_user.npz")
    ids = load_split(run / "data.safetensors").train.user_ids.external(stored["users"])
    return dict(zip(ids.tolist(), stored["float.ndcg@20"].tolist()))


def test_compare_pairs_the_same_people(ask: Callable, call: Callable, runs: Path) -> None:
    reference, other = ask("compare", runs / "dense", runs / "sparse")
    first, second = per_user(runs / "dense"), per_user(runs / "sparse")
    people = sorted(first)
    test = stats.ttest_rel([second[one] for one in people], [first[one] for one in people])
    assert reference["test"] is None and other["test"]["users"] == len(people)
    assert other["test"]["t"] == pytest.approx(test.statistic)
    assert other["test"]["p"] == other["test"]["p_holm"] == pytest.approx(test.pvalue)
    shown = call("compare", runs / "dense", runs / "sparse").stdout
    assert "reference" in shown and "p (Holm)" in shown and "effect" in shown


def test_several_comparisons_are_corrected(ask: Callable, runs: Path) -> None:
    found = ask("compare", runs / "dense", runs / "sparse", runs / "sparse", "--metric", "recall@20")
    assert found[1]["test"]["p_holm"] == pytest.approx(min(1.0, 2 * found[1]["test"]["p"]))


def test_what_cannot_be_compared(call: Callable, runs: Path, tmp_path: Path) -> None:
    assert isinstance(call("compare", runs / "dense").exception, SettingError)
    result = call("compare", runs / "dense", runs / "sparse", "--metric", "magic")
    assert isinstance(result.exception, SettingError) and "float.ndcg@20" in str(result.exception)
    other = tmp_path / "other"
    shutil.copytree(runs / "sparse", other)
    record = json.loads((other / "record.json").read_text())
    (other / "record.json").write_text(json.dumps(record | {"split": record["split"] | {"hash": "x"}}))
    result = call("compare", runs / "dense", other)
    assert isinstance(result.exception, RunError) and "different splits" in str(result.exception)
    (other / "record.json").write_text(json.dumps(record))
    (other / "per_user.npz").write_bytes(b"PK")
    result = call("compare", runs / "dense", other)
    assert isinstance(result.exception, RunError) and "per_user.npz" in str(result.exception)
    (other / "record.json").unlink()
    result = call("compare", runs / "dense", other)
    assert isinstance(result.exception, RunError) and "not finished" in str(result.exception)
