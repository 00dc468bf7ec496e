"""XSimGCL: noise in every layer of training, and a contrast between the output and one layer of the same pass.

    H_k = S H_(k-1) + noise,   Z = mean of H_1..H_L,   C = H_l
    loss = mean -log(1e-5 + sigmoid(z_u.z_p - z_u.z_n)) + decay/B * (|Z_u| + |Z_p|)
           + weight * (InfoNCE(Z, C) over the batch's users + the same over its positive items)

Yu et al., TKDE 2024. As in the authors' code the norms are not squared, run over the output rows of users and
positives with repetitions, and layer 0 is in no mean. Sign and noise carry no gradient, so the adjoint is noise-free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
import torch
from pydantic import Field, model_validator

from sparserec import streams
from sparserec.graph import Adjacency, SignedNoise, Tap
from sparserec.recommenders.base import Loss, Perturbation
from sparserec.recommenders.graph_base import GraphBase
from sparserec.recommenders.info_nce import CHUNK_BYTES, info_nce
from sparserec.recommenders.losses import (
    add_weighted,
    pair_scores,
    plain_bpr,
    triple_gradients,
)
from sparserec.recommenders.rows import RowBatch
from sparserec.settings import Between, Settings
from sparserec.table import InitialValues, squared_lengths

SMALLEST_SHARE = 1e-5
"""Added to the sigmoid before its logarithm, as the authors do."""


class XSimGCLSettings(Settings):
    layers: Annotated[int, Between(1, 4)] = Field(3, ge=1, le=10)
    """Hops of propagation; the authors' leaderboard says 3, their configuration file 2."""
    noise: Annotated[float, Between(0.02, 0.4, log=True)] = Field(0.1, ge=0)
    """Length of the noise added to every row of every layer; the authors have .2 on Yelp2018."""
    contrast_layer: int = Field(1, ge=1)
    """Layer that the output is contrasted with."""
    contrast_weight: Annotated[float, Between(0.02, 1.0, log=True)] = Field(0.2, ge=0)
    """Weight of the contrast in the loss."""
    contrast_among: int | None = Field(1024, ge=2)
    """Nodes that are contrasted with each other; None is all users (items) of the batch, as the authors do with
    batches of 2048. The time of the contrast grows with this number times the batch: two thirds of a step with 2048 at
    batch 32,000."""
    temperature: Annotated[float, Between(0.05, 0.5, log=True)] = Field(0.15, gt=0)
    """Divides the cosines of the contrast."""
    decay: Annotated[float, Between(1e-6, 1e-2, log=True)] = Field(1e-4, ge=0)
    """Weight of the lengths of the batch's outputs (with `loss = bpr`: half its squared layer-0 rows), over the batch
    size.
    """
    loss: Literal["contrastive", "bpr"] = "contrastive"
    """The authors' loss, or BPR with L2 on the layer-0 rows of the batch."""

    @model_validator(mode="after")
    def _contrast_exists(self) -> Self:
        if self.contrast_layer > self.layers:
            raise ValueError(f"contrast_layer {self.contrast_layer} is beyond the last layer, {self.layers}")
        return self


class XSimGCL(GraphBase):
    name = "xsimgcl"
    settings_kind = XSimGCLSettings
    idea = "noise in every layer, and a contrast between layers"
    paper = "arXiv 2209.02544"

    def __init__(self, settings: XSimGCLSettings) -> None:
        self.settings: XSimGCLSettings = settings
        mean: Tap = (0.0, *(1.0 / settings.layers,) * settings.layers)
        layer: Tap = (0.0,) * settings.contrast_layer + (1.0,)
        self.whole_rows = settings.loss != "bpr"
        self.taps: tuple[Tap, ...] = (mean, layer) if self.whole_rows else (mean,)

    def initial(self, seed: int, n_users: int, n_items: int, dim: int) -> InitialValues:
        """Xavier's uniform bound for each table, from the full dimension however few entries are active."""
        return InitialValues(
            seed, "uniform", math.sqrt(6.0 / (n_users + dim)), math.sqrt(6.0 / (n_items + dim))
        )

    def perturb(self, seed: int, step: int, graph: Adjacency, dim: int) -> Perturbation:
        if not self.settings.noise:
            return Perturbation()
        return Perturbation(
            noise=SignedNoise(self.settings.noise, graph.n_nodes, dim, seed, streams.XSIMGCL_NOISE, step)
        )

    def loss(self, outputs: Sequence[np.ndarray], rows: RowBatch, seed: int, step: int) -> Loss:
        settings = self.settings
        if settings.loss == "bpr":
            return plain_bpr(outputs[0], rows, settings.decay)
        value, gradient = _ranking(outputs[0], rows)
        value += _lengths(outputs[0], rows, settings.decay / len(rows), gradient)
        twin_gradient = rows.gradient(outputs[1], tap=1)
        twin_gradient.fill(0)
        # Torch alone from here on: its threads and those of our loops stay awake a while, in each other's way.
        views, slopes = (
            [torch.from_numpy(one) for one in two] for two in (outputs, (gradient, twin_gradient))
        )
        for nodes in (np.arange(rows.n_user_rows), np.unique(rows.positives)):
            for group in contrast_groups(nodes, settings.contrast_among):
                weight = settings.contrast_weight * len(group) / len(nodes)
                places = torch.from_numpy(group.astype(np.int64))
                left, right = (view.index_select(0, places).numpy() for view in views)
                part, *changes = info_nce(left, right, settings.temperature, buffers=rows.buffers)
                value += weight * part
                for whole, change in zip(
                    slopes, changes
                ):  # rows of a group are unique; index_add_ has one thread
                    changed = whole.index_select(0, places).add_(torch.from_numpy(change), alpha=weight)
                    whole.index_copy_(0, places, changed)
        return Loss(value, [gradient, twin_gradient])

    def loss_bytes(self, batch: int, rows: int, dim: int) -> int:
        """Of the contrast: unit rows of both views, their gradients, and tiles of scores."""
        if not self.whole_rows:
            return super().loss_bytes(batch, rows, dim)
        return 6 * 4 * rows * dim + 2 * CHUNK_BYTES


def contrast_groups(nodes: np.ndarray, largest: int | None) -> list[np.ndarray]:
    """Nodes in as few groups as the size allows, every group from the whole range: neighbours in it are alike."""
    count = 1 if largest is None else -(-len(nodes) // largest)
    return [nodes[first::count] for first in range(count)]


def _ranking(vectors: np.ndarray, rows: RowBatch) -> tuple[float, np.ndarray]:
    """mean -log(1e-5 + sigmoid(score of positive - score of negative)), and its gradient on the rows."""
    users, positives, negatives = rows.users, rows.positives, rows.negatives[:, 0]
    width = rows.width
    lead = pair_scores(vectors, users, positives, width) - pair_scores(vectors, users, negatives, width)
    share = 1.0 / (1.0 + np.exp(-lead.astype(np.float64)))
    value = float(-np.log(SMALLEST_SHARE + share).mean())
    slope = (share * (1.0 - share) / (SMALLEST_SHARE + share) / len(lead)).astype(vectors.dtype)
    gradient = rows.gradient(vectors)
    triple_gradients(vectors, users, positives, negatives, slope, gradient)
    return value, gradient


def _lengths(vectors: np.ndarray, rows: RowBatch, weight: float, gradient: np.ndarray) -> float:
    """weight * (|rows of the users| + |rows of the positives|), norms not squared; adds its gradient."""
    penalty = 0.0
    for places in (rows.users, rows.positives):
        times = np.bincount(places, minlength=len(vectors)).astype(np.float64)
        length = math.sqrt(
            float((times * squared_lengths(vectors)).sum())
        )  # no product that wakes more threads
        if length > 0.0:
            penalty += weight * length
            add_weighted(vectors, (weight / length * times).astype(vectors.dtype), gradient)
    return penalty
