"""static: a sparse table whose support never changes. What exploring buys is measured against it.

DSL's code calls this `--fix`. With `init = "nmf"` it also tells how much of SparseRec is its first mask: the support
is where the factorisation is not zero, cut to the largest or filled up with random positions to hold the budget.
"""

from __future__ import annotations

from pydantic import Field

from sparserec.methods.base import Context, Phase, PhaseResult
from sparserec.methods.first_table import Init, begins_dense, first_table, next_phase, rows_of
from sparserec.methods.plain import OneTraining
from sparserec.settings import Settings
from sparserec.table import Table


class StaticSettings(Settings):
    init: Init = "uniform"
    """Where the support is."""
    row_exponent: float = Field(0.0, ge=0, le=1)
    """Entries dealt to a row grow with its number of interactions to this power, where rows are even or init is
    rotated.
    """
    dense_share: float = Field(0.5, gt=0)
    """Length of the dense training that init rotated begins with, as a share of the recipe's."""
    nmf_iterations: int = Field(50, ge=1)
    """Iterations of coordinate descent."""


class Static(OneTraining):
    name = "static"
    sparse_state = True

    def __init__(self, settings: StaticSettings) -> None:
        self.settings = settings
        self.wants_factors = settings.nmf_iterations if settings.init == "nmf" else 0
        self.sparse_state = settings.init != "rotated"
        self.begins_dense = begins_dense(settings.init, settings.dense_share)

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        return next_phase(self.settings.init, self.settings.dense_share, context, done)

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        settings = self.settings
        rows = rows_of(None, context)
        return first_table(context, phase, previous, settings.init, rows, settings.row_exponent, filled=True)
