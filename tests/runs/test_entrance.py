"""There is one way to train a run: typed, queued and from Python give the same run, planned alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sparserec
from sparserec.cli.app import build_app
from sparserec.runs import child

SETTINGS = {
    "data": "log.csv", "method": "static", "dim": 8, "density": 0.25, "ks": [5],
    "method_settings": {"init": "uniform"}, "recipe": {"epochs": 1, "batch_size": 100},
}  # fmt: skip


@pytest.fixture
def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    rows = [f"u{user},i{item}" for user in range(30) for item in range(30) if (user * item + user) % 3 == 0]
    (tmp_path / "log.csv").write_text("user_id,item_id\n" + "\n".join(rows) + "\n")
    (tmp_path / "queued.json").write_text(json.dumps(SETTINGS))
    monkeypatch.chdir(tmp_path)
    return "queued.json"


def files(run: str) -> list[bytes]:
    return [Path(run, name).read_bytes() for name in ("config.json", "model.safetensors", "data.safetensors")]


def test_queued_typed_and_fitted_runs_are_the_same_run(settings_file: str) -> None:
    assert child.main(settings_file, "queued", "", "1") == 0
    words = [
        "train",
        "log.csv",
        "--run",
        "typed",
        "--method",
        "static",
        "--dim",
        "8",
        "--density",
        ".25",
        "--epochs",
        "1",
    ]
    words += ["--set", "recipe.batch_size=100", "--set", "method_settings.init=uniform", "--set", "ks=[5]"]
    assert CliRunner().invoke(build_app(), [*words, "--quiet", "--no-file"]).exit_code == 0
    given = {name: value for name, value in SETTINGS.items() if name != "data"}
    sparserec.fit("log.csv", folder="fitted", quiet=True, file=False, **given)  # type: ignore[arg-type]
    assert files("queued") == files("typed") == files("fitted")


def test_a_queued_run_is_refused_where_a_typed_one_is(
    settings_file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr("sparserec.planning.settle.usable_bytes", lambda: 5_000_000)
    assert child.main(settings_file, "queued", "", "1") == 2
    assert "5 MB are free" in capsys.readouterr().err
    assert not Path("queued").exists()
