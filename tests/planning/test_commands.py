"""estimate, doctor and the planning options of train, as typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from typer.main import get_command

from sparserec.cli.app import build_app
from sparserec.errors import SettingError


def ask(*words: str) -> Result:
    return CliRunner().invoke(get_command(build_app()), list(words))


def answer(*words: str) -> Any:
    done = ask(*words)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def refusal(*words: str) -> str:
    done = ask(*words)
    assert isinstance(done.exception, SettingError), done.output
    return str(done.exception)


def test_estimate_from_numbers_alone() -> None:
    counts = ("--users", "900000", "--items", "200000", "--interactions", "10000000")
    numbers = (*counts, "--base", "lightgcn")
    found = answer("estimate", *numbers, "--no-time", "--json")
    one = found["estimates"][0]
    assert one["sizes"]["train"] == 7_000_000 and one["seconds"] is None
    assert set(one["memory"]) == {"read", "nmf", "init", "train", "evaluate"}
    assert one["memory"]["train"]["graph"] == pytest.approx(16 * 7e6 + 4 * 1.1e6, rel=0.01)
    assert "40 iterations instead of 50" in found["note"]
    assert answer("estimate", *numbers, "--no-time", "--json", "--most-nmf-work", "0")["note"] is None


def test_estimate_of_a_named_set_and_of_everything() -> None:
    assert answer("estimate", "gowalla", "--no-time", "--json")["estimates"][0]["sizes"]["users"] == 29858
    printed = ask("estimate", "world", "--all", "--no-time").stdout
    assert "small_dense" in printed and "xsimgcl" in printed and "free memory here" in printed


def test_estimate_needs_all_numbers_or_data() -> None:
    assert "together" in refusal("estimate", "--users", "5")


@pytest.mark.parametrize("name", ["--users", "--items", "--interactions"])
def test_estimate_takes_no_negative_numbers(name: str) -> None:
    numbers = {"--users": "10", "--items": "10", "--interactions": "50", name: "-5"}
    refused = ask("estimate", *(word for pair in numbers.items() for word in pair), "--no-time")
    assert refused.exit_code == 2 and name in refused.output and not isinstance(refused.exception, ValueError)


def test_doctor_as_json() -> None:
    found = answer("doctor", "--json")
    assert found["in_order"] and {"name", "value", "state", "advice"} == set(found["findings"][0])


def test_train_says_what_a_budget_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "the least is" in refusal("train", "world", "--budget", "10kB")
    assert "size 'lots'" in refusal("train", "world", "--budget", "lots")
    assert "items or full" in refusal("train", "world", "--budget", "1MB", "--mode", "phones")
    assert not list(tmp_path.iterdir())


def test_train_refuses_what_cannot_fit_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sparserec.planning.settle.usable_bytes", lambda: 5_000_000)
    assert "5 MB are free" in refusal("train", "world")
    assert not list(tmp_path.iterdir())
