"""One training step of every base equals autograd on a dense, unblocked version with the same masks and noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import slow_bases as slow
import torch
from torch.nn import functional

from sparserec.counter import key_of
from sparserec.data import Batch
from sparserec.graph import Adjacency, build_adjacency
from sparserec.recommenders import Recommender, make_recommender
from sparserec.recommenders.step import Stepper
from sparserec.streams import MGDCF_EDGES as EDGES
from sparserec.streams import MGDCF_ENTRIES as ENTRIES
from sparserec.streams import MGDCF_OUTPUTS as OUTPUTS
from sparserec.streams import XSIMGCL_NOISE as NOISE
from sparserec.table import EntryDropout, InitialValues, Shape, SparseTable, Update

SEED, STEP, DIM, WIDTH, EDGES_IN_BATCH = 3, 7, 5, 2, 23
TRAIN = slow.toy_interactions()
USERS = TRAIN.n_users
NODES = TRAIN.n_users + TRAIN.n_items


class Watched:
    """A table in double precision that keeps the gradient it is handed instead of learning from it."""

    kind = "watched"

    def __init__(self, values: np.ndarray) -> None:
        self.shape = Shape(TRAIN.n_users, TRAIN.n_items, DIM, WIDTH)
        self.values, self.gradient = values, np.full_like(values, np.nan)

    def _mask(self, dropout: EntryDropout) -> np.ndarray:
        return slow.mask_of(dropout.key, dropout.rate, *self.values.shape).numpy()  # type: ignore[arg-type]

    def fill(self, block: int, out: torch.Tensor, dropout: EntryDropout) -> None:
        start, width = self.shape.blocks[block]
        out.copy_(torch.from_numpy(self.values * self._mask(dropout))[:, start : start + width])

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        start, width = self.shape.blocks[block]
        part = slice(start, start + width)
        self.gradient[:, part] = gradient.numpy() * self._mask(update.dropout)[:, part]
        self.gradient[:, part] += update.row_decay[:, None] * self.values[:, part]

    def begin_step(self, rows: np.ndarray, counts: np.ndarray) -> float:
        return 0.0

    def finish_step(self, update: Update) -> None:
        pass

    def ego_penalty(self, row_decay: np.ndarray) -> float:
        return float((row_decay[:, None] * self.values**2).sum() / 2)


Reference = Callable[[torch.Tensor, torch.Tensor, Batch, Any], torch.Tensor]
"""loss(table, adjacency, batch, settings) in double precision."""


def plain_loss(z: torch.Tensor, table: torch.Tensor, batch: Batch, decay: float) -> torch.Tensor:
    return functional.softplus(-slow.pair_lead(z, batch, USERS)).mean() + slow.ego_term(
        table, batch, USERS, decay
    )


def lightgcn(table: torch.Tensor, matrix: torch.Tensor, batch: Batch, settings: Any) -> torch.Tensor:
    z = torch.stack(slow.propagate(matrix, table, settings.layers)).mean(0)
    return plain_loss(z, table, batch, settings.decay)


def mf(table: torch.Tensor, matrix: torch.Tensor, batch: Batch, settings: Any) -> torch.Tensor:
    return plain_loss(table, table, batch, settings.decay)


def mgdcf(table: torch.Tensor, matrix: torch.Tensor, batch: Batch, settings: Any) -> torch.Tensor:
    kept = slow.mask_of(key_of(SEED, EDGES, STEP), settings.edge_dropout, NODES, NODES)
    start = table * slow.mask_of(key_of(SEED, ENTRIES, STEP), settings.entry_dropout, NODES, DIM)
    z = slow.diffuse(matrix * kept, start, settings.layers, settings.restart_weight, settings.hop_weight)
    z = z * slow.mask_of(key_of(SEED, OUTPUTS, STEP), settings.output_dropout, NODES, DIM)
    if settings.loss == "bpr":
        return plain_loss(z, table, batch, settings.decay)
    loss = slow.info_bpr_mean(z, batch, USERS, settings.group_size)
    if settings.decay_rows == "all":
        return loss + settings.decay / len(batch.users) / 2 * z.square().sum()
    users = np.unique(batch.users)
    items = np.unique(np.concatenate([batch.positives, batch.negatives.ravel()])) + USERS
    whole = sum(
        count / len(rows) * z[rows].square().sum() for count, rows in ((USERS, users), (TRAIN.n_items, items))
    )
    return loss + settings.decay / len(batch.users) / 2 * whole


def xsimgcl(table: torch.Tensor, matrix: torch.Tensor, batch: Batch, settings: Any) -> torch.Tensor:
    keys = [key_of(SEED, NOISE, STEP, layer) for layer in range(1, settings.layers + 1)]
    pushes = [settings.noise * slow.unit_rows(key, NODES, DIM) for key in keys]
    layers = slow.propagate_with_noise(matrix, table, pushes)
    z, twin = torch.stack(layers).mean(0), layers[settings.contrast_layer - 1]
    if settings.loss == "bpr":
        return plain_loss(z, table, batch, settings.decay)
    loss = -torch.log(1e-5 + torch.sigmoid(slow.pair_lead(z, batch, USERS))).mean()
    for places in (batch.users, batch.positives + USERS):
        loss = loss + settings.decay * z[places].norm() / len(batch.users)
        rows = np.unique(places)
        count = -(-len(rows) // (settings.contrast_among or len(rows)))
        for group in (rows[first::count] for first in range(count)):
            contrast = slow.info_nce_mean(z[group], twin[group], settings.temperature)
            loss = loss + settings.contrast_weight * len(group) / len(rows) * contrast
    return loss


REFERENCES: dict[str, Reference] = {"lightgcn": lightgcn, "mf": mf, "mgdcf": mgdcf, "xsimgcl": xsimgcl}
MGDCF = {"negatives": 4, "group_size": 3, "decay": 0.3, "layers": 3, "decay_rows": "all"}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("lightgcn", {"decay": 0.2}),
    ("lightgcn", {"layers": 0, "decay": 0.2}),
    ("mf", {"decay": 0.2}),
    ("mgdcf", {**MGDCF, "entry_dropout": 0.0, "output_dropout": 0.0}),
    ("mgdcf", {**MGDCF, "entry_dropout": 0.5, "output_dropout": 0.25, "edge_dropout": 0.5}),
    ("mgdcf", {**MGDCF, "edge_dropout": 0.5, "decay_rows": "batch", "self_loops": True}),
    ("mgdcf", {**MGDCF, "group_size": 1, "output_dropout": 0.5, "self_loops": True}),
    ("mgdcf", {**MGDCF, "layers": 0, "group_size": 100}),
    ("mgdcf", {**MGDCF, "loss": "bpr", "edge_dropout": 0.5}),
    ("xsimgcl", {"decay": 0.5, "contrast_weight": 0.7}),
    ("xsimgcl", {"decay": 0.5, "contrast_layer": 2, "layers": 2, "temperature": 0.4}),
    ("xsimgcl", {"noise": 0.0, "contrast_layer": 3}),
    ("xsimgcl", {"contrast_weight": 0.7, "contrast_among": 3}),
    ("xsimgcl", {"loss": "bpr", "decay": 0.2}),
]


def batch_for(base: Recommender) -> Batch:
    return slow.toy_batch(TRAIN, EDGES_IN_BATCH, base.sampling.negatives_per_edge, base.sampling.group_size)


def expected(name: str, base: Recommender, graph: Adjacency, values: np.ndarray) -> tuple[float, np.ndarray]:
    table = torch.from_numpy(values).clone().requires_grad_()
    matrix = torch.from_numpy(slow.dense_matrix(graph))
    loss = REFERENCES[name](table, matrix, batch_for(base), base.settings)
    loss.backward()
    assert table.grad is not None
    return loss.item(), table.grad.numpy()


@pytest.mark.parametrize("name, settings", CASES)
def test_step_equals_autograd(name: str, settings: dict[str, Any]) -> None:
    base = make_recommender(name, settings)
    graph = build_adjacency(TRAIN, base.self_loops)
    values = np.random.default_rng(1).standard_normal((NODES, DIM))
    table = Watched(values)
    stepper = Stepper(base, graph, table, SEED, torch.float64)
    loss = stepper.run(batch_for(base), STEP, 0.01)
    value, gradient = expected(name, base, graph, values)
    assert loss == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(table.gradient, gradient, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name, settings", CASES)
def test_a_step_leaves_nothing_to_the_next(name: str, settings: dict[str, Any]) -> None:
    """Arrays are kept between steps; a smaller batch after a larger one gives the bits of a fresh beginning."""
    base = make_recommender(name, settings)
    graph = build_adjacency(TRAIN, base.self_loops)
    values = np.random.default_rng(1).standard_normal((NODES, DIM))
    sampling = base.sampling
    larger = slow.toy_batch(TRAIN, 2 * EDGES_IN_BATCH, sampling.negatives_per_edge, sampling.group_size)
    tables = Watched(values), Watched(values)
    fresh, used = (Stepper(base, graph, table, SEED, torch.float64) for table in tables)
    used.run(larger, STEP - 1, 0.01)
    assert used.run(batch_for(base), STEP, 0.01) == fresh.run(batch_for(base), STEP, 0.01)
    np.testing.assert_array_equal(tables[1].gradient, tables[0].gradient)


@pytest.mark.parametrize("name, settings", [("lightgcn", {"decay": 0.2}), ("mf", {"decay": 0.0})])
def test_weight_decay_pulls_every_entry_beside_what_the_base_decays(
    name: str, settings: dict[str, Any]
) -> None:
    base = make_recommender(name, settings)
    graph = build_adjacency(TRAIN, base.self_loops)
    values = np.random.default_rng(1).standard_normal((NODES, DIM))
    table = Watched(values)
    stepper = Stepper(base, graph, table, SEED, torch.float64, 0.25)
    loss = stepper.run(batch_for(base), STEP, 0.01)
    value, gradient = expected(name, base, graph, values)
    assert loss == pytest.approx(value + 0.25 / 2 * np.square(values).sum(), rel=1e-6)
    np.testing.assert_allclose(table.gradient, gradient + 0.25 * values, rtol=1e-5, atol=1e-6)


def test_sparse_step_drops_active_entries_and_shows_candidates_the_whole_gradient() -> None:
    base = make_recommender("mgdcf", {**MGDCF, "entry_dropout": 0.5, "edge_dropout": 0.5})
    graph = build_adjacency(TRAIN)
    rng = np.random.default_rng(4)
    shape = Shape(TRAIN.n_users, TRAIN.n_items, DIM, WIDTH)
    support = [np.flatnonzero(rng.random(NODES * width) < 0.4).astype(np.int32) for _, width in shape.blocks]
    table = SparseTable.create(shape, support, InitialValues(SEED, "normal", 1.0, 1.0))
    candidates = np.array([0, 4, 9, 13, 20], np.int32)
    table.set_candidates(candidates, cumulative=True)
    rows, columns, values = table.entries()
    dense, active = np.zeros((NODES, DIM)), np.zeros((NODES, DIM), bool)
    dense[rows, columns], active[rows, columns] = values, True
    gradient = gradient_with_inactive_kept(base, graph, dense, active)
    Stepper(base, graph, table, SEED, torch.float64).run(batch_for(base), STEP, 0.01)
    np.testing.assert_allclose(table.first / 0.1, gradient[rows, columns], rtol=1e-5, atol=1e-6)
    assert table.candidates is not None
    inactive = ~active[candidates]
    np.testing.assert_allclose(
        table.candidates.accumulated[inactive], gradient[candidates][inactive], rtol=1e-5, atol=1e-6
    )


def gradient_with_inactive_kept(
    base: Recommender, graph: Adjacency, dense: np.ndarray, active: np.ndarray
) -> np.ndarray:
    """Dense gradient when the mask is 1 on inactive entries: they are 0, but their gradient must not be hidden."""
    settings: Any = base.settings
    kept = slow.mask_of(key_of(SEED, ENTRIES, STEP), settings.entry_dropout, NODES, DIM).numpy()
    dropped = dense * np.where(active, kept, 1.0)
    undropped = base.settings.model_copy(update={"entry_dropout": 0.0})
    table = torch.from_numpy(dropped).requires_grad_()
    matrix = torch.from_numpy(slow.dense_matrix(graph))
    mgdcf(table, matrix, batch_for(base), undropped).backward()
    assert table.grad is not None
    return table.grad.numpy() * np.where(active, kept, 1.0)
