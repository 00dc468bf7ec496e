"""The queue of trainings, result files, tables and figures of results; the paper again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.lazy import lazy_names

if TYPE_CHECKING:
    from sparserec.experiments.cells import Overrides
    from sparserec.experiments.classics import Asked, applicable, measure_classic
    from sparserec.experiments.figures import draw_sizes
    from sparserec.experiments.jobs import Job, Place
    from sparserec.experiments.queue import read_queues, run_queue
    from sparserec.experiments.reproduce import Request, as_dicts, counts, seconds_left
    from sparserec.experiments.results import (
        COLUMNS,
        append_result,
        finished_names,
        markdown_table,
        read_results,
    )

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "classics": ("Asked", "applicable", "measure_classic"),
        "cells": ("Overrides",),
        "figures": ("draw_sizes",),
        "jobs": ("Job", "Place"),
        "queue": ("read_queues", "run_queue"),
        "reproduce": ("Request", "as_dicts", "counts", "seconds_left"),
        "results": ("COLUMNS", "append_result", "finished_names", "markdown_table", "read_results"),
    },
)
