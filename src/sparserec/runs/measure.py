"""Opening the test set: once when training has ended, and again when somebody asks, which is written down."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.errors import RunError
from sparserec.evaluation import Evaluation
from sparserec.files import replacing, write_text
from sparserec.memory import peak_of
from sparserec.progress import say
from sparserec.runs.folder import RECORD, Trained, reopen
from sparserec.table import Table
from sparserec.training.prepare import Prepared
from sparserec.vectors import default_export_quality, make_vectors
from sparserec.vectors.quality import evaluate_test

PRECISIONS = {"float": 32, "int8": 8, "int4": 4}


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


def open_test(
    prepared: Prepared, table: Table, folder: Path, peaks: dict[str, int], baseline: int, quiet: bool
) -> dict[str, dict[str, float]]:
    """Measure the finished table on the test part, as float, int8 and int4; per-user results are kept."""
    if len(prepared.split.test) == 0 or not prepared.config.open_test:
        return {}
    with peak_of(peaks, "evaluate", baseline):
        return _measure_precisions(prepared.test, table, folder, quiet)


def open_later(folder: Path) -> None:
    """Open the test set of a finished run that kept it closed; a run that has opened it is left as it is.

    For the winner of a search, which only validation may choose.
    """
    run = reopen(folder)
    if run.record.get("test_opened") is not None:
        return

    def test(table: Table) -> Evaluation:
        return evaluate_test(run.recommender, run.graph, table, run.split, run.config.ks)

    run.record["test"] = _measure_precisions(test, run.table, folder, quiet=False)
    vectors = make_vectors(run.recommender, run.graph, run.table)
    run.record["export"] = default_export_quality(vectors, run.split)
    run.record["test_opened"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    write_text(folder / RECORD, json.dumps(run.record, indent=1))


def _measure_precisions(
    test: Callable[[Table], Evaluation], table: Table, folder: Path, quiet: bool
) -> dict[str, dict[str, float]]:
    """Metrics of the table as float, int8 and int4; results of every user go into the folder."""
    results: dict[str, dict[str, float]] = {}
    per_user: dict[str, np.ndarray] = {}
    for name, bits in PRECISIONS.items():
        say(f"evaluating on the test set ({name})", quiet)
        found = test(table if bits == 32 else table.quantised(bits))
        results[name] = found.metrics
        per_user |= {f"{name}.{metric}": values for metric, values in found.per_user.items()}
        per_user["users"] = found.users
    with replacing(folder / "per_user.npz") as temporary, temporary.open("wb") as file:
        np.savez(file, **per_user)  # type: ignore[arg-type]
    return results
