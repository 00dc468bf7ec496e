"""A toy graph, sparse tables on it and the vectors each recommender would make: the raw material of the golden files.

Numbers come from random.Random, whose stream is fixed for good, and are rounded, so that files come out the same
everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np


@dataclass(frozen=True)
class Base:
    """A recommender as the device sees it: filter coefficients and whether its graph has self-loops."""

    name: str
    weight: tuple[float, ...]
    self_loops: bool = False


def mgdcf_weights(alpha: float, beta: float, layers: int) -> tuple[float, ...]:
    """alpha * beta^k, the last beta^layers, divided by their sum."""
    raw = [alpha * beta**k for k in range(layers)] + [beta**layers]
    return tuple(value / sum(raw) for value in raw)


BASES = {
    "lightgcn": Base("lightgcn", (0.25, 0.25, 0.25, 0.25)),
    "mgdcf": Base("mgdcf", mgdcf_weights(0.1, 0.9, 4)),
    "mgdcf-loops": Base("mgdcf", mgdcf_weights(0.1, 0.9, 4), self_loops=True),
    "xsimgcl": Base("xsimgcl", (0.0, 1 / 3, 1 / 3, 1 / 3)),
    "mf": Base("mf", (1.0,)),
}


@dataclass(frozen=True)
class Toy:
    """Users' items, and a layer-0 table with users first."""

    users: int
    items: int
    dim: int
    edges: tuple[np.ndarray, np.ndarray]
    layer0: np.ndarray  # (users + items, dim) float64, about a third of it not zero

    @property
    def item_degree(self) -> np.ndarray:
        return np.bincount(self.edges[1], minlength=self.items)


def make_toy(seed: int, users: int = 9, items: int = 24, dim: int = 12) -> Toy:
    """A random toy whose last user and last item have no edge: such nodes exist in real data."""
    random = Random(seed)
    pairs = [(u, i) for u in range(users - 1) for i in range(items - 1) if random.random() < 0.2]
    entries = [
        round(random.random() * 2 - 1, 3) if random.random() < 0.35 else 0.0
        for _ in range((users + items) * dim)
    ]
    return Toy(
        users,
        items,
        dim,
        (np.array([u for u, _ in pairs]), np.array([i for _, i in pairs])),
        np.array(entries).reshape(users + items, dim),
    )


def operator(toy: Toy, self_loops: bool) -> np.ndarray:
    """The symmetric normalised adjacency as a dense matrix."""
    size = toy.users + toy.items
    adjacency = np.zeros((size, size))
    adjacency[toy.edges[0], toy.users + toy.edges[1]] = 1
    adjacency += adjacency.T
    if self_loops:
        adjacency += np.eye(size)
    degree = adjacency.sum(axis=1)
    norm = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1)), 0)
    return norm[:, None] * adjacency * norm


def item_tables(toy: Toy, table: np.ndarray, base: Base) -> tuple[np.ndarray, list[np.ndarray]]:
    """Final item vectors, and the tables P^(q) for folding in new users (one, or one per layer with self-loops)."""
    powers = [table]
    for _ in base.weight[1:]:
        powers.append(operator(toy, base.self_loops) @ powers[-1])
    layers = len(base.weight) - 1
    final = np.tensordot(base.weight, powers, 1)
    fold = [
        np.tensordot(base.weight[q + 1 :], powers[: layers - q], 1)
        for q in range(layers if base.self_loops else min(layers, 1))
    ]
    return rounded(final[toy.users :]), [rounded(part[toy.users :]) for part in fold]


def rounded(table: np.ndarray) -> np.ndarray:
    """To multiples of 2^-12: what the last bits of a matrix product are depends on the machine."""
    return np.round(table * 4096) / 4096
