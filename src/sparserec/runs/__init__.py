"""A run on disk: its folder and record, the one way to train it, what it may start from, its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.lazy import lazy_names

if TYPE_CHECKING:
    from sparserec.runs.figures import rows_figure
    from sparserec.runs.folder import CONFIG, RunFolder
    from sparserec.runs.measure import (
        count_opening,
        measure_again,
        measure_test,
        metrics_of,
        open_later,
        write_per_user,
    )
    from sparserec.runs.observers import EndTraining, Event, Observer, Watched, watching
    from sparserec.runs.per_user import (
        METRIC,
        PRECISION,
        folder_users,
        record_users,
        recorded_path,
        recorded_users,
    )
    from sparserec.runs.record import VERSION, Record, environment, now
    from sparserec.runs.results import Result, append_result, find_result, read_results
    from sparserec.runs.start_from import MAY_DIFFER, open_dense_run, open_warm_start
    from sparserec.runs.stored_split import load_split, save_split
    from sparserec.runs.train import Input, train_run
    from sparserec.runs.trained import Trained, open_final, open_run

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "figures": ("rows_figure",),
        "folder": ("CONFIG", "RunFolder"),
        "measure": (
            "count_opening",
            "measure_again",
            "measure_test",
            "metrics_of",
            "open_later",
            "write_per_user",
        ),
        "observers": ("EndTraining", "Event", "Observer", "Watched", "watching"),
        "per_user": (
            "METRIC",
            "PRECISION",
            "folder_users",
            "record_users",
            "recorded_path",
            "recorded_users",
        ),
        "record": ("VERSION", "Record", "environment", "now"),
        "results": ("Result", "append_result", "find_result", "read_results"),
        "start_from": ("MAY_DIFFER", "open_dense_run", "open_warm_start"),
        "stored_split": ("load_split", "save_split"),
        "train": ("Input", "train_run"),
        "trained": ("Trained", "open_final", "open_run"),
    },
)
