"""The one loop: its configuration, what it needs prepared, steps and checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.lazy import lazy_names

if TYPE_CHECKING:
    from sparserec.training.checkpoint import (
        Arrays,
        fitting,
        load_table,
        read_arrays,
        save_table,
        write_arrays,
    )
    from sparserec.training.config import RunConfig, differences, flat_settings
    from sparserec.training.configure import (
        assign,
        build_config,
        merge,
        parse_assignment,
        read_toml,
        resolve_config,
        said_values,
    )
    from sparserec.training.loop import CHECKPOINT, Loop
    from sparserec.training.mask_stats import correlation, ranks, support_stats
    from sparserec.training.prepare import Prepared, prepare_run
    from sparserec.training.recipe import default_rate
    from sparserec.training.shipped_codes import learn_codes
    from sparserec.training.shipped_rows import learn_rows
    from sparserec.training.start import Everything, FirstTraining, Order, Start

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "checkpoint": ("Arrays", "fitting", "load_table", "read_arrays", "save_table", "write_arrays"),
        "config": ("RunConfig", "differences", "flat_settings"),
        "configure": (
            "assign",
            "build_config",
            "merge",
            "parse_assignment",
            "read_toml",
            "resolve_config",
            "said_values",
        ),
        "loop": ("CHECKPOINT", "Loop"),
        "mask_stats": ("correlation", "ranks", "support_stats"),
        "prepare": ("Prepared", "prepare_run"),
        "recipe": ("default_rate",),
        "shipped_codes": ("learn_codes",),
        "shipped_rows": ("learn_rows",),
        "start": ("Everything", "FirstTraining", "Order", "Start"),
    },
)
