"""LightGCN: the mean of layers 0..L, BPR loss, L2 on the layer-0 rows of the batch.

    Z = 1/(L+1) * sum_{k=0..L} S^k E,   loss = mean softplus(z_u.z_n - z_u.z_p) + decay/(2B) * sum |e|^2

He et al., SIGIR 2020; initial values and the regulariser as in the authors' PyTorch code.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sparserec.recommenders.mf import MF, MFSettings
from sparserec.settings import Between


class LightGCNSettings(MFSettings):
    layers: Annotated[int, Between(1, 4)] = Field(3, ge=0, le=10)
    """Hops of propagation."""


class LightGCN(MF):
    name = "lightgcn"
    settings_kind = LightGCNSettings
    idea = "mean of all layers, BPR"
    paper = "arXiv 2002.02126"

    def __init__(self, settings: LightGCNSettings) -> None:
        super().__init__(settings)
        self.taps = ((1.0 / (settings.layers + 1),) * (settings.layers + 1),)
