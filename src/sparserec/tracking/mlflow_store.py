"""MLflow: one of its runs per run folder, found again by the number that the folder keeps."""

from __future__ import annotations

import json
import os
from typing import Any

from sparserec.errors import RunError
from sparserec.extras import extras_named
from sparserec.files import write_text
from sparserec.runs import Record, RunFolder
from sparserec.tracking.tracker import Scalars, Tracker, artifacts_of

EXPERIMENT = "sparserec"
LONGEST, AT_ONCE = 500, 100
"""What every server takes: signs of a parameter, and parameters in a call."""


class MLflow(Tracker):
    """Tells an MLflow server or database what a run says.

    Where that is, is said as for all of MLflow (`MLFLOW_TRACKING_URI`, `MLFLOW_EXPERIMENT_NAME`) unless given here.
    """

    name = "mlflow"

    def __init__(self, uri: str | None = None, experiment: str | None = None) -> None:
        with extras_named("the tracker mlflow"):
            import alembic  # noqa: F401  (its databases need both, and ask for them much later)
            import sqlalchemy  # noqa: F401
            from mlflow.tracking import MlflowClient

        self.client = MlflowClient(tracking_uri=uri)
        self.experiment = experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME", EXPERIMENT)
        self.run_id = ""
        self.told_until = 0

    def open(self, run: RunFolder, settings: dict[str, Any]) -> None:
        from mlflow.entities import Param

        known = _known_id(run)
        if known is None or not self._has(known):
            self.run_id = self.client.create_run(self._experiment_id(), run_name=run.path.name).info.run_id
            write_text(run.trackers, json.dumps({self.name: self.run_id}, indent=1))
        else:
            self.run_id = known
            self.client.update_run(known, status="RUNNING")
        told = self.client.get_run(self.run_id).data.params
        new = [Param(name, str(value)[:LONGEST]) for name, value in settings.items() if name not in told]
        for first in range(0, len(new), AT_ONCE):
            self.client.log_batch(self.run_id, params=new[first : first + AT_ONCE])
        history = self.client.get_metric_history(self.run_id, "loss")
        self.told_until = max((metric.step for metric in history), default=0)

    def scalars(self, step: int, values: Scalars, seconds: float) -> None:
        """What a killed run had told before its last checkpoint is the same again, and is told once."""
        from mlflow.entities import Metric

        if step > self.told_until:
            told = [Metric(name, value, int(1000 * seconds), step) for name, value in values.items()]
            self.client.log_batch(self.run_id, metrics=told)

    def summary(self, run: RunFolder, record: Record, values: Scalars) -> None:
        from mlflow.entities import Metric

        told = self.client.get_run(self.run_id).data.metrics
        at = int(1000 * run.record.stat().st_mtime)
        new = [Metric(name, value, at, 0) for name, value in values.items() if name not in told]
        self.client.log_batch(self.run_id, metrics=new)
        for file in artifacts_of(run):
            self.client.log_artifact(self.run_id, str(file))

    def close(self, finished: bool) -> None:
        self.client.set_terminated(self.run_id, "FINISHED" if finished else "KILLED")

    def _experiment_id(self) -> str:
        found = self.client.get_experiment_by_name(self.experiment)
        return found.experiment_id if found is not None else self.client.create_experiment(self.experiment)

    def _has(self, run_id: str) -> bool:
        """Whether this server knows the run; the folder may have told another one before."""
        from mlflow.exceptions import MlflowException

        try:
            return bool(self.client.get_run(run_id).info.lifecycle_stage == "active")
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            return False


def _known_id(run: RunFolder) -> str | None:
    if not run.trackers.is_file():
        return None
    try:
        return str(json.loads(run.trackers.read_text(encoding="utf-8"))[MLflow.name])
    except (ValueError, KeyError, TypeError):
        raise RunError(
            f"{run.trackers}: damaged, it names no run of mlflow; delete it to begin a new one"
        ) from None
