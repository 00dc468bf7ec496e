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
from sparserec.units import show_bytes

QUICK = ("--base", "lightgcn", "--dim", "8", "--method", "static", "--quiet", "--no-file")


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
    assert f"tried {len(shipped['tried'])} files" in shipped["what"] and shipped["left_out"] == 0
    assert all(shipped[line] in done.stdout for line in ("what", "why"))
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


def test_every_training_ends_in_the_best_file_for_a_megabyte(
    call: Callable, ask: Callable, log: Path, tmp_path: Path
) -> None:
    """Two lines say what was tried and why this one; trying stops when it has taken as long as the training."""
    quick = ("--base", "lightgcn", "--dim", "8", "--method", "static", "--epochs", "3", "--quiet")
    done = call("train", log, "--run", tmp_path / "run", *quick, "--set", "recipe.batch_size=200")
    assert done.exit_code == 0, done.exception
    file, record = tmp_path / "run" / "model.srec", json.loads((tmp_path / "run" / "record.json").read_text())
    shipped = record["shipped"]
    assert shipped["budget"] == 1_000_000 and shipped["bytes"] == file.stat().st_size
    assert done.stdout.rstrip().endswith(
        f"{shipped['what']}\n{file}: {show_bytes(file.stat().st_size)}, {shipped['why']}"
    )
    kinds = [row["kind"] for row in shipped["tried"]]
    assert kinds[0] == "gaps" and shipped["left_out"] + len(kinds) > 30
    scores = [row["quality"]["folded"]["ndcg@20"] for row in shipped["tried"]]
    assert shipped["valid"]["ndcg@20"] >= 0.98 * max(scores)


def test_thorough_trains_a_second_model_on_the_same_split(
    call: Callable, ask: Callable, log: Path, tmp_path: Path
) -> None:
    quick = (
        "--dim",
        "8",
        "--method",
        "static",
        "--epochs",
        "1",
        "--quiet",
        "--set",
        "base_settings.temperature=.3",
    )
    done = call("train", log, "--run", tmp_path / "run", *quick, "--thorough", "--budget", "9kB")
    assert done.exit_code == 0, done.exception
    records = [
        json.loads((folder / "record.json").read_text())
        for folder in (tmp_path / "run", tmp_path / "run" / "xsimgcl")
    ]
    assert [record["config"]["base"] for record in records] == ["history", "xsimgcl"]
    assert records[0]["split"] == records[1]["split"] and records[1]["test_opened"] is None
    shipped, other = records[0]["shipped"], records[1]["shipped"]
    better = shipped["other"]["valid"]["ndcg@20"] == shipped["valid"]["ndcg@20"]
    files = [(tmp_path / "run" / name).read_bytes() for name in ("model.srec", "xsimgcl/model.srec")]
    assert (files[0] == files[1]) == better and shipped["bytes"] == len(files[0])
    assert f"xsimgcl {other['valid']['ndcg@20']:.4f}" in done.stdout
