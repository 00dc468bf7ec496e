"""The one function that moves values, moments and ages, against a dictionary; and what tables store and weigh."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sparserec.errors import SettingError
from sparserec.table import (
    DenseTable,
    EntryDropout,
    InitialValues,
    MaskedTable,
    Shape,
    SparseTable,
    ThresholdedTable,
    Thresholds,
    Update,
    total,
)

Entry = tuple[float, float, float, int]  # value, first, second, birth


def dictionary(table: SparseTable) -> dict[tuple[int, int], Entry]:
    rows, columns, values = table.entries()
    births = [table.cohorts.births[age] for age in table.ages]
    return {
        (int(r), int(c)): (float(v), float(m), float(s), b)
        for r, c, v, m, s, b in zip(rows, columns, values, table.first, table.second, births)
    }


@st.composite
def changes(draw: st.DrawFn) -> tuple[Shape, list[tuple[set[tuple[int, int]], set[tuple[int, int]], bool]]]:
    """A shape and a few (dropped, wanted, with given values) changes; what may be dropped or grown is
    worked out later.
    """
    dim = draw(st.integers(1, 6))
    shape = Shape(draw(st.integers(1, 3)), draw(st.integers(1, 4)), dim, draw(st.integers(1, dim)))
    cell = st.tuples(st.integers(0, shape.n_rows - 1), st.integers(0, dim - 1))
    change = st.tuples(st.sets(cell), st.sets(cell), st.booleans())
    return shape, draw(st.lists(change, min_size=1, max_size=4))


def positions_of(shape: Shape, cells: set[tuple[int, int]]) -> list[np.ndarray]:
    return [
        np.array(sorted(r * w + c - start for r, c in cells if start <= c < start + w), np.int32)
        for start, w in shape.blocks
    ]


@given(changes(), st.integers(0, 999))
def test_equals_a_dictionary(
    drawn: tuple[Shape, list[tuple[set[tuple[int, int]], set[tuple[int, int]], bool]]], seed: int
) -> None:
    shape, script = drawn
    rng = np.random.default_rng(seed)
    table = SparseTable(shape, [np.empty(0, np.int32) for _ in shape.blocks], np.empty(0, np.float32))
    model: dict[tuple[int, int], Entry] = {}
    for step, (dropped, wanted, given_values) in enumerate(script, 1):
        keep = np.array([cell not in dropped for cell in dictionary(table)], bool)
        model = {cell: entry for cell, entry in model.items() if cell not in dropped}
        grown = wanted - set(model)
        order = sorted(grown, key=lambda cell: (cell[1] // shape.width, cell))
        values = rng.standard_normal(len(grown)).astype(np.float32) if given_values else None
        start = np.zeros(len(grown), np.float32) if values is None else values
        model |= {cell: (float(v), 0.0, 0.0, 10 * step) for cell, v in zip(order, start)}
        table.change_support(keep, positions_of(shape, grown), 10 * step, values)
        assert dictionary(table) == model
        assert list(dictionary(table)) == sorted(model, key=lambda cell: (cell[1] // shape.width, cell))
        table.values[:], table.first[:], table.second[:] = rng.standard_normal((3, len(model)))
        model = {
            cell: (float(v), float(m), float(s), entry[3])
            for (cell, entry), v, m, s in zip(
                [(cell, model[cell]) for cell in dictionary(table)], table.values, table.first, table.second
            )
        }


SHAPE = Shape(4, 5, 7, 3)


def trained(candidates: bool) -> SparseTable:
    rng = np.random.default_rng(0)
    support = [np.flatnonzero(rng.random(9 * w) < 0.4).astype(np.int32) for _, w in SHAPE.blocks]
    table = SparseTable.create(SHAPE, support, InitialValues(1, "uniform", 0.3, 0.1))
    if candidates:
        table.set_candidates(np.array([1, 2, 6], np.int32), cumulative=True)
    train(table, range(1, 4))
    grown = [np.setdiff1d(np.arange(6, dtype=np.int32), table.positions[table.block(b)]) for b in range(3)]
    table.change_support(rng.random(len(table.values)) < 0.8, grown, 3)
    return table


def train(table: SparseTable | DenseTable, steps: range) -> None:
    decay = np.full(9, 0.01, np.float32)
    for step in steps:
        gradient = np.random.default_rng(step).standard_normal((9, 7)).astype(np.float32)
        for block, (start, width) in enumerate(SHAPE.blocks):
            part = torch.from_numpy(np.ascontiguousarray(gradient[:, start : start + width]))
            table.receive(block, part, Update(step, 0.01, decay))


@pytest.mark.parametrize("candidates", [False, True])
def test_a_sparse_table_continues_from_its_state_bit_by_bit(candidates: bool) -> None:
    table = trained(candidates)
    twin = SparseTable.revive(SHAPE, {name: array.copy() for name, array in table.state().items()})
    train(table, range(4, 7))
    assert not np.array_equal(twin.values, table.values)  # a copy, not a view
    train(twin, range(4, 7))
    state, other = table.state(), twin.state()
    assert state.keys() == other.keys()
    for name, array in state.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


def test_a_dense_table_continues_from_its_state_bit_by_bit() -> None:
    table = DenseTable.create(SHAPE, InitialValues(1, "uniform", 0.3, 0.1))
    train(table, range(1, 4))
    twin = DenseTable.revive(SHAPE, {name: array.copy() for name, array in table.state().items()})
    for each in (table, twin):
        train(each, range(4, 7))
    np.testing.assert_array_equal(table.matrix(), twin.matrix())


def test_accumulators_sum_or_keep_the_last_gradient() -> None:
    for cumulative in (True, False):
        table = trained(False)
        table.set_candidates(np.array([0, 8], np.int32), cumulative)
        train(table, range(1, 4))
        steps = [np.random.default_rng(step).standard_normal((9, 7)).astype(np.float32) for step in (1, 2, 3)]
        expected = sum(steps, np.zeros((9, 7), np.float32)) if cumulative else steps[-1]
        assert table.candidates is not None
        np.testing.assert_allclose(table.candidates.accumulated, expected[[0, 8]], rtol=1e-6)


def test_ledger_is_the_bytes_of_the_arrays() -> None:
    table = trained(True)
    arrays = [table.positions, table.values, table.first, table.second, table.ages]
    assert table.candidates is not None
    arrays += [table.candidates.rows, table.candidates.accumulated]
    assert total(table.ledger()) == sum(array.nbytes for array in arrays)
    n = table.parameters()
    assert table.ledger() == {
        "positions": 4 * n, "values": 4 * n, "moments": 8 * n, "ages": n, "accumulated": 3 * 4 + 3 * 7 * 4
    }  # fmt: skip
    dense = DenseTable.create(SHAPE, InitialValues(1, "normal", 0.1, 0.1))
    assert dense.ledger() == {"values": 9 * 7 * 4, "moments": 9 * 7 * 8}


def test_numbers_of_the_papers_memory_analysis_hand_worked() -> None:
    """Rows of 3, 1 and 2 active entries of four columns; rows 0 and 2 are sampled: A u S is 4 + 1 + 4, S is 8."""
    support = [np.array([0, 1, 3, 6, 8, 11], np.int32)]
    table = SparseTable(Shape(1, 2, 4, 4), support, np.ones(6, np.float32))
    assert table.counted_numbers() == 6 + 6
    table.set_candidates(np.array([0, 2], np.int32))
    assert table.counted_numbers() == 6 + 9 + 8
    table.set_candidates(np.array([0, 2], np.int32), cumulative=False)
    assert table.counted_numbers() == 6 + 9, "the last gradient is the gradient: nothing is summed"
    table.set_candidates(np.arange(3, dtype=np.int32), cumulative=False)
    assert table.counted_numbers() == 6 + 12, "(d + 1) s N, as DSL and RigL"
    initial = InitialValues(1, "normal", 0.1, 0.1)
    assert DenseTable.create(table.shape, initial).counted_numbers() == 2 * 12
    assert MaskedTable.create(table.shape, support, initial).counted_numbers() == 6 + 12
    thresholds = Thresholds(0.1, 0.1)
    assert ThresholdedTable.create(table.shape, initial, -1.0, thresholds).counted_numbers() == 3 * 12


def test_fill_writes_the_support_and_zeros_elsewhere() -> None:
    table = trained(False)
    matrix = np.zeros((9, 7), np.float32)
    rows, columns, values = table.entries()
    matrix[rows, columns] = values
    for block, (start, width) in enumerate(SHAPE.blocks):
        out = torch.full((9, width), torch.nan)
        table.fill(block, out, EntryDropout())
        np.testing.assert_array_equal(out.numpy(), matrix[:, start : start + width])
    np.testing.assert_array_equal(table.row_sizes(), (matrix != 0).sum(axis=1) + _active_zeros(table))


def _active_zeros(table: SparseTable) -> np.ndarray:
    rows, _, values = table.entries()
    return np.bincount(rows[values == 0], minlength=table.shape.n_rows)


def test_initial_values_depend_on_seed_and_position_alone() -> None:
    initial = InitialValues(9, "normal", 0.1, 0.4)
    wide, narrow = (
        DenseTable.create(Shape(30, 50, 16, 16), initial),
        DenseTable.create(Shape(30, 50, 16, 5), initial),
    )
    np.testing.assert_array_equal(wide.matrix(), narrow.matrix())
    other = DenseTable.create(Shape(30, 50, 16, 16), InitialValues(10, "normal", 0.1, 0.4))
    assert not np.isclose(wide.matrix(), other.matrix()).any()
    assert wide.matrix()[:30].std() == pytest.approx(0.1, rel=0.15)
    assert wide.matrix()[30:].std() == pytest.approx(0.4, rel=0.15)


def test_positions_that_leave_int32_are_refused() -> None:
    Shape(60_000_000, 7_000_000, 128, 16)
    with pytest.raises(SettingError, match=r"67,200,000 users and items in blocks of 32 columns.*narrower"):
        Shape(60_200_000, 7_000_000, 128, 32)
