"""sparserec.tune and `sparserec tune`: the same search, as an answer and on a terminal."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tune_toy import toy_log
from typer.main import get_command

import sparserec
from sparserec.cli.app import build_app
from sparserec.extras import MissingExtraError

WORDS = [
    "--base", "mf", "--method", "static", "--dim", "8", "--set", "ks=[5]", "--epochs", "2", "--trials", "2", "--quiet",
    "--set", "recipe.batch_size=100", "--set", "recipe.learning_rate=0.3", "--seed", "3", "--no-file",
]  # fmt: skip


def typed(*words: object) -> Result:
    return CliRunner().invoke(get_command(build_app()), [str(word) for word in words])


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    train = toy_log().train
    pairs = zip(train.user_ids.external(train.users), train.item_ids.external(train.items))
    path = tmp_path_factory.mktemp("log") / "log.csv"
    path.write_text("user_id,item_id\n" + "".join(f"{user},{item}\n" for user, item in pairs))
    return path


def test_the_command_and_the_function_are_one_search(log: Path, tmp_path: Path) -> None:
    """The function goes on with what the command began: both resolve to the same question."""
    folder = tmp_path / "search"
    shown = typed("tune", log, "--run", folder, *WORDS)
    assert shown.exit_code == 0, shown.exception
    assert "2 trials, the first with the defaults" in shown.stdout and "full trainings" in shown.stdout
    assert "test sets opened: 1, of it alone" in shown.stdout
    told = json.loads(typed("tune", log, "--run", folder, *WORDS, "--json").stdout)
    assert [trial["number"] for trial in told["trials"]] == [0, 1] and told["record"]["test"]
    assert {path for trial in told["trials"] for path in trial["settings"]} == {
        "recipe.rate_falls_by", "base_settings.decay", "base_settings.init_scale",
    }, "the rate was given"  # fmt: skip
    recipe = {"batch_size": 100, "learning_rate": 0.3}
    short: dict[str, Any] = {"base": "mf", "method": "static", "dim": 8, "ks": [5], "epochs": 2, "seed": 3}
    tuned = sparserec.tune(log, trials=3, folder=folder, recipe=recipe, file=False, quiet=True, **short)
    assert [trial.score for trial in tuned.outcome.trials[:2]] == [trial["score"] for trial in told["trials"]]
    frame = tuned.to_frame("pandas")
    assert len(frame) == 3 and frame["ndcg@5"][0] == tuned.outcome.best.score
    assert tuned.settings == tuned.outcome.best.settings and "Tuned(3 trials" in repr(tuned)
    assert "<table>" in tuned._repr_html_()
    assert tuned.model.record["config"]["recipe"]["learning_rate"] == 0.3 and tuned.model.recommend("0", k=3)


def test_a_budget_and_a_file(log: Path, tmp_path: Path) -> None:
    """What a budget chooses is the same for all trials, and the winner's file fits it."""
    train = [(user, item) for user, item in zip(*pairs_of(log))]
    tuned = sparserec.tune(
        train, trials=1, budget="20kB", epochs=2, base="mf", ks=(5,), folder=tmp_path / "s", quiet=True
    )
    settled = json.loads((tmp_path / "s" / "study.json").read_text())
    assert settled["budget"] == 20_000 and settled["config"]["dim"] == tuned.model.record["config"]["dim"]
    assert (tuned.outcome.best_folder / "model.srec").stat().st_size <= 20_000


def pairs_of(log: Path) -> tuple[list[str], list[str]]:
    lines = [line.split(",") for line in log.read_text().splitlines()[1:]]
    return [user for user, _ in lines], [item for _, item in lines]


def test_without_optuna_one_line_says_what_to_install(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(wanted: str, *rest: Any) -> Any:
        if wanted.split(".")[0] == "optuna":
            raise ModuleNotFoundError("No module named 'optuna'", name="optuna")
        return original(wanted, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        MissingExtraError, match=r"^sparserec.tune needs optuna, .*: pip install 'sparserec\[tune\]'$"
    ):
        sparserec.tune(log)
    assert isinstance(typed("tune", log).exception, MissingExtraError)
