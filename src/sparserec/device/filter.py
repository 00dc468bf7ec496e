"""The polynomial graph filter on one vector: sum_k w_k S^k x, S the normalised adjacency, never a dense matrix.

A vector over the nodes is a pair (users' part, items' part); None stands for a part that is zero or that nobody asks
for. Without self-loops each step then touches one side of the graph only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .exact import bits_for, snap
from .graph import BLOCK_EDGES, Graph
from .table import row_blocks

Pair = tuple[np.ndarray | None, np.ndarray | None]


@dataclass(frozen=True)
class GraphFilter:
    """S of a graph, with what it needs at hand."""

    graph: Graph
    self_loops: bool
    user_norm: np.ndarray  # (users,) degree^-1/2
    item_norm: np.ndarray
    grid_bits: int

    def step(self, x: Pair, want_users: bool = True, want_items: bool = True) -> Pair:
        """S x, only the parts asked for."""
        z_users = None if x[0] is None else snap(x[0] * self.user_norm, self.grid_bits)
        z_items = None if x[1] is None else snap(x[1] * self.item_norm, self.grid_bits)
        users = self._sum(self._to_users, z_items, z_users, self.user_norm) if want_users else None
        items = self._sum(self._to_items, z_users, z_items, self.item_norm) if want_items else None
        return users, items

    def spread(self, coefficients: np.ndarray, x: Pair) -> Pair:
        """The filter by powers: cheap when x lives on one side of the graph."""
        total = _scaled(x, coefficients[0])
        for coefficient in coefficients[1:]:
            x = self.step(x)
            total = _added(total, _scaled(x, coefficient))
        return total

    def gather(self, coefficients: np.ndarray, x: Pair) -> np.ndarray:
        """The items' part of the filter, by Horner's rule: cheap because only one side is wanted at each step."""
        last = len(coefficients) - 1
        h = _scaled(x, coefficients[last])
        for k in range(last - 1, -1, -1):
            items_wanted = self.self_loops or k % 2 == 0
            users_wanted = (self.self_loops and k > 0) or k % 2 == 1
            own = (x[0] if users_wanted else None, x[1] if items_wanted else None)
            h = _added(_scaled(own, coefficients[k]), self.step(h, users_wanted, items_wanted))
        assert h[1] is not None
        return h[1]

    def _sum(
        self,
        neighbours: Callable[[np.ndarray], np.ndarray],
        other: np.ndarray | None,
        own: np.ndarray | None,
        norm: np.ndarray,
    ) -> np.ndarray | None:
        total = None if other is None else neighbours(other)
        if self.self_loops and own is not None:
            total = own if total is None else total + own
        return None if total is None else norm * total

    def _to_users(self, z: np.ndarray) -> np.ndarray:
        graph, total = self.graph, np.zeros(len(self.user_norm))
        for first, last in row_blocks(graph.start, BLOCK_EDGES):
            starts = graph.start[first : last + 1]
            used = np.flatnonzero(starts[1:] > starts[:-1])
            if len(used):
                values = z.take(graph.item[starts[0] : starts[-1]])
                total[first + used] = np.add.reduceat(values, starts[:-1][used] - starts[0])
        return total

    def _to_items(self, z: np.ndarray) -> np.ndarray:
        graph, total = self.graph, np.zeros(len(self.item_norm))
        for first, last in row_blocks(graph.start, max(BLOCK_EDGES, len(total))):
            items = graph.item[graph.start[first] : graph.start[last]]
            total += np.bincount(items, np.repeat(z[first:last], graph.count[first:last]), len(total))
        return total


def graph_filter(graph: Graph, self_loops: bool) -> GraphFilter:
    """Degrees, norms and the grid on which sums over neighbours are exact."""
    loop = 1 if self_loops else 0
    largest = max(int(graph.count.max(initial=0)), int(graph.item_degree.max(initial=0)))
    norms = _norms(graph.count, loop), _norms(graph.item_degree, loop)
    return GraphFilter(graph, self_loops, *norms, 52 - bits_for(largest + 1))


def _norms(degrees: np.ndarray, loop: int) -> np.ndarray:
    wide = degrees.astype(np.float64) + loop
    return np.divide(1.0, np.sqrt(wide), out=np.zeros_like(wide), where=wide > 0)


def _scaled(x: Pair, factor: float) -> Pair:
    return (None if x[0] is None else factor * x[0], None if x[1] is None else factor * x[1])


def _added(a: Pair, b: Pair) -> Pair:
    users = b[0] if a[0] is None else a[0] if b[0] is None else a[0] + b[0]
    items = b[1] if a[1] is None else a[1] if b[1] is None else a[1] + b[1]
    return users, items
