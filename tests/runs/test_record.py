"""A run's record is typed: what was written before there was a version is read, what is no record is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sparserec
from sparserec.errors import RunError
from sparserec.process import PhasePeaks
from sparserec.runs import RunFolder
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


def test_a_record_holds_the_curve_on_the_test_set(tmp_path: Path) -> None:
    """A run without validation, as for published plateaus: measured after the epochs that were named, and then."""
    pairs = [f"{user} {' '.join(str(item) for item in range(user % 2, 24, 2))}" for user in range(24)]
    (tmp_path / "train.txt").write_text("\n".join(" ".join(line.split()[:9]) for line in pairs))
    (tmp_path / "test.txt").write_text(
        "\n".join(" ".join(line.split()[:1] + line.split()[9:]) for line in pairs)
    )
    run = RunFolder(tmp_path / "run")
    sparserec.fit(
        tmp_path, folder=run.path, base="mf", method="static", dim=8, ks=(3,), file=False, quiet=True,
        protocol="public-full", test_epochs=(1, 3), epochs=4, recipe={"batch_size": 80},
    )  # fmt: skip
    record = run.read_record()
    assert record.test_curve and list(record.test_by_epoch) == [1, 3]
    heard = {
        event["epoch"]: event.get("test_curve") for event in run.read_events() if event["event"] == "epoch"
    }
    assert heard == {1: record.test_by_epoch[1], 2: None, 3: record.test_by_epoch[3], 4: None}
    assert 0 < record.test_by_epoch[1]["ndcg@3"] != record.test_by_epoch[3]["ndcg@3"] > 0
    assert Record.parse(json.loads(json.dumps(record.as_dict())), "again") == record


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
