"""A short fuzz with a fixed seed; the long one is benchmarks/fuzz_python.py run by hand."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from itertools import product
from pathlib import Path
from random import Random

from mutate import ODD_VALUES, PARTS_MUTATIONS, parents

from fuzz_python import fuzz
from sparserec.device import errors

ROOT = Path(__file__).parents[2]


def test_mutants_are_refused_by_name_or_answer() -> None:
    count = 2500
    findings = fuzz(seed=2, count=count, sample=100)
    assert findings.problems == []
    assert findings.resealed >= 0.9 * count
    assert findings.answered >= 0.05 * count
    named = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.FileError)
    }
    assert named - {"FileError"} - set(findings.outcomes) == set()


def test_mutations_stand_what_others_left() -> None:
    """A mutation may meet metadata that an earlier one spoiled."""
    _, whole = parents()[0]
    for key, change in product(("model", "golden", "version"), PARTS_MUTATIONS):
        for value in ODD_VALUES:
            for spoiled in (value, str(value), json.dumps(value)):
                parts = whole.copy()
                parts.metadata[key] = spoiled
                change(Random(1), parts, whole)


def test_stream_for_other_readers() -> None:
    """Frames as docs/format.md describes them: two lengths, a label, a file; the same seed gives the same bytes."""
    command = [sys.executable, str(ROOT / "conformance" / "mutate.py"), "--seed", "3", "--count", "20"]
    first, second = (
        subprocess.run(command, capture_output=True, check=True, timeout=120).stdout for _ in range(2)
    )
    assert first == second
    labels, at = [], 0
    while at < len(first):
        label, size = struct.unpack_from("<II", first, at)
        labels.append(json.loads(first[at + 8 : at + 8 + label]))
        at += 8 + label + size
    assert len(labels) == 20 and all(
        label["outcome"] == "ok" or hasattr(errors, label["outcome"]) for label in labels
    )
