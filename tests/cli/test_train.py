"""train as it is typed: with nothing, and to go on with a run that was stopped."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

from sparserec.process import StopRequested
from sparserec.table import SparseTable

QUICK = ("--base", "lightgcn", "--dim", "8", "--method", "static", "--quiet")


def test_without_data_it_trains_the_sample_and_says_so(
    call: Callable, ask: Callable, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("train", "--epochs", "1", *QUICK, "--run", "sample")
    assert done.exit_code == 0 and "no data named: training on the built-in sample" in done.stdout
    assert ask("config", "show", "--run", "sample")["data"] == "world"
    assert "no data named" not in call("train", log, "--epochs", "1", *QUICK, "--run", "own").stdout


def test_the_folder_alone_continues_a_stopped_run(
    call: Callable, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = (
        *QUICK,
        "--epochs",
        "4",
        "--set",
        "recipe.batch_size=50",
        "--set",
        "recipe.learning_rate=0.02",
    )
    assert call("train", log, "--run", tmp_path / "whole", *settings).exit_code == 0
    receive, calls = SparseTable.receive, [0]

    def stopping(self: SparseTable, *gradients: Any) -> None:
        calls[0] += 1
        if calls[0] == 9:
            os.kill(os.getpid(), signal.SIGTERM)
        receive(self, *gradients)

    with monkeypatch.context() as patched:
        patched.setattr(SparseTable, "receive", stopping)
        stopped = call("train", log, "--run", tmp_path / "run", *settings)
    assert isinstance(stopped.exception, StopRequested) and not (tmp_path / "run" / "record.json").exists()
    done = call("train", "--resume", "--run", tmp_path / "run", "--quiet")
    assert done.exit_code == 0, done.exception
    assert "no data named" not in done.stdout
    ours, theirs = (load_file(tmp_path / name / "model.safetensors") for name in ("run", "whole"))
    assert {name: array.tobytes() for name, array in ours.items()} == {
        name: array.tobytes() for name, array in theirs.items()
    }


def test_a_budget_ends_in_the_file_that_export_would_choose(
    call: Callable, ask: Callable, log: Path, tmp_path: Path
) -> None:
    """Dimension, density and encoding follow from the bytes; the record says which file it is, and out of what."""
    quick = ("--method", "static", "--epochs", "2", "--quiet")
    done = call("train", log, "--budget", "12kB", "--run", tmp_path / "run", *quick)
    assert done.exit_code == 0, done.output
    shipped = json.loads((tmp_path / "run" / "record.json").read_text())["shipped"]
    file = tmp_path / "run" / "model.srec"
    assert shipped["file"] == file.name and shipped["bytes"] == file.stat().st_size <= 12_000
    assert f"smallest of {len(shipped['tried'])} files" in shipped["why"] and shipped["why"] in done.stdout
    assert len({row["kind"] for row in shipped["tried"]}) >= 3, "encodings of several kinds were measured"
    again = ask("export", tmp_path / "run", "--budget", "12kB", "--out", tmp_path / "again.srec", "--quiet")
    assert again["encoding"] == shipped["encoding"]
    assert (tmp_path / "again.srec").read_bytes() == file.read_bytes()
    assert ask("inspect", file)["card"]["metrics"]["file"]["folded"] == shipped["valid"]


def test_a_budget_for_everybodys_history_waits_for_a_word(call: Callable, log: Path, tmp_path: Path) -> None:
    quick = ("--method", "static", "--epochs", "1", "--quiet", "--mode", "full", "--budget", "60kB")
    done = call("train", log, "--run", tmp_path / "run", *quick)
    assert done.exit_code == 0 and "--include-everyones-history" in done.stdout
    assert not (tmp_path / "run" / "model.srec").exists()
