"""static: a sparse table whose support never changes. What exploring buys is measured against it.

DSL's code calls this `--fix`. With `init = "nmf"` it also tells how much of SparseRec is its first mask: the support
is where the factorisation is not zero, cut to the largest or filled up with random positions to hold the budget.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from sparserec.exploration import active_target, fill_uniformly, nmf_support
from sparserec.methods.base import Context, Phase
from sparserec.methods.exploring import SUPPORT, uniform_table
from sparserec.methods.plain import OneTraining
from sparserec.settings import Settings
from sparserec.table import SparseTable, Table


class StaticSettings(Settings):
    init: Literal["uniform", "nmf"] = "uniform"
    """Where the support is."""
    nmf_iterations: int = Field(50, ge=1)
    """Iterations of coordinate descent."""


class Static(OneTraining):
    name = "static"
    sparse_state = True

    def __init__(self, settings: StaticSettings) -> None:
        self.settings = settings
        self.wants_factors = settings.nmf_iterations if settings.init == "nmf" else 0

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        if self.settings.init == "uniform":
            return uniform_table(context)
        assert context.factors is not None
        shape = context.shape()
        target = active_target(shape, context.density)
        support = nmf_support(shape, target, context.factors.load())
        support = fill_uniformly(shape, support, target, np.random.default_rng([context.seed, SUPPORT]))
        return SparseTable.create(shape, support, context.initial(context.dim))
