"""Observers that tell a tracker what a run says: MLflow and TensorBoard, each an extra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.tracking.known import TRACKER_NAMES, make_tracker, track_run
    from sparserec.tracking.mlflow_store import MLflow
    from sparserec.tracking.tensorboard_files import TensorBoard
    from sparserec.tracking.tracker import Tracker

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
