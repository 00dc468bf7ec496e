"""Every base as plain dense algebra with autograd in double precision: the slow versions that ours must equal.

Masks and noise are drawn here entry by entry from the counter functions; nothing of the filter, the tables or the
losses under test is used.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

from sparserec.data import Batch, Interactions
from sparserec.data.interactions import IdMap
from sparserec.graph import Adjacency


def toy_interactions() -> Interactions:
    """11 users and 14 items, some of which have nobody."""
    pairs = np.unique(np.random.default_rng(2).integers(0, [9, 12], (45, 2)), axis=0)
    users, items = pairs.astype(np.int32).T
    return Interactions.from_codes(users, items, IdMap(range(11)), IdMap(range(14)))


def toy_batch(train: Interactions, edges: int, per_edge: int, group_size: int, seed: int = 5) -> Batch:
    """Random train edges, repeats included, and random negatives."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, len(train), edges)
    shape = -(-edges // group_size), per_edge
    negatives = rng.integers(0, train.n_items, shape).astype(np.int32)
    return Batch(train.users[chosen], train.items[chosen], negatives)


def dense_matrix(graph: Adjacency) -> np.ndarray:
    matrix = np.zeros((graph.n_nodes, graph.n_nodes))
    sources = np.repeat(np.arange(graph.n_nodes), graph.degrees())
    matrix[sources, graph.neighbours] = graph.weights
    return matrix


def mask_of(key: np.uint64, rate: float, rows: int, columns: int) -> torch.Tensor:
    """Dropout factors of a whole matrix."""
    keep = float(np.float32(1.0 / (1.0 - rate)))
    return torch.tensor(
        [[0.0 if share(key, r, c) + 2**-25 < rate else keep for c in range(columns)] for r in range(rows)],
        dtype=torch.float64,
    )


def unit_rows(key: np.uint64, rows: int, columns: int) -> torch.Tensor:
    """Uniform numbers of a whole matrix, each row scaled to length 1."""
    drawn = [[share(key, r, c) for c in range(columns)] for r in range(rows)]
    return functional.normalize(torch.tensor(drawn, dtype=torch.float64), dim=1)


def share(key: np.uint64, row: int, column: int) -> float:
    """The position's number in [0, 1), in steps of 2^-24."""
    return (bits_of(key, row, column) >> 40) / (1 << 24)


def bits_of(key: np.uint64, row: int, column: int) -> int:
    """splitmix64 of a position in Python's whole numbers."""
    wide = (1 << 64) - 1
    z = (int(key) + row * 0x9E3779B97F4A7C15 + column * 0xD1B54A32D192ED03) & wide
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & wide
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & wide
    return z ^ (z >> 31)


def propagate(matrix: torch.Tensor, table: torch.Tensor, layers: int) -> list[torch.Tensor]:
    """table, S table, S^2 table, ..."""
    every = [table]
    for _ in range(layers):
        every.append(matrix @ every[-1])
    return every


def propagate_with_noise(
    matrix: torch.Tensor, table: torch.Tensor, pushes: list[torch.Tensor]
) -> list[torch.Tensor]:
    """Layers 1.. with sign(layer) * push added to each before the next is taken."""
    every = [table]
    for push in pushes:
        layer = matrix @ every[-1]
        every.append(layer + torch.sign(layer) * push)
    return every[1:]


def diffuse(
    matrix: torch.Tensor, table: torch.Tensor, layers: int, restart: float, hop: float
) -> torch.Tensor:
    """MGDCF's recursion as its authors write it."""
    state = table
    for _ in range(layers):
        state = hop * (matrix @ state) + restart * table
    return state / (hop**layers + restart * sum(hop**i for i in range(layers)))


def pair_lead(z: torch.Tensor, batch: Batch, n_users: int) -> torch.Tensor:
    """Score of the positive minus score of the first negative, per edge."""
    user = z[batch.users]
    return (user * (z[n_users + batch.positives] - z[n_users + batch.negatives[:, 0]])).sum(1)


def ego_term(table: torch.Tensor, batch: Batch, n_users: int, decay: float) -> torch.Tensor:
    """decay / (2B) times the squared rows of every triple."""
    rows = (table[batch.users], table[n_users + batch.positives], table[n_users + batch.negatives[:, 0]])
    return decay * torch.stack([part.square().sum() for part in rows]).sum() / 2 / len(batch.users)


def info_bpr_mean(z: torch.Tensor, batch: Batch, n_users: int, group_size: int) -> torch.Tensor:
    """Cross-entropy of the positive among its edge's negatives, edge by edge."""
    losses = []
    for edge, (user, positive) in enumerate(zip(batch.users, batch.positives)):
        others = [positive, *batch.negatives[edge // group_size]]
        scores = z[n_users + np.array(others)] @ z[user]
        losses.append(functional.cross_entropy(scores[None], torch.tensor([0])))
    return torch.stack(losses).mean()


def info_nce_mean(left: torch.Tensor, right: torch.Tensor, temperature: float) -> torch.Tensor:
    """All pairs at once."""
    scores = functional.normalize(left, dim=1) @ functional.normalize(right, dim=1).T / temperature
    return -functional.log_softmax(scores, dim=1).diagonal().mean()
