"""Before anything is trained: what a run will take, what fits a budget, and whether this machine is in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.lazy import lazy_names

if TYPE_CHECKING:
    from sparserec.planning.batches import settle_batches
    from sparserec.planning.doctor import examine
    from sparserec.planning.estimate import (
        MOST_NMF_WORK,
        Estimate,
        estimate_run,
        limit_nmf,
        usable_bytes,
    )
    from sparserec.planning.every import estimate_all
    from sparserec.planning.plan import PlanOptions, plan_run
    from sparserec.planning.sizes import Sizes
    from sparserec.planning.start import best_start, settle_start

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "batches": ("settle_batches",),
        "doctor": ("examine",),
        "estimate": (
            "MOST_NMF_WORK",
            "Estimate",
            "estimate_run",
            "limit_nmf",
            "usable_bytes",
        ),
        "every": ("estimate_all",),
        "plan": ("PlanOptions", "plan_run"),
        "sizes": ("Sizes",),
        "start": ("best_start", "settle_start"),
    },
)
