"""Opening the test set of a finished run once more, and writing down that it was done."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from sparserec.errors import RunError
from sparserec.files import write_text
from sparserec.serving.run_folder import RECORD
from sparserec.training.held_out import evaluate_test
from sparserec.training.reopen import Trained
from sparserec.training.run import PRECISIONS


def measure_again(folder: Path, run: Trained) -> dict[str, dict[str, float]]:
    """Metrics of the float, int8 and int4 table on the test part; the record gets the time of this opening."""
    split = run.split
    if len(split.test) == 0:
        raise RunError(f"{folder}: the split of this run has no test part, so there is nothing to measure")
    results = {}
    for name, bits in PRECISIONS.items():
        table = run.table if bits == 32 else run.table.quantised(bits)
        results[name] = evaluate_test(run.recommender, run.graph, table, split, run.config.ks).metrics
    _write_down(folder, run)
    return results


def _write_down(folder: Path, run: Trained) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    run.record["test_opened_again"] = [*run.record.get("test_opened_again", []), now]
    write_text(folder / RECORD, json.dumps(run.record, indent=1))


def times_opened(record: dict[str, Any]) -> int:
    """How often the test set of a run was opened, the one time after training included."""
    return int(record.get("test_opened") is not None) + len(record.get("test_opened_again", []))
