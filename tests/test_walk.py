"""docs/walk.md says, briefly, what a run does; and a run goes through few files and functions."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.walk import entered, files_of

TEXT = (Path(__file__).parents[1] / "docs" / "walk.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^- `([\w/]+\.py)` `([\w.]+)`: \S", TEXT, re.MULTILINE)
MOST_FILES, MOST_FUNCTIONS = 60, 408
"""What training enters today, the file to ship not counted. They only ever fall: 60 and 400, that file and all, is the
aim."""


def test_the_walk_is_short_and_goes_through_no_package_in_circles() -> None:
    assert 25 <= len(STEPS) == TEXT.count("\n- ") <= 30
    assert max(Counter(file for file, _ in STEPS).values()) <= 2


def test_a_run_goes_the_way_of_the_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(0)
    pairs = [f"u{user},p{item}\n" for user in range(60) for item in rng.sample(range(40), 8)]
    (tmp_path / "log.csv").write_text("".join(["user,item\n", *pairs]))
    encoding = ["--encoding", "gaps", "--bits", "4", "--keep", "4"]
    training = entered("train", "log.csv", "--no-file", "--epochs", "3", "--quiet", "--run", "run")
    exporting = entered("export", "run", "--out", "m.srec", *encoding, "--quiet")
    asking = entered("recommend", "m.srec", "--history", "p1,p2", "--k", "3")
    way = [("train", *step) for step in training]
    way += [("export", *step) for step in exporting] + [("ask", *step) for step in asking]
    last = -1
    for file, name in STEPS:
        places = [place for place, step in enumerate(way) if step[1:] == (file, name) and place > last]
        assert places, f"a run does not come through {name} of {file} here"
        last = places[0]
    assert len(files_of(training)) <= MOST_FILES and len(training) <= MOST_FUNCTIONS
