"""Trackers by name, and telling them of a run that is there already."""

from __future__ import annotations

from sparserec.errors import SettingError
from sparserec.runs import RunFolder
from sparserec.tracking.mlflow_store import MLflow
from sparserec.tracking.tensorboard_files import TensorBoard
from sparserec.tracking.tracker import Tracker

_TRACKERS: dict[str, type[Tracker]] = {kind.name: kind for kind in (MLflow, TensorBoard)}
TRACKER_NAMES = tuple(_TRACKERS)


def make_tracker(name: str) -> Tracker:
    """The named tracker; where it writes is its own default."""
    if name not in _TRACKERS:
        raise SettingError(f"tracker {name!r}: unknown; known: {', '.join(TRACKER_NAMES)}")
    return _TRACKERS[name]()


def track_run(run: RunFolder, tracker: Tracker) -> None:
    """Tell a tracker all that a run folder has to say, finished or not; told twice it is still one run there."""
    run.read_config()
    tracker.begin(run, run.read_events())
    tracker.end(run, run.read_record() if run.finished else None)
