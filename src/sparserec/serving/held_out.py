"""Opening the test set of a finished run once more, and writing down that it was done."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sparserec.errors import RunError
from sparserec.evaluation import evaluate
from sparserec.files import write_text
from sparserec.serving.run_folder import RECORD
from sparserec.training.reopen import Trained
from sparserec.training.run import PRECISIONS
from sparserec.training.step import propagate_all


def measure_again(folder: Path, run: Trained) -> dict[str, dict[str, float]]:
    """Metrics of the float, int8 and int4 table on the test part; the record gets the time of this opening."""
    split = run.split
    if len(split.test) == 0:
        raise RunError(f"{folder}: the split of this run has no test part, so there is nothing to measure")
    results = {}
    for name, bits in PRECISIONS.items():
        table = run.table if bits == 32 else run.table.quantised(bits)
        vectors = torch.from_numpy(propagate_all(run.recommender, run.graph, table))

        def user_vectors(users: np.ndarray, rows: torch.Tensor = vectors) -> torch.Tensor:
            return rows[torch.from_numpy(users).long()]

        found = evaluate(
            user_vectors, vectors[split.n_users :], split.train, split.test, (split.valid,), run.config.ks
        )
        results[name] = found.metrics
    _write_down(folder, run)
    return results


def _write_down(folder: Path, run: Trained) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    run.record["test_opened_again"] = [*run.record.get("test_opened_again", []), now]
    write_text(folder / RECORD, json.dumps(run.record, indent=1))


def times_opened(record: dict[str, Any]) -> int:
    """How often the test set of a run was opened, the one time after training included."""
    return int(record.get("test_opened") is not None) + len(record.get("test_opened_again", []))
