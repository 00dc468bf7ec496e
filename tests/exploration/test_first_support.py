"""Where the support starts: uniform, and from given factors that are too dense or too sparse."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import Interactions
from sparserec.data.interactions import IdMap
from sparserec.errors import SettingError
from sparserec.exploration import (
    Factors,
    active_target,
    nmf_support,
    positions_per_block,
    select,
    uniform_support,
)
from sparserec.exploration.nmf import NmfInfo
from sparserec.methods import Context, Phase, StepInfo, make_method
from sparserec.table import InitialValues, Shape, SparseTable

INFO = NmfInfo(0.0, 0, 0.0, 0.0, 1, False)


def factors(matrix: np.ndarray) -> Factors:
    rows, columns = np.nonzero(matrix)
    values = matrix[rows, columns].astype(np.float32)
    return Factors(rows.astype(np.int32), columns.astype(np.int16), values, matrix.shape[1], INFO)


def cells(shape: Shape, support: list[np.ndarray]) -> set[tuple[int, int]]:
    return {
        (int(p) // width, start + int(p) % width)
        for positions, (start, width) in zip(support, shape.blocks)
        for p in positions
    }


@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(1, 7),
    st.integers(1, 7),
    st.floats(0, 1),
    st.integers(0, 99),
)
def test_uniform_support_is_exact_sorted_and_inside(
    n_users: int, n_items: int, dim: int, width: int, density: float, seed: int
) -> None:
    shape = Shape(n_users, n_items, dim, min(width, dim))
    target = round(density * shape.n_rows * dim)
    support = uniform_support(shape, target, np.random.default_rng(seed))
    assert sum(map(len, support)) == len(cells(shape, support)) == target
    for positions, (_, size) in zip(support, shape.blocks):
        assert positions.dtype == np.int32 and np.all(np.diff(positions) > 0)
        assert all(0 <= p < shape.n_rows * size for p in positions)


@pytest.mark.parametrize("target", [3, 9])
def test_uniform_support_is_uniform_over_the_whole_table(target: int) -> None:
    shape, rng, draws = Shape(2, 2, 3, 2), np.random.default_rng(0), 4000
    seen = Counter(cell for _ in range(draws) for cell in cells(shape, uniform_support(shape, target, rng)))
    chance = target / 12
    assert len(seen) == 12
    for count in seen.values():
        assert count / draws == pytest.approx(chance, abs=4.5 * (chance * (1 - chance) / draws) ** 0.5)


def test_blocks_of_a_huge_table_get_their_share() -> None:
    """numpy's hypergeometric draw ends at a billion positions; a table may have more."""
    shape = Shape(4_000_000, 5_000_000, 128, 16)
    support = uniform_support(shape, 4000, np.random.default_rng(0))
    assert sum(map(len, support)) == 4000
    assert all(abs(len(positions) - 500) < 120 for positions in support)


def test_target_is_rounded_and_needs_an_entry_per_table() -> None:
    assert active_target(Shape(3, 4, 10, 5), 0.125) == 9
    with pytest.raises(SettingError, match=r"density 0.001 leaves 0 parameters of 7 x 10"):
        active_target(Shape(3, 4, 10, 5), 0.001)


def test_columns_are_scaled_to_equal_norm_and_the_product_stays() -> None:
    rng = np.random.default_rng(3)
    users, items = rng.random((4, 3)), rng.random((5, 3)) * [1, 10, 100]
    rows, columns, values = factors(np.concatenate([users, items])).scaled_entries(4)
    scaled = np.zeros((9, 3))
    scaled[rows, columns] = values
    np.testing.assert_allclose(
        np.linalg.norm(scaled[:4], axis=0), np.linalg.norm(scaled[4:], axis=0), rtol=1e-5
    )
    np.testing.assert_allclose(scaled[:4] @ scaled[4:].T, users @ items.T, rtol=1e-5)


def test_too_dense_factors_keep_the_largest_of_each_table() -> None:
    # Users have 6 non-zeros, items 3; a target of 6 is shared 4 to 2. Column norms are equal already.
    matrix = np.array([[3, 0, 1], [0, 2, 2], [1, 1, 0], [np.sqrt(10), 0, 0], [0, np.sqrt(5), np.sqrt(5)]])
    shape = Shape(3, 2, 3, 2)
    support = nmf_support(shape, 6, factors(matrix))
    # Users: 3, 2, 2 and of three equal ones the first by row. Items: sqrt(10), then of equal ones the first column.
    assert cells(shape, support) == {(0, 0), (1, 1), (1, 2), (0, 2), (3, 0), (4, 1)}


@given(st.integers(2, 6), st.integers(2, 6), st.integers(2, 5), st.integers(0, 999), st.floats(0.05, 1))
def test_factors_give_at_most_the_target_and_exactly_it_when_they_can(
    n_users: int, n_items: int, dim: int, seed: int, density: float
) -> None:
    shape, rng = Shape(n_users, n_items, dim, 2), np.random.default_rng(seed)
    matrix = rng.random((shape.n_rows, dim)) * (rng.random((shape.n_rows, dim)) < 0.6)
    matrix[0, 0] = matrix[-1, 0] = 1.0  # each table has a non-zero
    target = max(2, round(density * matrix.size))
    support = cells(shape, nmf_support(shape, target, factors(matrix)))
    nonzero = {(int(r), int(c)) for r, c in zip(*np.nonzero(matrix))}
    assert support <= nonzero and len(support) == min(target, len(nonzero))
    of_users = sum(r < n_users for r, _ in nonzero)
    if len(nonzero) > target:
        share = target * of_users / len(nonzero)
        assert abs(sum(r < n_users for r, _ in support) - share) <= 1


def test_positions_per_block_hand_worked() -> None:
    shape = Shape(1, 2, 5, 2)
    found = positions_per_block(shape, np.array([2, 0, 1, 0]), np.array([4, 1, 3, 2]))
    assert [positions.tolist() for positions in found] == [[1], [0, 3], [2]]


def test_strongest_component_of_every_row() -> None:
    # Column norms are equal already; the third user has nothing.
    matrix = np.array([[0, 2, 1], [2, 0, 0], [0, 0, 0], [0, 0, 1], [2, 0, 0], [0, 2, 0]], float)
    assert factors(matrix).strongest(6, 3).tolist() == [1, 0, 3, 2, 0, 1]


# -- too sparse: the method fills over the first epochs -------------------------------------------------------------


def test_too_sparse_factors_are_filled_over_epochs_up_to_the_exact_target() -> None:
    rng, n_users, n_items, dim = np.random.default_rng(0), 40, 60, 16
    users, items = rng.integers(0, n_users, 400, np.int32), rng.integers(0, n_items, 400, np.int32)
    train = Interactions.from_codes(users, items, IdMap(range(n_users)), IdMap(range(n_items)))
    matrix = rng.random((100, dim)) * (rng.random((100, dim)) < 0.05)
    matrix[0, 0] = matrix[-1, 0] = 1.0
    context = Context(
        train,
        dim,
        0.25,
        40,
        3,
        0,
        lambda dim: InitialValues(0, "normal", 0.1, 0.1),
        factors(matrix),
        explore_every=2,
    )
    method, phase = make_method("sparserec", {"candidate_ratio": 0.5}), Phase("train", 40)
    table = method.start(context, phase, None)
    assert isinstance(table, SparseTable)
    target, sizes, events = 400, [table.parameters()], []
    assert sizes[0] == np.count_nonzero(matrix) < target
    for step in range(1, 61):
        assert table.candidates is not None
        table.candidates.accumulated[:] = rng.standard_normal(table.candidates.accumulated.shape)
        now = StepInfo(phase, step, (step + 2) // 3, 3, 0.01)
        heard = replace(context, record=lambda event, step=step, **values: events.append((event, step)))
        method.after_step(heard, table, now)
        inactive = 100 * dim * 0.5  # at most: half of the rows are candidates
        assert table.parameters() - sizes[-1] <= 0.25 * inactive + 2
        sizes.append(table.parameters())
    fills = [step for event, step in events if event == "fill"]
    assert fills == [3, 6] or fills == [3, 6, 9]  # at the ends of the first epochs
    assert sizes[fills[-1]] == target and set(sizes[fills[-1] :]) == {target}
    explored = [step for event, step in events if event == "explore"]
    assert explored == list(range(fills[-1] + 6, 61, 6)), "two epochs after the last fill, then every two"


@pytest.mark.parametrize("count", [70, 71, 139, 300, 350])
def test_kept_entries_are_allocated_to_rows_first(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against sorting: every row's best, then the largest of the others; the same whatever the stretch of rows."""
    monkeypatch.setattr(select, "ROWS_AT_ONCE", 16)
    shape, rng = Shape(30, 40, 20, 8), np.random.default_rng(4)
    support = uniform_support(shape, 350, rng)
    table = SparseTable(shape, support, rng.normal(size=350).astype(np.float32))
    rows, _, values = table.entries()
    taken = np.zeros(350, bool)
    for row in range(70):
        own = np.flatnonzero(rows == row)
        taken[own[np.argsort(-np.abs(values[own]))][: count // 70]] = True
    left = np.flatnonzero(~taken)
    taken[left[np.argsort(-np.abs(values[left]))][: count - taken.sum()]] = True
    kept = select.mark_kept(table, count)
    assert kept.sum() == count
    np.testing.assert_array_equal(kept, taken)


def test_rows_may_be_sure_of_different_numbers_of_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row j keeps its best j; a row that has fewer leaves the rest to the largest of the others."""
    monkeypatch.setattr(select, "ROWS_AT_ONCE", 2)
    shape = Shape(0, 4, 4, 4)
    values = np.array([4, 9, 1, 2, 3, 8, -7, 5], np.float32)  # rows: two, three, one and two entries
    table = SparseTable(shape, [np.array([0, 3, 4, 5, 6, 9, 12, 13], np.int32)], values)
    kept = select.mark_kept(table, 6, np.array([0, 1, 2, 3]))
    assert values[kept].tolist() == [4, 9, 3, 8, -7, 5], "row 1 keeps its 3, rows 2 and 3 all, then 9 and 4"
