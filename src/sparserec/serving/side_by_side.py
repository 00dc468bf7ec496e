"""Trained models compared in Python: `compare_runs` for models and folders, and its answer as a frame."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparserec.errors import SettingError
from sparserec.runs import RunFolder
from sparserec.serving.any_model import AnyModel
from sparserec.serving.comparing import compare_runs
from sparserec.serving.frames import Columns, frame_of, html_table


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
