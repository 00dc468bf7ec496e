"""A run on disk: its folder and record, the one way to train it, what it may start from, its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.runs.figures import rows_figure
    from sparserec.runs.folder import CONFIG, RunFolder, load_split, save_split
    from sparserec.runs.measure import (
        METRIC,
        PRECISION,
        Result,
        Trained,
        append_result,
        count_opening,
        find_result,
        folder_users,
        measure_again,
        measure_test,
        metrics_of,
        open_final,
        open_later,
        open_run,
        read_results,
        record_users,
        recorded_path,
        recorded_users,
        write_per_user,
    )
    from sparserec.runs.observers import EndTraining, Event, Observer, Watched, watching
    from sparserec.runs.record import VERSION, Record, environment, now
    from sparserec.runs.start_from import MAY_DIFFER, open_dense_run, open_warm_start
    from sparserec.runs.train import Input, train_run

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
