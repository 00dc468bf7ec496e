"""The one loop: its configuration, what it needs prepared, steps and checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.lazy import lazy_names

if TYPE_CHECKING:
    from sparserec.training.checkpoint import Arrays, load_table, read_arrays, save_table, write_arrays
    from sparserec.training.config import RunConfig, differences
    from sparserec.training.configure import (
        assign,
        build_config,
        merge,
        parse_assignment,
        read_toml,
        resolve_config,
    )
    from sparserec.training.history_step import HistoryStepper, step_bytes
    from sparserec.training.loop import CHECKPOINT, Loop
    from sparserec.training.mask_stats import correlation, ranks, support_stats
    from sparserec.training.more_steps import MoreSteps
    from sparserec.training.prepare import Prepared, prepare_run
    from sparserec.training.shipped_codes import learn_codes
    from sparserec.training.shipped_rows import learn_rows
    from sparserec.training.start import Everything, FirstTraining, Order, Start
    from sparserec.training.steppers import Batches, Steps, make_sampler, make_stepper

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "checkpoint": ("Arrays", "load_table", "read_arrays", "save_table", "write_arrays"),
        "config": ("RunConfig", "differences"),
        "configure": ("assign", "build_config", "merge", "parse_assignment", "read_toml", "resolve_config"),
        "history_step": ("HistoryStepper", "step_bytes"),
        "loop": ("CHECKPOINT", "Loop"),
        "mask_stats": ("correlation", "ranks", "support_stats"),
        "more_steps": ("MoreSteps",),
        "prepare": ("Prepared", "prepare_run"),
        "shipped_codes": ("learn_codes",),
        "shipped_rows": ("learn_rows",),
        "start": ("Everything", "FirstTraining", "Order", "Start"),
        "steppers": ("Batches", "Steps", "make_sampler", "make_stepper"),
    },
)
