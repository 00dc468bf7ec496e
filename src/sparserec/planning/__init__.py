"""Before anything is trained: what a run will take, what fits a budget, and whether this machine is in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.planning.doctor import examine
    from sparserec.planning.estimate import Estimate, estimate_run
    from sparserec.planning.memory_plan import Sizes
    from sparserec.planning.settle import (
        MOST_NMF_WORK,
        Machine,
        PlanOptions,
        Settled,
        estimate_all,
        own_files,
        plan_run,
        settle_config,
    )

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
