"""Two or more finished runs of the same split, folders or recorded results, compared user by user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparserec.errors import RunError, SettingError
from sparserec.evaluation import UserValues, holm, paired_by_id
from sparserec.runs import (
    PRECISION,
    Record,
    RunFolder,
    find_result,
    folder_users,
    recorded_path,
    recorded_users,
)

RESULTS = Path("results")


@dataclass(frozen=True)
class _Run:
    """A run folder, or the line of a result file."""

    name: str
    folder: Path | None
    file: Path | None
    record: Record

    def users(self, metric: str, precision: str) -> UserValues:
        if self.folder is not None:
            return folder_users(RunFolder(self.folder), metric, precision)
        assert self.file is not None
        return recorded_users(recorded_path(self.file, self.name), metric, precision)


def compare_runs(
    runs: Sequence[Path | str], metric: str = "ndcg@20", precision: str | None = None, results: Path = RESULTS
) -> list[dict[str, Any]]:
    """Metrics of each run and, for all but the first, a paired test against the first, corrected by Holm's method.

    A run is a folder, or the name of a result recorded in `results` (FILE:NAME where several files have the name).
    Without a `precision` folders are compared as float; recorded users are there of the int8 table alone.
    """
    if len(runs) < 2:
        raise SettingError("give at least two runs to compare")
    found = [_find(run, results) for run in runs]
    precision = precision or (PRECISION if any(run.folder is None for run in found) else "float")
    reference = found[0]
    for run in found[1:]:
        if run.record.split.hash != reference.record.split.hash:
            raise RunError(
                f"{run.name} and {reference.name} were trained on different splits ({_split(run.record)}; "
                f"{_split(reference.record)}): their users cannot be paired, nor their numbers compared"
            )
    users = [run.users(metric, precision) for run in found]
    tests = [paired_by_id(one, users[0]) for one in users[1:]]
    corrected = holm([test.p for test in tests])
    about: list[dict[str, Any] | None] = [None]
    about += [
        {
            "difference": test.difference,
            "low": test.low,
            "high": test.high,
            "t": test.t,
            "p": test.p,
            "p_holm": float(p),
            "effect": test.effect,
            "users": test.n,
        }
        for test, p in zip(tests, corrected)
    ]
    return [
        {
            "run": run.name,
            "folder": None if run.folder is None else str(run.folder),
            "precision": precision,
            "metrics": _shown(run.record, precision, metric),
            "parameters": run.record.parameters,
            "bytes": run.record.bytes["int8"],
            "test": test,
        }
        for run, test in zip(found, about)
    ]


def _find(run: Path | str, results: Path) -> _Run:
    """A folder if there is one, else a recorded line."""
    folder = Path(run)
    if folder.exists() or not results.is_dir():
        return _Run(folder.name, folder, None, RunFolder(folder).read_record())
    file, row = find_result(results, str(run))
    return _Run(row["name"], None, file, Record.parse(row, f"{file}: {row['name']}"))


def _split(record: Record) -> str:
    return f"{record.config['data']} {record.split.protocol} seed {record.split.seed}"


def _shown(record: Record, precision: str, metric: str) -> dict[str, float]:
    metrics = record.test[precision]
    names = [name for name in metrics if "." not in name and name.startswith(("recall@", "ndcg@"))]
    return {name: metrics[name] for name in dict.fromkeys([*names, metric])}
