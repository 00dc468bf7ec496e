"""The column-block filter and its adjoint against dense matrix powers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from sparserec.data import Interactions
from sparserec.data.interactions import IdMap
from sparserec.graph import Adjacency, ColumnFilter, Tap, automatic_width, build_adjacency
from sparserec.graph.filter import LARGEST_BLOCK_BYTES

DIM = 7
LIGHTGCN: tuple[Tap, ...] = ((0.25,) * 4,)
CONTRAST: tuple[Tap, ...] = (
    (0.0, 1 / 3, 1 / 3, 1 / 3),
    (0.0, 1.0),
)  # a shorter second tap, nothing at layer 0
DECAYING: tuple[Tap, ...] = ((0.1, 0.09, 0.08, 0.07, 0.66), (0.0, 0.0, 0.5), (1.0,))
FACTORS: tuple[Tap, ...] = ((1.0,),)
ALL_TAPS = [LIGHTGCN, CONTRAST, DECAYING, FACTORS]
ROWS = [None, np.array([0, 3, 4, 11, 20], np.int32), np.arange(25, dtype=np.int32), np.array([], np.int32)]


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "loops"])
def graph(request: pytest.FixtureRequest) -> Adjacency:
    rng = np.random.default_rng(2)
    pairs = np.unique(rng.integers(0, [9, 13], (40, 2)), axis=0)  # users 9, 10 and items 13.. have nobody
    users, items = pairs.astype(np.int32).T
    return build_adjacency(
        Interactions.from_codes(users, items, IdMap(range(11)), IdMap(range(14))), request.param
    )


def column_blocks(dim: int, width: int) -> list[tuple[int, int]]:
    return [(start, min(width, dim - start)) for start in range(0, dim, width)]


def dense_of(graph: Adjacency, weights: np.ndarray | None = None) -> np.ndarray:
    matrix = np.zeros((graph.n_nodes, graph.n_nodes))
    sources = np.repeat(np.arange(graph.n_nodes), graph.degrees())
    matrix[sources, graph.neighbours] = graph.weights if weights is None else weights
    return matrix


def reference(matrix: np.ndarray, taps: Sequence[Tap], table: np.ndarray) -> list[np.ndarray]:
    return [
        sum((c * np.linalg.matrix_power(matrix, k) @ table for k, c in enumerate(tap)), np.zeros_like(table))
        for tap in taps
    ]


def run_forward(filters: ColumnFilter, table: np.ndarray, width: int, n_rows: int) -> list[np.ndarray]:
    outputs = [np.full((n_rows, DIM), np.nan, table.dtype) for _ in filters.taps]
    for start, size in column_blocks(DIM, width):
        filters.input(size).copy_(torch.from_numpy(table[:, start : start + size]))
        filters.forward(size, [out[:, start : start + size] for out in outputs], first_column=start)
    return outputs


def run_adjoint(filters: ColumnFilter, gradients: list[np.ndarray], width: int, nodes: int) -> np.ndarray:
    total = np.empty((nodes, DIM), gradients[0].dtype)
    for start, size in column_blocks(DIM, width):
        block = filters.adjoint(size, [g[:, start : start + size] for g in gradients])
        total[:, start : start + size] = block.numpy()
    return total


@pytest.mark.parametrize("taps", ALL_TAPS)
def test_blocked_equals_unblocked_equals_dense_powers(graph: Adjacency, taps: tuple[Tap, ...]) -> None:
    table = np.random.default_rng(3).standard_normal((graph.n_nodes, DIM)).astype(np.float32)
    expected = reference(dense_of(graph), taps, table.astype(np.float64))
    for rows in ROWS:
        wanted = np.arange(graph.n_nodes) if rows is None else rows
        for width in (1, 2, 3, 5, DIM):
            filters = ColumnFilter(graph, taps, width)
            filters.begin(rows)
            for got, dense in zip(run_forward(filters, table, width, len(wanted)), expected):
                np.testing.assert_allclose(got, dense[wanted], atol=3e-6)


@pytest.mark.parametrize("taps", ALL_TAPS)
@pytest.mark.parametrize("rows", ROWS, ids=["all", "some", "listed", "none"])
def test_adjoint_is_the_transpose(graph: Adjacency, taps: tuple[Tap, ...], rows: np.ndarray | None) -> None:
    rng = np.random.default_rng(4)
    table = rng.standard_normal((graph.n_nodes, DIM))
    n_rows = graph.n_nodes if rows is None else len(rows)
    gradients = [rng.standard_normal((n_rows, DIM)) for _ in taps]
    filters = ColumnFilter(graph, taps, 3, torch.float64)
    filters.begin(rows)
    outputs = run_forward(filters, table, 3, n_rows)
    back = run_adjoint(filters, gradients, 3, graph.n_nodes)
    ahead = sum(float((out * g).sum()) for out, g in zip(outputs, gradients))
    assert float((table * back).sum()) == pytest.approx(ahead, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("taps", ALL_TAPS)
def test_unsymmetric_weights_need_and_use_their_transpose(graph: Adjacency, taps: tuple[Tap, ...]) -> None:
    rng = np.random.default_rng(5)
    weights = rng.standard_normal(len(graph.weights))
    matrix = dense_of(graph, weights)
    sources = np.repeat(np.arange(graph.n_nodes), graph.degrees())
    transposed = matrix[graph.neighbours, sources]  # the pattern is symmetric, the weights are not
    rows = np.array([1, 2, 12, 24], np.int32)
    table, gradients = (
        rng.standard_normal((graph.n_nodes, DIM)),
        [rng.standard_normal((4, DIM)) for _ in taps],
    )
    filters = ColumnFilter(graph, taps, 4, torch.float64)
    filters.begin(rows, weights, transposed)
    for got, dense in zip(run_forward(filters, table, 4, 4), reference(matrix, taps, table)):
        np.testing.assert_allclose(got, dense[rows], atol=1e-10)
    scattered = [np.zeros_like(table) for _ in taps]
    for full, gradient in zip(scattered, gradients):
        full[rows] = gradient
    expected = sum(reference(matrix.T, [tap], full)[0] for tap, full in zip(taps, scattered))
    np.testing.assert_allclose(run_adjoint(filters, gradients, 4, graph.n_nodes), expected, atol=1e-10)


def test_one_direction_of_unsymmetric_weights_is_refused(graph: Adjacency) -> None:
    filters = ColumnFilter(graph, LIGHTGCN, DIM)
    with pytest.raises(AssertionError, match="both directions"):
        filters.begin(None, graph.weights)


def test_noise_enters_every_layer_and_is_carried_on(graph: Adjacency) -> None:
    def amount(layer: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.sin(100.0 * layer + rows[:, None] + 0.1 * columns[None, :])

    def noise(layer: int, block: np.ndarray, rows: np.ndarray | None, first_column: int) -> None:
        nodes = np.arange(graph.n_nodes) if rows is None else rows
        block += amount(layer, nodes, first_column + np.arange(block.shape[1]))

    rng, rows = np.random.default_rng(6), np.array([2, 9, 21], np.int32)
    table, matrix = rng.standard_normal((graph.n_nodes, DIM)), dense_of(graph)
    layer, total = table, 0.25 * table
    for k in (1, 2, 3):
        layer = matrix @ layer + amount(k, np.arange(graph.n_nodes), np.arange(DIM))
        total = total + 0.25 * layer
    filters = ColumnFilter(graph, LIGHTGCN, 3, torch.float64)
    filters.begin(rows)
    output = np.empty((3, DIM))
    for start, size in column_blocks(DIM, 3):
        filters.input(size).copy_(torch.from_numpy(table[:, start : start + size]))
        filters.forward(size, [output[:, start : start + size]], noise, start)
    np.testing.assert_allclose(output, total[rows], atol=1e-10)


def test_a_new_step_forgets_the_last_one(graph: Adjacency) -> None:
    table = np.random.default_rng(7).standard_normal((graph.n_nodes, DIM)).astype(np.float32)
    used, fresh = ColumnFilter(graph, CONTRAST, 3), ColumnFilter(graph, CONTRAST, 3)
    used.begin(np.array([1, 5], np.int32), graph.weights * 2, graph.weights * 2)
    run_forward(used, table, 3, 2)
    run_adjoint(used, [np.ones((2, DIM), np.float32)] * 2, 3, graph.n_nodes)
    for filters in (used, fresh):
        filters.begin(ROWS[1])
    for got, expected in zip(run_forward(used, table, 3, 5), run_forward(fresh, table, 3, 5)):
        np.testing.assert_array_equal(got, expected)


def test_scratch_is_two_blocks(graph: Adjacency) -> None:
    assert ColumnFilter(graph, DECAYING, 3).nbytes == 2 * graph.n_nodes * 3 * 4


def test_width_shrinks_when_a_block_leaves_the_cache() -> None:
    largest = LARGEST_BLOCK_BYTES // (32 * 4)  # nodes of which 32 columns just fit
    assert automatic_width(largest, 128) == 32
    assert automatic_width(largest + 1, 128) == 16
    assert automatic_width(10, 5) == 5
