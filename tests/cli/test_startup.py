"""Commands that need no training libraries start without them: a file answers at once, and on small machines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = ROOT / "conformance" / "v1" / "golden" / "items-same-count.srec"
HEAVY = ("torch", "numba", "scipy", "sklearn", "matplotlib", "pyarrow")
PROGRAM = """
import json, sys
from sparserec.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print(json.dumps([name for name in {heavy} if name in sys.modules]))
"""


def loaded(*words: object) -> list[str]:
    """Which heavy libraries a command has loaded by its end."""
    program = PROGRAM.format(heavy=HEAVY)
    command = [sys.executable, "-c", program, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("train", "--help"),
        ("inspect", FILE),
        ("recommend", FILE, "--history", "1", "--k", "2"),
        ("similar", FILE, "--item", "1"),
        ("data", "list"),
        ("table", "results/core.jsonl"),
    ],
    ids=lambda words: words[0],
)
def test_what_needs_no_training_loads_none_of_it(words: tuple[object, ...]) -> None:
    assert loaded(*words) == []


def test_runs_are_listed_shown_and_compared_without_torch(runs: Path) -> None:
    assert loaded("runs", runs) == []
    assert loaded("evaluate", runs / "dense") == []
    assert "torch" not in loaded("compare", runs / "dense", runs / "sparse")
