"""docs/walk.md names things that are there, briefly."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
STEPS = re.findall(
    r"^- `([\w/]+\.py)` `(\w+)`: \S", (ROOT / "docs" / "walk.md").read_text(encoding="utf-8"), re.MULTILINE
)


def test_the_walk_is_short_and_goes_through_no_room_in_circles() -> None:
    listed = [
        line
        for line in (ROOT / "docs" / "walk.md").read_text(encoding="utf-8").splitlines()
        if line[:1] == "-"
    ]
    assert 25 <= len(STEPS) == len(listed)
    assert len((ROOT / "docs" / "walk.md").read_text(encoding="utf-8").splitlines()) <= 40
    assert max(Counter(file for file, _ in STEPS).values()) <= 2


def test_every_name_of_the_walk_is_there() -> None:
    for file, name in STEPS:
        tree = ast.parse((ROOT / "src" / "sparserec" / file).read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert name in defined, f"{file} has no {name}"
