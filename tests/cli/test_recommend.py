"""recommend and similar as they are typed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import sparserec
from sparserec.errors import RunError, SettingError
from sparserec.serving import QuestionError, UnknownItemError, UnknownUserError


def test_a_user_of_the_log(call: Callable, ask: Callable, runs: Path) -> None:
    shown = call("recommend", runs / "sparse", "--user", "person4", "--k", "3")
    found = ask("recommend", runs / "sparse", "--user", "person4", "--k", "3")
    model = sparserec.load(runs / "sparse")
    assert [item["id"] for item in found["items"]] == model.recommend("person4", k=3).ids
    assert found["basis"] == "trained" and found["user"] == "person4"
    lines = shown.stdout.splitlines()
    assert lines[0] == "For user person4" and lines[1].split() == ["rank", "item", "score"]
    assert [line.split()[1] for line in lines[2:5]] == [item["id"] for item in found["items"]]


def test_a_history_with_reasons_that_add_up(ask: Callable, call: Callable, runs: Path) -> None:
    words = ("recommend", runs / "sparse", "--history", "shop1,shop4,shop7", "-k", "2", "--explain")
    found = ask(*words)
    for item in found["items"]:
        assert int(item["id"][4:]) % 3 == 1
        parts = item["explanation"]["contributions"]
        assert {part["id"] for part in parts} == {"shop1", "shop4", "shop7"}
        assert sum(part["score"] for part in parts) == pytest.approx(item["score"], rel=1e-4)
    assert "because of" in call(*words).stdout


def test_unknown_items_of_a_history_are_named(call: Callable, runs: Path) -> None:
    result = call("recommend", runs / "sparse", "--history", "shop1,shop999")
    assert result.exit_code == 0 and "left out: shop999" in result.stderr


def test_empty_history_is_popularity(ask: Callable, runs: Path) -> None:
    assert ask("recommend", runs / "sparse", "--history", "")["basis"] == "popularity"


def test_lists_from_files_and_json(ask: Callable, runs: Path, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("shop2\n\nshop5\nshop8\n")
    words = (
        "recommend",
        runs / "sparse",
        "--history",
        '["shop11"]',
        "--allow",
        f"@{allowed}",
        "--deny",
        "shop5",
    )
    assert {item["id"] for item in ask(*words)["items"]} == {"shop2", "shop8"}


def test_seen_items_can_be_included(ask: Callable, runs: Path) -> None:
    words = ("recommend", runs / "sparse", "--history", "shop1", "--k", "30")
    assert len(ask(*words)["items"]) == 29
    assert len(ask(*words, "--include-seen")["items"]) == 30


def test_everybody(ask: Callable, call: Callable, runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "recs.parquet"
    told = ask("recommend", runs / "sparse", "--all", "--out", out, "--k", "4")
    assert told == {"out": str(out), "users": 40, "rows": 160}
    assert pyarrow.parquet.read_table(out).num_rows == 160
    assert (
        "160 recommendations for 40 users"
        in call("recommend", runs / "sparse", "--all", "--out", tmp_path / "recs.csv", "--k", "4").stdout
    )


def test_similar(ask: Callable, call: Callable, runs: Path) -> None:
    found = ask("similar", runs / "sparse", "--item", "shop3", "--k", "4")
    assert {int(item["id"][4:]) % 3 for item in found["items"]} == {0}
    assert "cosine" in call("similar", runs / "sparse", "--item", "shop3").stdout


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ([], QuestionError, "either --user ID or --history"),
        (["--user", "person4", "--history", "shop1"], QuestionError, "either --user ID or --history"),
        (["--user", "person44"], UnknownUserError, "nearest: person4"),
        (["--history", "sho1"], UnknownItemError, "nearest: shop1"),
        (["--user", "person4", "--k", "31"], QuestionError, "only 30 items"),
        (["--user", "person4", "--allow", "@nowhere.txt"], SettingError, "--allow @nowhere.txt"),
        (["--user", "person4", "--deny", "[1"], SettingError, "not a JSON list"),
        (["--all"], QuestionError, "--all and --out FILE"),
        (["--all", "--out", "recs.txt"], QuestionError, ".csv or .parquet"),
        (["--all", "--out", "recs.csv", "--user", "person4"], QuestionError, "no user or history"),
    ],
)
def test_mistakes(call: Callable, runs: Path, words: list[str], error: type, message: str) -> None:
    result = call("recommend", runs / "sparse", *words)
    assert isinstance(result.exception, error) and message in str(result.exception)


def test_no_such_run(call: Callable, tmp_path: Path) -> None:
    for words in (["recommend", tmp_path / "x", "--user", "a"], ["similar", tmp_path / "x", "--item", "a"]):
        result = call(*words)
        assert isinstance(result.exception, RunError) and "no such run" in str(result.exception)


@pytest.fixture(scope="module")
def exported(call: Callable, runs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("exported")
    wide = ["--bits", "8", "--keep", "16", "--fold-in", "own", "--quiet"]
    for mode, words in (("items", wide), ("full", ["--include-everyones-history", "--quiet"])):
        result = call("export", runs / "sparse", "--mode", mode, "--out", folder / f"{mode}.srec", *words)
        assert result.exit_code == 0, result.exception
    return {mode: folder / f"{mode}.srec" for mode in ("items", "full")}


@pytest.mark.parametrize("mode", ["items", "full"])
def test_an_exported_file_answers_nearly_as_the_run_does(
    ask: Callable, runs: Path, exported: dict[str, Path], mode: str
) -> None:
    words = ("--history", "shop1,shop4,shop7", "--k", "5", "--explain")
    run, file = (ask("recommend", model, *words) for model in (runs / "sparse", exported[mode]))
    score = {item["id"]: item["score"] for item in run["items"]}
    for item in file["items"]:
        assert int(item["id"][4:]) % 3 == 1
        # the graph of a full file is the whole log, that of the run its train part
        near = 0.05 if mode == "items" else 0.25
        assert item["score"] == pytest.approx(score.get(item["id"], item["score"]), rel=near)
        assert {part["id"] for part in item["explanation"]["contributions"]} == {"shop1", "shop4", "shop7"}
    near = ask("similar", exported[mode], "--item", "shop3", "--k", "4")
    assert {int(item["id"][4:]) % 3 for item in near["items"]} == {0}


def test_users_of_an_exported_file(ask: Callable, call: Callable, exported: dict[str, Path]) -> None:
    words = ("--user", "person4", "--k", "3", "--explain")
    found: dict[str, Any] = ask("recommend", exported["full"], *words)
    assert found["basis"] == "trained" and found["items"][0]["explanation"]["contributions"]
    for words in (("--user", "person4"), ("--all", "--out", "recs.csv")):
        result = call("recommend", exported["items"], *words)
        assert isinstance(result.exception, UnknownUserError | QuestionError)
    result = call("recommend", exported["items"], "--history", "nothing")
    assert isinstance(result.exception, UnknownItemError)
    ids, scores = sparserec.load(exported["full"]).recommend(["person1", "person2"], N=3)
    assert ids.shape == scores.shape == (2, 3)
    assert json.dumps(found)
