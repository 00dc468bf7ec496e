"""train as it is typed: with nothing, and to go on with a run that was stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

from sparserec.process import StopRequested
from sparserec.table import SparseTable

QUICK = ("--dim", "8", "--method", "static", "--quiet")


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
