"""What reads a table in Python has a twin in JavaScript: the same file, the same function, found by the same tensor."""

from __future__ import annotations

import re
from pathlib import Path

from sparserec.device import READERS

JS = Path(__file__).resolve().parents[2] / "js" / "src"


def test_every_reader_has_a_twin() -> None:
    listed = re.search(r"READERS = \{(.*?)\}", (JS / "tables.js").read_text(encoding="utf-8"), re.DOTALL)
    assert listed is not None
    twins = re.findall(r"'?([\w.]+)'?: (\w+)", listed[1])
    camel = {
        tensor: re.sub(r"_(\w)", lambda m: m[1].upper(), read.__name__) for tensor, read in READERS.items()
    }
    assert twins == list(camel.items()), "the order matters as well"
    for tensor, read in READERS.items():
        file = JS / f"{read.__module__.rpartition('.')[2]}.js"
        assert f"export function {camel[tensor]}(" in file.read_text(encoding="utf-8")
