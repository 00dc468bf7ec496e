"""The adjacency against a dense construction by definition, isolated nodes and self-loops included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import Interactions
from sparserec.data.interactions import IdMap
from sparserec.errors import DataError
from sparserec.graph import Adjacency, adjacency, build_adjacency


def interactions(n_users: int, n_items: int, pairs: set[tuple[int, int]]) -> Interactions:
    users, items = np.array(sorted(pairs), np.int32).reshape(-1, 2).T
    return Interactions.from_codes(users, items, IdMap(range(n_users)), IdMap(range(n_items)))


def dense_of(graph: Adjacency) -> np.ndarray:
    matrix = np.zeros((graph.n_nodes, graph.n_nodes))
    for row in range(graph.n_nodes):
        for edge in range(graph.offsets[row], graph.offsets[row + 1]):
            matrix[row, graph.neighbours[edge]] += graph.weights[edge]
    return matrix


def by_definition(n_users: int, n_items: int, pairs: set[tuple[int, int]], loops: bool) -> np.ndarray:
    matrix = np.zeros((n_users + n_items,) * 2)
    for user, item in pairs:
        matrix[user, n_users + item] = matrix[n_users + item, user] = 1.0
    matrix += np.eye(len(matrix)) * loops
    degree = matrix.sum(axis=1)
    root = np.array([1 / np.sqrt(d) if d else 0.0 for d in degree])
    return root[:, None] * matrix * root[None, :]


@st.composite
def bipartite(draw: st.DrawFn) -> tuple[int, int, set[tuple[int, int]]]:
    n_users, n_items = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    pair = st.tuples(st.integers(0, n_users - 1), st.integers(0, n_items - 1))
    return n_users, n_items, draw(st.sets(pair, max_size=20))


@given(bipartite(), st.booleans())
def test_equals_the_definition(drawn: tuple[int, int, set[tuple[int, int]]], loops: bool) -> None:
    n_users, n_items, pairs = drawn
    graph = build_adjacency(interactions(*drawn), loops)
    np.testing.assert_allclose(dense_of(graph), by_definition(n_users, n_items, pairs, loops), rtol=2e-7)
    assert graph.offsets.dtype == graph.neighbours.dtype == np.int32 and graph.weights.dtype == np.float32
    assert len(graph.neighbours) == 2 * len(pairs) + loops * graph.n_nodes
    for row in range(graph.n_nodes):
        assert np.all(np.diff(graph.neighbours[graph.offsets[row] : graph.offsets[row + 1]]) > 0)


def test_hand_worked() -> None:
    # user 0 likes items 0 and 1, user 1 likes item 1, user 2 and item 2 have nobody
    graph = build_adjacency(interactions(3, 3, {(0, 0), (0, 1), (1, 1)}))
    assert graph.offsets.tolist() == [0, 2, 3, 3, 4, 6, 6]
    assert graph.neighbours.tolist() == [3, 4, 4, 0, 0, 1]
    np.testing.assert_allclose(graph.weights, [2**-0.5, 0.5, 2**-0.5, 2**-0.5, 0.5, 2**-0.5], rtol=1e-6)
    assert graph.degrees().tolist() == [2, 1, 0, 1, 2, 0]
    assert graph.nbytes == 4 * (7 + 6 + 6)


def test_more_edges_than_int32_can_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adjacency, "MOST_ENTRIES", 5)
    with pytest.raises(DataError, match="6 adjacency entries"):
        build_adjacency(interactions(3, 3, {(0, 0), (0, 1), (1, 1)}))
