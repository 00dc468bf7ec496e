"""The queue of trainings, result files, tables and figures of results, recommenders that need no training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.experiments.classics import ClassicRun, applicable, measure_classic
    from sparserec.experiments.lock import is_locked
    from sparserec.experiments.queue import (
        QueuedRun,
        QueueFile,
        read_queues,
        run_queue,
        unrecorded,
        work_through,
    )
    from sparserec.experiments.results import (
        COLUMNS,
        draw_sizes,
        finished_names,
        markdown_table,
        read_runs,
        validation_scores,
    )
    from sparserec.experiments.search import Search, unfold

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
