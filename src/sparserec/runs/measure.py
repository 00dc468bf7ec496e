"""Opening the test set: once when training has ended, and again when somebody asks, which is written down."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from sparserec.errors import DataError, RunError, SettingError
from sparserec.files import replacing
from sparserec.process import PhasePeaks
from sparserec.progress import say
from sparserec.runs.folder import RunFolder, load_split
from sparserec.runs.record import Record, now

if TYPE_CHECKING:
    from sparserec.data import Split
    from sparserec.evaluation import Evaluation, UserValues
    from sparserec.graph import Adjacency
    from sparserec.recommenders import Recommender
    from sparserec.table import Table
    from sparserec.training import RunConfig

METRIC, PRECISION = "ndcg@20", "int8"
"""What is kept beside a result file: what the paper's tables are ordered by, of the table as it quantises it."""
FULL = 65535
"""The code of 1: metrics lie between 0 and 1."""


def folder_users(run: RunFolder, metric: str, precision: str) -> UserValues:
    """A metric of every user of a run folder."""
    run.verify(run.per_user.name)
    name = f"{precision}.{metric}"
    try:
        with _opened(run.per_user) as stored:
            if name not in stored:
                known = ", ".join(one for one in stored.files if one != "users")
                raise SettingError(
                    f"{run.path}: {metric!r} of the {precision} table was not measured; there is {known}"
                )
            values, users = stored[name], stored["users"]
    except FileNotFoundError:
        raise RunError(
            f"{run.path}: no {run.per_user.name}; the split has no test part or the folder is damaged"
        ) from None
    from sparserec.evaluation import UserValues

    return UserValues(load_split(run.data).train.user_ids.external(users), values)


def recorded_path(results: Path, name: str) -> Path:
    """Where the users of a line of a result file are."""
    return results.parent / "per_user" / results.stem / f"{name}.npz"


def record_users(path: Path, run: RunFolder, metric: str = METRIC, precision: str = PRECISION) -> None:
    """Write a metric of a run's users in the order of their ids, values rounded to two bytes.

    Ids are those of the log. Whole numbers are written as steps from one to the next, of which almost all are 1.
    """
    users = folder_users(run, metric, precision).in_order()
    ids = users.ids
    steps = np.diff(ids, prepend=0) if np.issubdtype(ids.dtype, np.integer) else None
    arrays = {"ids": ids} if steps is None else {"steps": steps.astype(np.int64)}
    arrays[f"{precision}.{metric}"] = np.rint(users.values * FULL).astype(np.uint16)
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def recorded_users(path: Path, metric: str = METRIC, precision: str = PRECISION) -> UserValues:
    """Read what `record_users` wrote."""
    from sparserec.evaluation import UserValues

    name = f"{precision}.{metric}"
    try:
        with _opened(path) as stored:
            if name not in stored:
                known = ", ".join(one for one in stored.files if one not in ("ids", "steps"))
                raise SettingError(
                    f"{path}: beside a result stands {known} alone, not {name}; give the run's folder instead"
                )
            ids = np.cumsum(stored["steps"]) if "steps" in stored else stored["ids"]
            codes = stored[name]
            if codes.dtype != np.uint16 or codes.shape != ids.shape:
                raise RunError(f"{path}: damaged (codes of {codes.dtype}, {codes.shape} for {ids.shape} ids)")
            return UserValues(ids, codes / FULL)
    except FileNotFoundError:
        raise RunError(
            f"{path}: is missing; this result was written without its users, train it again"
        ) from None


@contextmanager
def _opened(path: Path) -> Iterator[np.lib.npyio.NpzFile]:
    """The arrays of a file; whatever is wrong with it is an error that names it."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            yield stored
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise RunError(f"{path}: damaged ({error}); train again") from None


# A finished run read back from its folder; the data set itself is not needed.


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


def open_test(run: Trained, peaks: PhasePeaks, quiet: bool = True) -> None:
    """Measure a finished table and what would be shipped: reported numbers are shipped numbers."""
    with peaks.phase("evaluate"):
        found = measure_test(run.table, _measure(run), quiet)
    note_test(run, found)


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
    from sparserec.encodings import evaluate_test

    return lambda table: evaluate_test(run.recommender, run.graph, table, run.split, run.config.ks)


# Result files: JSON lines, one per finished run, with everything that traces the number, and its users beside.

Result = dict[str, Any]


def read_results(path: Path) -> list[Result]:
    """All results of a file; empty when there is none yet."""
    if not path.exists():
        return []
    results = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            results.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise DataError(
                f"{path}, line {number}: not JSON ({error.msg}); delete the line and run the queue again"
            ) from None
    return results


def append_result(path: Path, name: str, run: RunFolder) -> None:
    """Add a finished run under its name in the queue; folders of this machine are left out of file names.

    Its users are written first: a line that has the metric has them too.
    """
    record = run.read_record()
    if METRIC in record.test.get(PRECISION, {}) and run.per_user.exists():
        record_users(recorded_path(path, name), run)
    data = {**record.data, "files": [Path(file).name for file in record.data["files"]]}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, **record.as_dict(), "data": data}) + "\n")


def find_result(folder: Path, name: str) -> tuple[Path, Result]:
    """The file and line of a result by NAME, or by FILE:NAME where several files have the name."""
    stem, _, own = name.rpartition(":")
    files = [folder / f"{stem}.jsonl"] if stem else sorted(folder.glob("*.jsonl"))
    found = [(file, row) for file in files for row in read_results(file) if row.get("name") == own]
    if not found:
        raise SettingError(
            f"{name}: neither a run folder nor the name of a result in {folder}; `sparserec table "
            f"{folder}/*.jsonl --columns run` lists those"
        )
    if len(found) > 1:
        known = ", ".join(f"{file.stem}:{own}" for file, _ in found)
        raise SettingError(f"{name}: several results have this name; give one of {known}")
    return found[0]
