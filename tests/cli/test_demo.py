"""The demo as a newcomer runs it: for one epoch, and, among the slow tests, in full."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sparserec.errors import RunError


def run_demo(folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-c", "from sparserec.cli import main; main()", "demo", "--json", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["recommendations"]) == 5 and all(item["title"] for item in found["recommendations"])
    return found


def test_a_short_demo_runs_to_its_end(tmp_path: Path) -> None:
    found = run_demo(tmp_path, "--epochs", "1")
    assert [run["run"] for run in found["runs"]] == ["default", "dense", "paper"]
    assert (tmp_path / "runs" / "demo" / "city.html").stat().st_size > 100_000
    again = run_demo(tmp_path)
    assert again == found, "its own runs are used as they are, of however many epochs"


@pytest.mark.parametrize("name", ["default", "dense", "paper"])
@pytest.mark.parametrize("words", [(), ("--again",)])
def test_a_run_of_somebody_else_is_left_as_it_is(
    call: Callable, runs: Path, tmp_path: Path, name: str, words: tuple[str, ...]
) -> None:
    """Neither removed, because it has no device file or is to be trained anew, nor taken for the demo's."""
    shutil.copytree(runs / "dense", tmp_path / name)
    files = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    refused = call("demo", "--folder", tmp_path, *words).exception
    assert isinstance(refused, RunError), refused
    assert f"{tmp_path / name}: holds a run that is not the demo's (data " in str(refused)
    assert "choose another --folder" in str(refused)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == files


@pytest.mark.real
def test_demo_compares_three_models_and_is_done_soon(tmp_path: Path) -> None:
    began = time.monotonic()
    found = run_demo(tmp_path)
    assert time.monotonic() - began < 240
    recall = {run["run"]: run["test"]["float"]["recall@20"] for run in found["runs"]}
    assert recall["paper"] < recall["default"] and recall["default"] > 0.98 * recall["dense"]
