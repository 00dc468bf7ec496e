"""The sparse table, trained, is a dense table times a mask: fifteen Adam steps and three explorations.

The reference is plain torch autograd in float64 on a dense (nodes, dim) table with a boolean mask, an age per entry,
dense matrix propagation and selection by sorting. It shares no code with the package but the sampled batches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from sparserec.data import Batch, Interactions, Sampler
from sparserec.data.interactions import IdMap
from sparserec.exploration import LargestScores, draw_candidates, prune_and_regrow, uniform_support
from sparserec.graph import build_adjacency
from sparserec.recommenders import make_recommender
from sparserec.recommenders.step import Stepper
from sparserec.table import InitialValues, Shape, SparseTable

N_USERS, N_ITEMS, DIM, LAYERS, DECAY, RATE = 18, 22, 10, 3, 0.02, 0.05


@dataclass
class MaskedDense:
    """A dense table of which masked entries are 0, with its own slow Adam and exploration."""

    values: torch.Tensor
    mask: np.ndarray
    operator: torch.Tensor
    width: int
    first: np.ndarray
    second: np.ndarray
    age: np.ndarray
    rows: np.ndarray
    accumulated: np.ndarray

    def step(self, batch: Batch, cumulative: bool) -> float:
        table = self.values.clone().requires_grad_()
        layer, total = table, table / (LAYERS + 1)
        for _ in range(LAYERS):
            layer = self.operator @ layer
            total = total + layer / (LAYERS + 1)
        users, positives = batch.users.astype(int), N_USERS + batch.positives.astype(int)
        negatives = N_USERS + batch.negatives[:, 0].astype(int)
        gap = (total[users] * (total[negatives] - total[positives])).sum(dim=1)
        squares = (table[np.concatenate([users, positives, negatives])] ** 2).sum()
        data_loss, penalty = torch.nn.functional.softplus(gap).mean(), DECAY * squares / 2 / len(users)
        data_gradient = torch.autograd.grad(data_loss, table, retain_graph=True)[0].numpy()
        self._adam(data_gradient + torch.autograd.grad(penalty, table)[0].numpy())
        # Regrowth ranks the gradient of the data term: on inactive entries decay would add nothing anyway.
        self.accumulated = data_gradient + (self.accumulated if cumulative else 0.0)
        return float((data_loss + penalty).detach())

    def _adam(self, gradient: np.ndarray) -> None:
        self.age += self.mask
        self.first = np.where(self.mask, 0.9 * self.first + 0.1 * gradient, 0.0)
        self.second = np.where(self.mask, 0.999 * self.second + 0.001 * gradient**2, 0.0)
        age = np.maximum(self.age, 1)
        mean, spread = self.first / (1 - 0.9**age), np.sqrt(self.second / (1 - 0.999**age))
        self.values = self.values - torch.from_numpy(self.mask * RATE * mean / (spread + 1e-8))

    def explore(self, fraction: float) -> None:
        magnitude, score = self.values.abs().numpy(), np.abs(self.accumulated)
        share = magnitude[:N_USERS].sum() / magnitude.sum()
        cells = [(r, c) for r in range(N_USERS + N_ITEMS) for c in range(DIM)]
        cells.sort(key=lambda cell: (cell[1] // self.width, cell))
        kept, count = self.mask.copy(), 0
        for users in (True, False):
            active = [cell for cell in cells if self.mask[cell] and (cell[0] < N_USERS) == users]
            smallest = sorted(active, key=lambda cell: magnitude[cell])[: round(fraction * len(active))]
            count += len(smallest)
            for cell in smallest:
                kept[cell] = False
        grown = []
        for users, quota in ((True, round(share * count)), (False, count - round(share * count))):
            able = [
                cell
                for cell in cells
                if not kept[cell] and cell[0] in self.rows and (cell[0] < N_USERS) == users
            ]
            grown += sorted(able, key=lambda cell: -score[cell])[:quota]
        assert (
            len(grown) == count
        )  # the test is set up so that no table overflows; spilling has its own tests
        self.mask = kept
        self.values = self.values * torch.from_numpy(kept)
        for array in (self.first, self.second, self.age):
            array[~kept] = 0
        for cell in grown:
            self.mask[cell] = True


def interactions() -> Interactions:
    pairs = np.unique(np.random.default_rng(0).integers(0, [N_USERS - 1, N_ITEMS - 1], (150, 2)), axis=0)
    users, items = pairs.astype(np.int32).T
    return Interactions.from_codes(users, items, IdMap(range(N_USERS)), IdMap(range(N_ITEMS)))


def operator(train: Interactions) -> torch.Tensor:
    matrix = np.zeros((N_USERS + N_ITEMS,) * 2)
    matrix[train.users, N_USERS + train.items] = 1.0
    matrix += matrix.T
    degree = np.maximum(matrix.sum(axis=1), 1)
    return torch.from_numpy(matrix / np.sqrt(np.outer(degree, degree)))


def masked_twin(table: SparseTable, train: Interactions) -> MaskedDense:
    shape = (N_USERS + N_ITEMS, DIM)
    values, mask = np.zeros(shape), np.zeros(shape, bool)
    rows, columns, start = table.entries()
    values[rows, columns], mask[rows, columns] = start, True
    return MaskedDense(
        torch.from_numpy(values), mask, operator(train), table.shape.width, np.zeros(shape), np.zeros(shape),
        np.zeros(shape, int), np.arange(0), np.zeros(shape),
    )  # fmt: skip


@pytest.mark.parametrize("cumulative", [True, False], ids=["cumulative", "instantaneous"])
@pytest.mark.parametrize(("width", "ratio"), [(10, 0.5), (4, 0.5), (3, 1.0)])
def test_sparse_is_dense_times_mask(width: int, ratio: float, cumulative: bool) -> None:
    train, rng = interactions(), np.random.default_rng(1)
    shape = Shape(N_USERS, N_ITEMS, DIM, width)
    table = SparseTable.create(shape, uniform_support(shape, 120, rng), InitialValues(4, "normal", 0.3, 0.3))
    twin = masked_twin(table, train)
    base = make_recommender("lightgcn", {"layers": LAYERS, "decay": DECAY})
    stepper = Stepper(base, build_adjacency(train), table, 0)
    sampler = Sampler(train, 40, 7, "users")
    for step in range(1, 16):
        if step % 5 == 1:
            twin.rows = draw_candidates(train.user_counts(), train.item_counts(), ratio, "log", rng)
            table.set_candidates(twin.rows, cumulative)
            twin.accumulated = np.zeros_like(twin.accumulated)
        batch = sampler.batch(step, 0)
        loss = stepper.run(batch, step, RATE)
        assert loss == pytest.approx(twin.step(batch, cumulative), rel=1e-5)
        if step % 5 == 0:
            prune_and_regrow(table, 0.3, step, LargestScores.accumulated(table))
            twin.explore(0.3)
        rows, columns, values = table.entries()
        assert len(rows) == twin.mask.sum() == 120
        assert twin.mask[rows, columns].all(), f"supports differ after step {step}"
        np.testing.assert_allclose(values, twin.values.numpy()[rows, columns], rtol=1e-3, atol=2e-5)
