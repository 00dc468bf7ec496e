"""A run on disk: its folder and record, the one way to train it, what it may start from, its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.runs.draw import rows_figure
    from sparserec.runs.folder import CONFIG, RunFolder, load_split, save_split
    from sparserec.runs.observers import EndTraining, Event, Observer, Watched, watching
    from sparserec.runs.record import VERSION, Record, environment, now
    from sparserec.runs.results import (
        METRIC,
        PRECISION,
        Result,
        append_result,
        find_result,
        folder_users,
        read_results,
        record_users,
        recorded_path,
        recorded_users,
    )
    from sparserec.runs.train import Input, train_run
    from sparserec.runs.trained import (
        Trained,
        count_opening,
        measure_again,
        measure_test,
        metrics_of,
        open_final,
        open_later,
        open_run,
        write_per_user,
    )
    from sparserec.runs.warm_start import MAY_DIFFER, open_dense_run, open_warm_start

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
