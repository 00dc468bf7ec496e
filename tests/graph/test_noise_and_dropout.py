"""Noise and masks from counters: what they are, and that blocks, rows and both passes see the same."""

from __future__ import annotations

import numpy as np
import pytest

from sparserec.counter import key_of
from sparserec.data import Interactions
from sparserec.data.interactions import IdMap
from sparserec.graph import Adjacency, build_adjacency
from sparserec.graph.dropout import decay_gradient, drop_entries, dropped_weights
from sparserec.graph.noise import SignedNoise

NODES, DIM = 300, 24


def layer(dtype: type = np.float64) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((NODES, DIM)).astype(dtype)


def pushed(start: np.ndarray, noise: SignedNoise, width: int, rows: np.ndarray | None = None) -> np.ndarray:
    """Noise added block by block."""
    out = start.copy() if rows is None else start[rows]
    for first in range(0, DIM, width):
        block = np.ascontiguousarray(out[:, first : first + width])
        noise(2, block, rows, first)
        out[:, first : first + width] = block
    return out


def test_every_row_moves_by_exactly_the_size_away_from_zero() -> None:
    start = layer()
    moved = pushed(start, SignedNoise(0.2, NODES, DIM, 1, 2, 3), 5) - start
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), 0.2, rtol=1e-6)
    assert (np.sign(moved) == np.sign(start)).all()


@pytest.mark.parametrize("width", [1, 7, 16])
def test_blocks_and_chosen_rows_get_the_same_noise_as_the_whole(width: int) -> None:
    start, noise = layer(np.float32), SignedNoise(0.1, NODES, DIM, 1, 2, 3)
    whole = pushed(start, noise, DIM)
    np.testing.assert_array_equal(pushed(start, noise, width), whole)
    rows = np.array([0, 5, 17, 299], np.int32)
    fresh = SignedNoise(0.1, NODES, DIM, 1, 2, 3)
    np.testing.assert_array_equal(pushed(start, fresh, width, rows), whole[rows])


def test_zeros_stay_zero_and_size_zero_changes_nothing() -> None:
    start = layer()
    start[3], start[5, ::2] = 0.0, 0.0
    moved = pushed(start, SignedNoise(0.2, NODES, DIM, 1), 8)
    assert (moved[start == 0.0] == 0.0).all()
    np.testing.assert_array_equal(pushed(start, SignedNoise(0.0, NODES, DIM, 1), 8), start)


def test_noise_looks_uniform_and_differs_by_step_and_layer() -> None:
    ones = np.ones((NODES, DIM))
    first, other = SignedNoise(1.0, NODES, DIM, 1, 2), SignedNoise(1.0, NODES, DIM, 1, 3)
    drawn = (pushed(ones, first, DIM) - 1.0) / first.scale(2, None)[:, None]
    assert drawn.mean() == pytest.approx(0.5, abs=0.02) and drawn.std() == pytest.approx(12**-0.5, abs=0.01)
    neighbours = [np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1],
                  np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1]]  # fmt: skip
    assert np.abs(neighbours).max() < 0.05
    assert first.key(1) != first.key(2) and first.key(1) != other.key(1)


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "loops"])
def graph(request: pytest.FixtureRequest) -> Adjacency:
    pairs = np.unique(np.random.default_rng(1).integers(0, [40, 60], (900, 2)), axis=0)
    users, items = pairs.astype(np.int32).T
    return build_adjacency(
        Interactions.from_codes(users, items, IdMap(range(40)), IdMap(range(60))), request.param
    )


def matrix_of(graph: Adjacency, weights: np.ndarray) -> np.ndarray:
    matrix = np.zeros((graph.n_nodes, graph.n_nodes), np.float32)
    matrix[np.repeat(np.arange(graph.n_nodes), graph.degrees()), graph.neighbours] = weights
    return matrix


def test_dropped_edges_and_their_transpose_are_one_mask(graph: Adjacency) -> None:
    whole = matrix_of(graph, graph.weights)
    weights, transposed = (matrix_of(graph, part) for part in dropped_weights(graph, key_of(4, 5), 0.25))
    np.testing.assert_array_equal(weights.T, transposed)
    kept = weights[whole != 0.0] / whole[whole != 0.0]
    assert set(np.round(kept, 5)) == {np.float32(0.0), np.round(np.float32(4 / 3), 5)}
    assert (kept == 0.0).mean() == pytest.approx(0.25, abs=0.03)
    assert (weights != transposed).any()  # the two directions of an edge are dropped by themselves


def test_output_mask_is_the_same_for_rows_and_gradient_and_in_the_decay_of_all_rows() -> None:
    key, rows = key_of(6, 7), np.array([2, 3, 150, 299], np.int32)
    whole, part = layer(), layer()[rows]
    drop_entries(whole, np.arange(NODES, dtype=np.int32), key, 0.4)
    drop_entries(part, rows, key, 0.4)
    np.testing.assert_array_equal(part, whole[rows])
    gradient = layer()
    penalty = sum(
        decay_gradient(block, first, key, 0.4, 0.5)
        for first in range(0, DIM, 6)
        for block in [gradient[:, first : first + 6]]
    )
    assert penalty == pytest.approx(0.25 * (whole**2).sum())
    factor = float(np.float32(1 / 0.6))
    np.testing.assert_allclose(gradient, 0.5 * factor * whole, rtol=1e-12)
