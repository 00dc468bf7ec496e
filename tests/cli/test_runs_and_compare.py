"""runs, evaluate and compare on finished, unfinished and damaged runs."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sparserec.errors import RunError, SettingError
from sparserec.runs import RunFolder, append_result
from sparserec.runs.folder import load_split


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


def test_compare_takes_recorded_results(ask: Callable, call: Callable, runs: Path, tmp_path: Path) -> None:
    """Rows of a result file and their users say what the folders say, to the two bytes that users are kept in."""
    results = tmp_path / "results"
    for name in ("dense", "sparse"):
        append_result(results / "some.jsonl", name, RunFolder(runs / name))
    words = ("--results", results)
    known = ask("compare", runs / "dense", runs / "sparse", "--precision", "int8")
    found = ask("compare", "dense", "some:sparse", *words)
    mixed = ask("compare", runs / "dense", "sparse", *words)
    assert [one["run"] for one in found] == ["dense", "sparse"] and found[1]["folder"] is None
    for other in (found, mixed):
        assert other[0]["precision"] == "int8" and other[0]["metrics"] == known[0]["metrics"]
        assert other[1]["test"]["t"] == pytest.approx(known[1]["test"]["t"], rel=1e-3)
        assert other[1]["test"]["difference"] == pytest.approx(known[1]["test"]["difference"], abs=1e-5)
    append_result(results / "other.jsonl", "sparse", RunFolder(runs / "sparse"))
    twice = call("compare", "dense", "sparse", *words).exception
    assert isinstance(twice, SettingError) and "other:sparse, some:sparse" in str(twice)
    nothing = call("compare", "dense", "nothing", *words).exception
    assert isinstance(nothing, SettingError) and "neither a run folder nor" in str(nothing)
    floats = call("compare", "dense", "some:sparse", *words, "--precision", "float").exception
    assert isinstance(floats, SettingError) and "int8.ndcg@20 alone" in str(floats)


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


def test_evaluate_says_why_there_is_no_result(call: Callable, log: Path, tmp_path: Path) -> None:
    quick = ("--base", "lightgcn", "--method", "static", "--dim", "8", "--epochs", "1", "--quiet")
    closed, whole = tmp_path / "closed", tmp_path / "whole"
    assert call("train", log, "--run", closed, "--set", "open_test=false", *quick).exit_code == 0
    told = call("evaluate", closed).stdout
    assert "kept closed (open_test = false)" in told and "--again" in told and "no test part" not in told
    call("evaluate", closed, "--again")
    assert "kept closed" in (told := call("evaluate", closed).stdout) and "opened once since" in told
    assert call("train", log, "--run", whole, "--final", *quick).exit_code == 0
    assert "no test part" in call("evaluate", whole / "final").stdout
