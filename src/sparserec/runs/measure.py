"""Opening the test set: once when training has ended, and again when somebody asks, which is written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from sparserec.errors import RunError
from sparserec.evaluation import Evaluation
from sparserec.files import replacing
from sparserec.memory import PhasePeaks
from sparserec.progress import say
from sparserec.runs.folder import RunFolder
from sparserec.runs.record import now
from sparserec.runs.trained import Trained, open_run
from sparserec.table import Table
from sparserec.vectors import default_export_quality, evaluate_test, make_vectors

PRECISIONS = {"float": 32, "int8": 8, "int4": 4}


class Quantised(Protocol):
    """A table, or whatever else a recommender keeps on disk."""

    def quantised(self, bits: int) -> Any:
        """A copy whose values went through the device codec."""


Kept = TypeVar("Kept", bound=Quantised)


def measure_test(
    table: Kept, measure: Callable[[Kept], Evaluation], quiet: bool = True
) -> dict[str, Evaluation]:
    """The test results of a table as float, int8 and int4."""
    found = {}
    for name, bits in PRECISIONS.items():
        say(f"evaluating on the test set ({name})", quiet)
        found[name] = measure(table if bits == 32 else table.quantised(bits))
    return found


def metrics_of(found: dict[str, Evaluation]) -> dict[str, dict[str, float]]:
    """The averages alone, by precision."""
    return {name: one.metrics for name, one in found.items()}


def write_per_user(folder: RunFolder, found: dict[str, Evaluation]) -> None:
    """Keep every user's results, so that two runs can be compared user by user."""
    arrays = {
        f"{name}.{metric}": values for name, one in found.items() for metric, values in one.per_user.items()
    }
    with replacing(folder.per_user) as temporary, temporary.open("wb") as file:
        np.savez(file, users=found["float"].users, **arrays)  # type: ignore[arg-type]


def open_test(run: Trained, peaks: PhasePeaks, quiet: bool = True) -> None:
    """Measure a finished table and what would be shipped: reported numbers are shipped numbers."""
    with peaks.phase("evaluate"):
        found = measure_test(run.table, _measure(run), quiet)
    note_test(run, found)


def note_test(run: Trained, found: dict[str, Evaluation]) -> None:
    """Write down what a test found, and measure the file that `export` writes by default."""
    write_per_user(run.folder, found)
    run.record.test = metrics_of(found)
    run.record.test_opened = now()
    vectors = make_vectors(run.recommender, run.graph, run.table)
    run.record.export = default_export_quality(vectors, run.split)


def open_later(folder: Path, quiet: bool = False) -> None:
    """Open the test set of a finished run that kept it closed; a run that has opened it is left as it is.

    For the winner of a search, which only validation may choose.
    """
    run = open_run(folder)
    if run.record.test_opened is None:
        open_test(run, PhasePeaks(), quiet)
        run.folder.write_record(run.record)


def measure_again(run: Trained) -> dict[str, dict[str, float]]:
    """Metrics of the float, int8 and int4 table on the test part; the record gets the time of this opening."""
    if len(run.split.test) == 0:
        raise RunError(
            f"{run.folder.path}: the split of this run has no test part, so there is nothing to measure"
        )
    found = measure_test(run.table, _measure(run))
    count_opening(run)
    return metrics_of(found)


def count_opening(run: Trained) -> None:
    """Write down in the run's record that its test part was opened once more."""
    run.record.test_opened_again.append(now())
    run.folder.write_record(run.record)


def _measure(run: Trained) -> Callable[[Table], Evaluation]:
    return lambda table: evaluate_test(run.recommender, run.graph, table, run.split, run.config.ks)
