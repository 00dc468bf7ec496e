"""LightGCN: the mean of layers 0..L, BPR loss, L2 on the layer-0 rows of the batch.

    Z = 1/(L+1) * sum_{k=0..L} S^k E,   loss = mean softplus(z_u.z_n - z_u.z_p) + decay/(2B) * sum |e|^2

He et al., SIGIR 2020; initial values and the regulariser as in the authors' PyTorch code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from sparserec.recommenders.base import Loss, RowBatch
from sparserec.recommenders.graph_base import GraphBase
from sparserec.recommenders.plain_bpr import plain_bpr
from sparserec.settings import Between, Settings
from sparserec.table import InitialValues


class LightGCNSettings(Settings):
    layers: Annotated[int, Between(1, 4)] = Field(3, ge=0, le=10)
    """Hops of propagation."""
    loss: Literal["bpr"] = "bpr"
    """BPR is its own loss."""
    decay: Annotated[float, Between(1e-6, 1e-2, log=True)] = Field(1e-4, ge=0)
    """Weight of half the squared layer-0 rows of a batch, divided by the batch size."""
    init_scale: Annotated[float, Between(0.01, 0.3, log=True)] = Field(0.1, gt=0)
    """Standard deviation of the initial values."""


class LightGCN(GraphBase):
    name = "lightgcn"
    settings_kind = LightGCNSettings
    idea = "mean of all layers, BPR"
    paper = "arXiv 2002.02126"

    def __init__(self, settings: LightGCNSettings) -> None:
        self.settings: LightGCNSettings = settings
        self.taps = ((1.0 / (settings.layers + 1),) * (settings.layers + 1),)

    def initial(self, seed: int, n_users: int, n_items: int, dim: int) -> InitialValues:
        return InitialValues(seed, "normal", self.settings.init_scale, self.settings.init_scale)

    def loss(self, outputs: Sequence[np.ndarray], rows: RowBatch, seed: int, step: int) -> Loss:
        return plain_bpr(outputs[0], rows, self.settings.decay)
