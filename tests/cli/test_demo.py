"""The demo as a newcomer runs it: for one epoch, and, among the slow tests, in full."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest


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


@pytest.mark.real
def test_demo_compares_three_models_and_is_done_soon(tmp_path: Path) -> None:
    began = time.monotonic()
    found = run_demo(tmp_path)
    assert time.monotonic() - began < 240
    recall = {run["run"]: run["test"]["float"]["recall@20"] for run in found["runs"]}
    assert recall["paper"] < recall["default"] and recall["default"] > 0.98 * recall["dense"]
