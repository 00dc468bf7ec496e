"""The demo as a newcomer runs it; takes minutes."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.real
def test_demo_compares_three_tables_and_is_done_soon(tmp_path: Path) -> None:
    began = time.monotonic()
    command = [sys.executable, "-c", "from sparserec.cli import main; main()", "demo", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert time.monotonic() - began < 240
    found = json.loads(done.stdout)
    recall = {run["run"]: run["test"]["float"]["recall@20"] for run in found["runs"]}
    assert recall["small_dense"] < recall["sparserec"] and recall["sparserec"] > 0.8 * recall["dense"]
    assert len(found["recommendations"]) == 5 and all(item["title"] for item in found["recommendations"])
