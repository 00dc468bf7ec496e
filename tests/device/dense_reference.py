"""What the device computes, the obvious way: dense matrices, and a new user really inserted into the graph."""

from __future__ import annotations

import numpy as np
from toy import Base, Toy, operator


def filtered(matrix: np.ndarray, table: np.ndarray, weight: tuple[float, ...]) -> np.ndarray:
    """sum_k w_k matrix^k table."""
    total, power = weight[0] * table, table
    for coefficient in weight[1:]:
        power = matrix @ power
        total = total + coefficient * power
    return total


def final_vectors(toy: Toy, table: np.ndarray, base: Base) -> np.ndarray:
    """Final vectors of all users, then all items."""
    return filtered(operator(toy, base.self_loops), table, base.weight)


def inserted_user(
    toy: Toy, table: np.ndarray, base: Base, history: list[int], weights: list[float]
) -> np.ndarray:
    """Final vector of a user added as a last node that hears its items while they do not hear it."""
    loop = 1 if base.self_loops else 0
    nodes = toy.users + toy.items
    grown = np.zeros((nodes + 1, nodes + 1))
    grown[:nodes, :nodes] = operator(toy, base.self_loops)
    for item, weight in zip(history, weights):
        degree = max(toy.item_degree[item] + loop, 1)
        grown[nodes, toy.users + item] = weight / np.sqrt((len(history) + loop) * degree)
    grown[nodes, nodes] = loop / (len(history) + 1)
    return filtered(grown, np.vstack([table, np.zeros(toy.dim)]), base.weight)[nodes]
