"""A run's record is typed: what was written before there was a version is read, what is no record is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sparserec.errors import RunError
from sparserec.process import PhasePeaks
from sparserec.runs.record import Record

RESULTS = Path(__file__).parents[2] / "results"
LINES = [
    json.loads(line)
    for path in sorted(RESULTS.glob("*.jsonl"))
    for line in path.read_text().splitlines()
    if '"config"' in line
]


def test_every_recorded_result_is_a_record() -> None:
    assert len(LINES) > 30
    for line in LINES:
        record = Record.parse(line, "a line")
        assert (
            record.as_dict().items()
            >= {name: line[name] for name in ("test", "split", "memory", "bytes")}.items()
        )
        assert Record.parse(json.loads(json.dumps(record.as_dict())), "again") == record
        if line["test"]:
            assert record["test"]["float"]["ndcg@20"] == record.test["float"]["ndcg@20"] > 0


@pytest.mark.parametrize(
    ("change", "named"), [({"split": {}}, "split.protocol"), ({"steps": "many"}, "steps")]
)
def test_what_is_no_record_is_refused_by_its_field(change: dict, named: str) -> None:
    with pytest.raises(RunError, match=f"here: not a record of a run .*{named}"):
        Record.parse(LINES[0] | change, "here")


def test_a_phase_inside_another_is_not_charged_to_it() -> None:
    peaks = PhasePeaks()
    with peaks.phase("train"):
        held = np.ones(40 << 17)  # 40 MiB
        for _ in range(2):
            with peaks.phase("evaluate"):
                np.ones(200 << 17).sum()
        assert held[0] == 1
    assert peaks.bytes["evaluate"] > 200 << 20 > peaks.bytes["train"] > 40 << 20
