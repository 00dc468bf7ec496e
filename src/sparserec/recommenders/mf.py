"""Matrix factorisation: no propagation at all, BPR loss. The simplest base, and the yardstick for what a graph adds.

    Z = E,   loss = mean softplus(z_u.z_n - z_u.z_p) + decay/(2B) * sum |e|^2

Rendle et al., UAI 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from sparserec.graph import Tap
from sparserec.recommenders.base import Loss
from sparserec.recommenders.graph_base import GraphBase
from sparserec.recommenders.losses import plain_bpr
from sparserec.recommenders.rows import RowBatch
from sparserec.settings import Between, Settings
from sparserec.table import InitialValues


class MFSettings(Settings):
    loss: Literal["bpr"] = "bpr"
    """BPR is its only loss."""
    decay: Annotated[float, Between(1e-6, 1e-2, log=True)] = Field(1e-4, ge=0)
    """Weight of half the squared rows of a batch, divided by the batch size."""
    init_scale: Annotated[float, Between(0.01, 0.3, log=True)] = Field(0.1, gt=0)
    """Standard deviation of the initial values."""


class MF(GraphBase):
    name = "mf"
    settings_kind = MFSettings
    idea = "no graph at all, BPR"
    paper = "arXiv 1205.2618"
    taps: tuple[Tap, ...] = ((1.0,),)

    def initial(self, seed: int, n_users: int, n_items: int, dim: int) -> InitialValues:
        return InitialValues(seed, "normal", self.settings.init_scale, self.settings.init_scale)

    def loss(self, outputs: Sequence[np.ndarray], rows: RowBatch, seed: int, step: int) -> Loss:
        return plain_bpr(outputs[0], rows, self.settings.decay)
