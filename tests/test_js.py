"""The JavaScript reader's own tests, its types and its fuzzer, run from pytest so that one command tests everything.

Node is an optional tool: without it these tests skip with a reason on a user's machine, and fail where CI is set.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from absent import absent

ROOT = Path(__file__).parent.parent
JS = ROOT / "js"
MINUTES = 60.0


def node() -> str:
    """Path of node, or the end of the test."""
    found = shutil.which("node")
    if found is None:
        absent("node is not installed: the JavaScript reader is not tested")
    return str(found)


def run(command: list[str], stdin: bytes | None = None) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(command, input=stdin, cwd=ROOT, capture_output=True, timeout=5 * MINUTES)
    output = done.stdout.decode(errors="replace")
    assert done.returncode == 0, f"{output[-8000:]}\n{done.stderr.decode(errors='replace')[-2000:]}"
    return output


@pytest.mark.parametrize("path", sorted((JS / "test").glob("*.test.js")), ids=lambda path: path.stem)
def test_suite(path: Path) -> None:
    run([node(), "--test", str(path.relative_to(ROOT))])


@pytest.mark.parametrize("tool", ["typescript", "eslint"])
def test_tools_were_there(tool: str) -> None:
    """The suite checks types and style where the tools are installed; this says so when they are not."""
    node()
    if not (JS / "node_modules" / tool).is_dir():
        absent(f"{tool} is not installed (npm install --prefix js): the JavaScript is not checked with it")


def test_broken_files_end_as_in_python() -> None:
    """A short fixed-seed run of the fuzzer: named errors or answers, the same outcome as the Python reader's."""
    executable = node()
    command = [sys.executable, "conformance/mutate.py", "--seed", "0", "--count", "1500"]
    mutants = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=5 * MINUTES, check=True).stdout
    report = run([executable, "js/fuzz.js"], mutants)
    print(report)
    assert "1500 mutants, 0 findings" in report
    assert "loaded and answered" in report
