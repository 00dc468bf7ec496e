"""The one loop: its configuration, what it needs prepared, steps and checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.training.checkpoint import (
        Arrays,
        fitting,
        load_table,
        read_arrays,
        save_table,
        write_arrays,
    )
    from sparserec.training.config import (
        RunConfig,
        assign,
        build_config,
        default_rate,
        differences,
        flat_settings,
        merge,
        parse_assignment,
        read_toml,
        resolve_config,
        said_values,
    )
    from sparserec.training.loop import CHECKPOINT, Loop, correlation, ranks, support_stats
    from sparserec.training.prepare import (
        FirstTraining,
        Order,
        Prepared,
        Start,
        context_of,
        prepare_run,
    )

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
