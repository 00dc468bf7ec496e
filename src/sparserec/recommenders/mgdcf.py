"""MGDCF: Markov graph diffusion, dropout on table, edges and outputs, and InfoBPR with many negatives.

    Z = (1/G) (h^K S^K + r * sum_{k<K} h^k S^k) E,   G = h^K + r * sum_{k<K} h^k
    loss = mean InfoBPR + decay/(2B) * |Z|^2 over all rows

with r the restart and h the hop weight. Hu et al., TKDE 2024, the heterogeneous encoder. The authors sum the loss over
the batch and add decay/2 |Z|^2; both are divided by B here, so their ratio, which is what Adam sees, is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.counter import key_of
from sparserec.graph import Adjacency, Tap, dropped_weights
from sparserec.recommenders.base import Loss, Perturbation, Sampling
from sparserec.recommenders.graph_base import GraphBase
from sparserec.recommenders.info_bpr import info_bpr
from sparserec.recommenders.losses import add_weighted, plain_bpr
from sparserec.recommenders.rows import RowBatch
from sparserec.settings import Between, Settings
from sparserec.table import EntryDropout, InitialValues, squared_lengths


class MGDCFSettings(Settings):
    layers: Annotated[int, Between(1, 5)] = Field(4, ge=0, le=10)
    """Hops of diffusion."""
    restart_weight: Annotated[float, Between(0.02, 0.5, log=True)] = Field(0.1, ge=0)
    """Weight of the starting vectors in every hop (the paper's alpha)."""
    hop_weight: float = Field(0.9, gt=0)
    """Weight of the neighbours in every hop (the paper's beta)."""
    self_loops: bool = False
    """Every node is its own neighbour too, as in the authors' PyTorch code; their TensorFlow code has none."""
    entry_dropout: Annotated[float, Between(0.0, 0.6)] = Field(0.45, ge=0, lt=1)
    """Share of table entries dropped in a training step."""
    edge_dropout: float = Field(0.0, ge=0, lt=1)
    """Share of stored edges dropped in a training step, each direction by itself."""
    output_dropout: Annotated[float, Between(0.0, 0.6)] = Field(0.3, ge=0, lt=1)
    """Share of output entries dropped in a training step."""
    loss: Literal["info_bpr", "bpr"] = "info_bpr"
    """The authors' loss, or BPR with L2 on the layer-0 rows of the batch."""
    negatives: int = Field(300, ge=1)
    """Negatives per edge of InfoBPR."""
    group_size: int = Field(64, ge=1)
    """Edges that share their negatives; 1 is the original: fresh ones for every edge."""
    decay: Annotated[float, Between(1e-6, 1e-2, log=True)] = Field(1e-4, ge=0)
    """Weight of half the squared outputs (with `loss = bpr`: of the batch's layer-0 rows), divided by the batch size.
    """
    decay_rows: Literal["all", "batch"] = "batch"
    """Outputs in the decay: all nodes', as published, or the batch's, scaled up to stand for all. The batch's are
    biased towards active users: in batches of 8000 edges of Gowalla a user with 6 interactions gets .3 of the
    published decay, one with 500 gets 4.9 times it. `all` propagates every block once more."""


class MGDCF(GraphBase):
    name = "mgdcf"
    settings_kind = MGDCFSettings
    idea = "graph diffusion, InfoBPR with many negatives"
    paper = "arXiv 2204.11600"

    def __init__(self, settings: MGDCFSettings) -> None:
        self.settings: MGDCFSettings = settings
        self.self_loops = settings.self_loops
        self.taps = (diffusion(settings.layers, settings.restart_weight, settings.hop_weight),)
        many = Sampling(settings.negatives, settings.group_size, reject=False)
        self.whole_rows = settings.loss == "info_bpr"
        self.sampling = many if self.whole_rows else Sampling()
        self.decays_outputs = self.whole_rows and settings.decay_rows == "all"

    def initial(self, seed: int, n_users: int, n_items: int, dim: int) -> InitialValues:
        return InitialValues(seed, "normal", dim**-0.5, dim**-0.5)

    def perturb(self, seed: int, step: int, graph: Adjacency, dim: int) -> Perturbation:
        settings = self.settings
        weights = transposed = None
        if settings.edge_dropout:
            key = key_of(seed, streams.MGDCF_EDGES, step)
            weights, transposed = dropped_weights(graph, key, settings.edge_dropout)
        entries = EntryDropout(key_of(seed, streams.MGDCF_ENTRIES, step), settings.entry_dropout)
        outputs = EntryDropout(key_of(seed, streams.MGDCF_OUTPUTS, step), settings.output_dropout)
        return Perturbation(entries, None, weights, transposed, outputs)

    def loss(self, outputs: Sequence[np.ndarray], rows: RowBatch, seed: int, step: int) -> Loss:
        settings = self.settings
        if settings.loss == "bpr":
            return plain_bpr(outputs[0], rows, settings.decay)
        vectors, edges = outputs[0], (rows.users, rows.positives, rows.negatives)
        value, gradient = info_bpr(vectors, *edges, settings.group_size, out=rows.gradient(vectors))
        decay = settings.decay / len(rows)
        if settings.decay_rows == "all":
            return Loss(value, [gradient], output_decay=decay)
        return Loss(value + _decay_of_batch(outputs[0], rows, decay, gradient), [gradient])


def diffusion(layers: int, restart: float, hop: float) -> Tap:
    """Coefficients of S^0 ... S^layers; they sum to 1. Both weights 1 give LightGCN's mean."""
    powers = [restart * hop**k for k in range(layers)] + [hop**layers]
    return tuple(power / sum(powers) for power in powers)


def _decay_of_batch(vectors: np.ndarray, rows: RowBatch, decay: float, gradient: np.ndarray) -> float:
    """Penalty on the batch's rows, users and items each scaled to their number in the whole graph; adds
    its gradient.
    """
    user_rows, item_rows = rows.n_user_rows, len(vectors) - rows.n_user_rows
    weights = np.empty(len(vectors), vectors.dtype)
    weights[:user_rows] = decay * rows.n_users / max(1, user_rows)
    weights[user_rows:] = decay * rows.n_items / max(1, item_rows)
    add_weighted(vectors, weights, gradient)
    return 0.5 * float((weights * squared_lengths(vectors)).sum())
