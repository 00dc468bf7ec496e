"""Two or more finished runs of the same split, folders or recorded results, compared user by user, and as a frame."""

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
from sparserec.serving.any_model import AnyModel
from sparserec.serving.frames import Columns, frame_of, html_table

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
    names = ("difference", "low", "high", "t", "p", "effect")
    about += [
        {**{name: getattr(test, name) for name in names}, "p_holm": float(p), "users": test.n}
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


@dataclass(frozen=True)
class Comparison:
    """Runs side by side: metrics, and what the paired test says of their difference to the first."""

    rows: list[dict[str, Any]]
    metric: str

    def to_frame(self, library: str | None = None) -> Any:
        """A row for each run as a data frame."""
        return frame_of(self._columns(), library)

    def _columns(self) -> Columns:
        flat = [
            {
                "run": row["run"],
                **row["metrics"],
                "parameters": row["parameters"],
                "bytes": row["bytes"],
                **{name: (row["test"] or {}).get(name) for name in ("difference", "low", "high", "p_holm")},
            }
            for row in self.rows
        ]
        return {name: [row[name] for row in flat] for name in flat[0]}

    def __str__(self) -> str:
        first = f"{self.rows[0]['run']}: {self.metric} {self.rows[0]['metrics'][self.metric]:.4f}"
        return "\n".join([first, *map(self._line, self.rows[1:])])

    def _line(self, row: dict[str, Any]) -> str:
        test = row["test"]
        return (
            f"{row['run']}: {self.metric} {row['metrics'][self.metric]:.4f}, {test['difference']:+.4f} (95 % interval "
            f"{test['low']:+.4f} to {test['high']:+.4f}, p {test['p_holm']:.2g}, {test['users']:,} users)"
        )

    def _repr_html_(self) -> str:
        return html_table(self._columns(), f"paired test of {self.metric} against the first")


def compare(*models: Any, metric: str | None = None, precision: str | None = None) -> Comparison:
    """Compare trained models, or run folders, of the same split with the first of them, user by user.

    `metric` is what the paired test is about, NDCG@20 unless the runs were measured otherwise; `precision` the table
    measured: float, int8 or int4.

    >>> found = sparserec.compare(model, again)
    >>> found.to_frame()["difference"].tolist()[1] == 0.0  # the same training twice
    True
    """
    runs = [getattr(one, "folder", one) for one in models]
    for run in runs:
        if isinstance(run, AnyModel) or Path(run).suffix == ".srec":
            raise SettingError(
                f"compare: {run!r} is a file, and only runs hold what every user got; give those"
            )
    metric = metric or (_own_metric(Path(runs[0])) if runs else "ndcg@20")
    return Comparison(compare_runs(runs, metric, precision), metric)


def _own_metric(run: Path) -> str:
    """NDCG@20, or at the longest list that the run was measured with."""
    lengths = RunFolder(run).read_config().ks if run.is_dir() else (20,)
    return f"ndcg@{20 if 20 in lengths else max(lengths)}"
