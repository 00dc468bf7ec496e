"""A finished run read back from its folder, and its test set opened: once when training has ended, and again when
somebody asks, which is written down. The data set itself is not needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from sparserec.errors import RunError
from sparserec.files import replacing
from sparserec.progress import say
from sparserec.runs.folder import RunFolder, load_split
from sparserec.runs.record import Record, now

if TYPE_CHECKING:
    from sparserec.data import Split
    from sparserec.evaluation import Evaluation
    from sparserec.graph import Adjacency
    from sparserec.recommenders import Recommender
    from sparserec.table import Table
    from sparserec.training import RunConfig


@dataclass(frozen=True)
class Trained:
    """Everything that scoring, exporting or continuing needs."""

    folder: RunFolder
    config: RunConfig
    split: Split
    graph: Adjacency
    recommender: Recommender
    table: Table
    record: Record


def open_final(path: Path) -> Trained | None:
    """The same model trained on everything, where a run has one; it has no figures of its own."""
    final = RunFolder(path).final
    return open_run(final.path) if final.finished else None


def open_run(path: Path) -> Trained:
    """A finished run, its parts checked to belong together; an error says what is missing or damaged."""
    from sparserec.recommenders import make_recommender
    from sparserec.training import load_table

    folder = RunFolder(path)
    config, record = folder.read_config(), folder.read_record()
    folder.verify()
    split, table = load_split(folder.data), load_table(folder.model)
    # of what was left open and chosen on validation, older runs have no other trace than the record
    settings = config.settled.get("base_settings", record.base_settings)
    recommender = make_recommender(config.base, settings)
    rows, expected = table.shape.n_rows, split.n_items + (split.n_users if recommender.user_rows else 0)
    if rows != expected or split.hash != record.split.hash:
        raise RunError(
            f"{path}: the table ({rows:,} rows), the data ({expected:,} rows to have) and the record are not of "
            "the same run; the folder is damaged, train again"
        )
    return Trained(folder, config, split, recommender.graph(split.train), recommender, table, record)


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


def note_test(run: Trained, found: dict[str, Evaluation]) -> None:
    """Write down what a test found."""
    write_per_user(run.folder, found)
    run.record.test = metrics_of(found)
    run.record.test_opened = now()


def open_later(folder: Path, quiet: bool = False) -> None:
    """Open the test set of a finished run that kept it closed; a run that has opened it is left as it is.

    For the winner of a search, which only validation may choose.
    """
    run = open_run(folder)
    if run.record.test_opened is None:
        note_test(run, measure_test(run.table, _measure(run), quiet))
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
    from sparserec.encodings import evaluate_test

    return lambda table: evaluate_test(run.recommender, run.graph, table, run.split, run.config.ks)
