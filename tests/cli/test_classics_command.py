"""sparserec classics: folders that compare with runs, result lines with the fields of other runs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sparserec.data import read_source, split_interactions
from sparserec.errors import DataError, SettingError
from sparserec.experiments.results import markdown_table
from sparserec.runs import read_results


@pytest.fixture(scope="module")
def found(ask: Callable, log: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("classics")
    return ask("classics", log, "--runs", folder / "runs", "--out", folder / "out.jsonl", "--quiet")


def test_all_that_apply_are_measured(found: dict) -> None:
    assert list(found) == ["popularity", "cosine", "rp3beta", "ease", "together"]
    quality = {name: record["test"]["float"]["ndcg@20"] for name, record in found.items()}
    assert min(quality.pop(name) for name in list(quality)[1:]) > quality["popularity"] + 0.1


def test_validation_chose(found: dict) -> None:
    for record in found.values():
        best = max(record["search"], key=lambda point: point["ndcg@20"])
        assert record["base_settings"] == {name: best[name] for name in best if name != "ndcg@20"}
        assert record["config"]["base_settings"] == record["base_settings"]
        assert record["epochs"][-1]["best_score"] == pytest.approx(
            best["ndcg@20"]
        )  # fewer users than searches take


def test_lines_have_the_fields_of_runs(found: dict, runs: Path) -> None:
    folder = Path(found["ease"]["run"]).parent.parent
    lines = read_results(folder / "out.jsonl")
    trained = json.loads((runs / "sparse" / "record.json").read_text())
    only_trained = {"nmf", "mask", "export"}
    for line in lines:
        assert trained.keys() - line.keys() <= only_trained
        assert line["split"] == trained["split"]
        assert line["environment"]["packages"] == trained["environment"]["packages"]
        assert line["test"].keys() == trained["test"].keys()
    assert "| ease |" in markdown_table(lines)


def test_compare_pairs_them_with_a_run(found: dict, ask: Callable, runs: Path) -> None:
    compared = ask("compare", runs / "sparse", found["rp3beta"]["run"])
    own = found["rp3beta"]["test"]["float"]["ndcg@20"]
    assert compared[1]["metrics"]["ndcg@20"] == own
    assert compared[1]["test"]["difference"] == pytest.approx(own - compared[0]["metrics"]["ndcg@20"])


def test_a_second_call_measures_nothing_again(found: dict, ask: Callable, log: Path) -> None:
    folder = Path(found["ease"]["run"]).parent.parent
    again = ask("classics", log, "--runs", folder / "runs", "--out", folder / "out.jsonl", "--only", "ease")
    assert again["ease"]["test_opened"] == found["ease"]["test_opened"]
    assert len(read_results(folder / "out.jsonl")) == 5


def test_the_table_for_people(found: dict, call: Callable, log: Path) -> None:
    runs = Path(found["ease"]["run"]).parent
    shown = call("classics", log, "--only", "rp3beta,ease,co-occurrence", "--runs", runs, "--quiet").stdout
    assert "co-occurrence" in shown and "together" not in shown.split("against a run")[0]
    assert "popularity_exponent" in shown and f"{found['ease']['test']['float']['ndcg@20']:.4f}" in shown


def test_users_held_out_whole_are_scored_from_what_is_given(ask: Callable, log: Path, tmp_path: Path) -> None:
    words = ("--only", "popularity,rp3beta", "--protocol", "new-users", "--runs", tmp_path, "--quiet")
    found = ask("classics", log, *words)
    gained = found["rp3beta"]["test"]["float"]["ndcg@20"] - found["popularity"]["test"]["float"]["ndcg@20"]
    assert gained > 0.1


def test_a_search_says_how_many_users_decide_it(call: Callable, log: Path, tmp_path: Path) -> None:
    told = call("classics", log, "--only", "popularity", "--runs", tmp_path).stderr
    n_users = len(set(split_interactions(read_source(log), "resplit", 0).valid.users.tolist()))
    assert f" of {n_users} users" in told and n_users <= 40


def test_mistakes(call: Callable, log: Path, tmp_path: Path) -> None:
    wrong = call("classics", log, "--only", "knn", "--runs", tmp_path).exception
    assert isinstance(wrong, SettingError) and "knn" in str(wrong)
    pairs = tmp_path / "parts"
    pairs.mkdir()
    (pairs / "train.txt").write_text("0 0 1 2\n1 1 2 3\n")
    (pairs / "test.txt").write_text("0 3\n1 0\n")
    blind = call("classics", pairs, "--protocol", "public-full", "--runs", tmp_path / "runs").exception
    assert isinstance(blind, DataError) and "validation" in str(blind)


def test_own_test_file_is_the_test_set_as_in_train(ask: Callable, tmp_path: Path) -> None:
    """Without a protocol the same split as `train` makes of the same folder: else `compare` would refuse the pair."""
    folder = tmp_path / "log"
    folder.mkdir()
    for name, left in (("train", 0), ("test", 1)):
        pairs = [f"u{user},i{item}" for user in range(40) for item in range(30) if (user + item) % 4 == left]
        (folder / f"{name}.csv").write_text("\n".join(["user_id,item_id", *pairs]) + "\n")
    found = ask("classics", folder, "--only", "popularity", "--runs", tmp_path / "runs", "--quiet")
    quick = ("--base", "lightgcn", "--dim", 8, "--method", "static", "--epochs", 1, "--quiet", "--no-file")
    trained = ask("train", folder, "--run", tmp_path / "run", *quick)
    assert found["popularity"]["split"] == trained["split"] and trained["split"]["protocol"] == "files"
