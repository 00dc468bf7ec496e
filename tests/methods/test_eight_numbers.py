"""The decisive step of each method on a table of one user, one item and four columns, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from method_toy import small_context

from sparserec.exploration import (
    LargestScores,
    fill_uniformly,
    largest_row_minimum,
    largest_support,
    prune_and_regrow,
    prune_and_regrow_masked,
    uniform_support,
)
from sparserec.methods import Phase, StepInfo, Validation, make_method
from sparserec.methods.magnitude import pruned
from sparserec.methods.sparserec import SparseRecSettings, cut_to, tapered
from sparserec.table import DenseTable, InitialValues, MaskedTable, Shape, SparseTable

EIGHT = Shape(1, 1, 4, 4)
VALUES = np.array([[0.9, -0.1, 0, 0], [0, 0.5, -0.2, 0]], np.float32)
GRADIENT = np.array([[0.0, 0.3, -0.8, 0.1], [0.2, 0.0, 0.05, -0.4]], np.float32)
#  active      0   1           5   6     (position = row * 4 + column)
#  |value|    .9  .1          .5  .2
#  drop half: 1 and 6 go; the largest |gradient| outside {0, 5} are 2 (.8) and 7 (.4)
#  drop 3/4:  1, 5 and 6 go; then 2 (.8), 7 (.4) and 1 (.3), which comes back with its value
AFTER = {0.5: ([0, 2, 5, 7], [0.9, 0, 0.5, 0]), 0.75: ([0, 1, 2, 7], [0.9, -0.1, 0, 0])}


def masked_eight() -> MaskedTable:
    table = MaskedTable(DenseTable(EIGHT, [VALUES.copy()]), [VALUES != 0])
    table.gradient = [GRADIENT.copy()]
    table.dense.first[0][:] = 7.0
    return table


def sparse_eight() -> SparseTable:
    table = SparseTable(EIGHT, [np.array([0, 1, 5, 6], np.int32)], VALUES[VALUES != 0].copy())
    table.first[:] = 7.0
    table.set_candidates(np.arange(2, dtype=np.int32), cumulative=False)
    assert table.candidates is not None
    table.candidates.accumulated[:] = GRADIENT
    return table


@pytest.mark.parametrize("fraction", AFTER)
def test_dsl_moves_the_mask_and_leaves_moments_alone(fraction: float) -> None:
    table = masked_eight()
    done = prune_and_regrow_masked(table, fraction)
    positions, values = AFTER[fraction]
    assert table.support()[0].tolist() == positions
    np.testing.assert_allclose(table.to_sparse().values, values)
    assert (table.dense.first[0] == 7.0).all()
    assert (done.dropped, done.grown, done.active) == (4 * fraction, 4 * fraction, 4)
    assert done.regrown_at_once == (1 if fraction == 0.75 else 0)


@pytest.mark.parametrize("fraction", AFTER)
def test_rigl_moves_the_same_way_and_empties_moments_of_new_entries(fraction: float) -> None:
    table = sparse_eight()
    prune_and_regrow(table, fraction, 10, LargestScores.accumulated(table), "joint", keep_value=True)
    positions, values = AFTER[fraction]
    assert table.positions.tolist() == positions
    np.testing.assert_allclose(table.values, values)
    assert table.first.tolist() == [7.0 if value else 0.0 for value in values]


def test_pruning_keeps_the_largest_and_protects_rows() -> None:
    dense = DenseTable(EIGHT, [np.array([[0.9, -0.8, 0.7, 0.6], [0.1, -0.2, 0.3, 0.05]], np.float32)])
    kept = {
        ("joint", 0): [0.9, -0.8, 0.7, 0.6],
        ("joint", 1): [0.9, -0.8, 0.7, 0.3],
        ("joint", 2): [0.9, -0.8, -0.2, 0.3],
        ("tables", 0): [0.9, -0.8, -0.2, 0.3],
    }
    for (scope, minimum), values in kept.items():
        table = pruned(dense, 4, scope, minimum)  # type: ignore[arg-type]
        np.testing.assert_allclose(table.values, np.array(values, np.float32))
    assert largest_row_minimum(EIGHT, 5) == 2


def test_equal_scores_are_taken_in_order() -> None:
    support = largest_support(Shape(2, 1, 4, 2), np.ones((3, 4), np.float32), 5, row_minimum=1)
    assert [block.tolist() for block in support] == [[0, 1, 2, 3, 4], []]


def test_magnitude_takes_the_row_minimum_that_validation_likes() -> None:
    seen: dict[int, float] = {}
    recorded = []

    def likes_two_per_row(table: SparseTable) -> Validation:
        smallest = int(table.row_sizes().min())
        seen[smallest] = 1.0 if smallest == 2 else 0.5
        return Validation(seen[smallest], {}, {}, np.empty(0))

    context = small_context(
        EIGHT, 0.5, validate=likes_two_per_row, record=lambda event, **values: recorded.append(values)
    )
    dense = DenseTable(EIGHT, [np.array([[0.9, -0.8, 0.7, 0.6], [0.1, -0.2, 0.3, 0.05]], np.float32)])
    table = make_method("magnitude", {"scope": "joint"}).start(context, Phase("prune", 0), dense)
    assert isinstance(table, SparseTable) and table.row_sizes().tolist() == [2, 2]
    assert sorted(seen) == [0, 1, 2] and recorded[0]["chosen"] == 2


@pytest.mark.parametrize(("minimum", "sizes"), [(0, [4, 0]), (1, [3, 1]), (2, [2, 2]), (9, [2, 2])])
def test_a_row_minimum_that_is_given_is_kept_as_far_as_the_budget_goes(
    minimum: int, sizes: list[int]
) -> None:
    context = small_context(EIGHT, 0.5)
    dense = DenseTable(EIGHT, [np.array([[0.9, -0.8, 0.7, 0.6], [0.1, -0.2, 0.3, 0.05]], np.float32)])
    method = make_method("magnitude", {"scope": "joint", "row_minimum": minimum})
    table = method.start(context, Phase("prune", 0), dense)
    assert isinstance(table, SparseTable) and table.row_sizes().tolist() == sizes


def test_a_ticket_goes_back_to_its_initial_values() -> None:
    initial = InitialValues(1, "normal", 0.1, 0.1)
    dense = DenseTable(EIGHT, [np.array([[5, 6, 0, 0], [0, 0, -7, 8]], np.float32)])
    table = make_method("lottery").start(small_context(EIGHT, 0.5), Phase("retrain", 10), dense)
    assert isinstance(table, SparseTable) and table.positions.tolist() == [0, 1, 6, 7]
    start = DenseTable.create(EIGHT, initial).matrix().reshape(-1)
    np.testing.assert_array_equal(table.values, start[[0, 1, 6, 7]])
    assert not table.first.any()


def test_filling_keeps_what_is_there_and_is_uniform_elsewhere() -> None:
    shape = Shape(3, 2, 5, 2)  # blocks of 10, 10 and 5 positions
    given = [np.array([0, 3], np.int32), np.array([], np.int32), np.array([4], np.int32)]
    counts = [np.zeros(10), np.zeros(10), np.zeros(5)]
    for seed in range(600):
        filled = fill_uniformly(shape, given, 8, np.random.default_rng(seed))
        assert sum(map(len, filled)) == 8
        for old, new, count in zip(given, filled, counts):
            assert np.isin(old, new).all() and (np.diff(new) > 0).all()
            count[new] += 1
    assert [counts[0][0], counts[0][3], counts[2][4]] == [600, 600, 600]
    drawn = np.concatenate([np.delete(counts[0], [0, 3]), counts[1], counts[2][:4]])
    assert abs(drawn - 600 * 5 / 22).max() < 50  # four standard deviations of a binomial


def test_static_never_moves_and_rigl_stops_before_the_end() -> None:
    shape = Shape(6, 4, 8, 8)
    context = small_context(shape, 0.25, explore_every=1)
    method = make_method("rigl")
    phase = Phase("train", 10)
    table = method.start(context, phase, None)
    assert isinstance(table, SparseTable) and table.parameters() == 20
    np.testing.assert_array_equal(
        table.positions, uniform_support(shape, 20, np.random.default_rng([1, 3]))[0]
    )
    from sparserec.methods import StepInfo

    explored: list[int] = []
    for step in range(1, 101):
        now = StepInfo(phase, step, (step - 1) // 10 + 1, 10, 0.01)
        heard = replace(context, record=lambda event, step=step, **values: explored.append(step))
        method.after_step(heard, table, now)
    assert explored == [10, 20, 30, 40, 50, 60, 70], "the first at step 10, none from three quarters on"
    assert table.candidates is None, "nothing is accumulated once the support is fixed"


def test_taper_cuts_along_a_cubic_and_keeps_the_largest_of_every_row() -> None:
    """From 4 entries to 2: nothing is cut up to 0, then 2 + 2 * left^3."""
    assert [tapered(part, 4, 2) for part in (-1.0, 0.0, 0.2, 0.5, 1.0, 1.3)] == [4, 4, 3, 2, 2, 2]
    values = np.array([0.9, -0.4, 0.3, -0.2], np.float32)  # three of the user, then one of the item
    table = SparseTable(EIGHT, [np.array([0, 1, 2, 6], np.int32)], values)
    table.first[:] = 7.0
    cut_to(table, 3, 10)
    assert table.positions.tolist() == [0, 1, 6], "one each, then the largest of the others"
    cut_to(table, 2, 20)
    assert table.positions.tolist() == [0, 6], "-.4 is larger than -.2, but the item's row has nothing else"
    np.testing.assert_allclose(table.values, [0.9, -0.2])
    assert (table.first == 7.0).all()
    assert table.candidates is None


@pytest.mark.parametrize(
    ("epochs", "left"),
    [
        (5, {4: 4, 5: 4, 6: 2, 7: 4, 8: 2}),  # epochs end after even steps; 2 + 2 * .5^3 is 2 rounded
        (2, {4: 4, 5: 4, 6: 2, 7: 2}),  # none ends between .7 and the last step: any step will do
    ],
)
def test_cuts_leave_a_training_after_them(epochs: int, left: dict[int, int]) -> None:
    """Ten steps, two entries begun with four: cut from .5 to .7 of the steps, where epochs end unless there are few."""
    table = SparseTable(EIGHT, [np.array([0, 1, 4, 5], np.int32)], np.ones(4, np.float32))
    phase, per_epoch = Phase("train", epochs), 10 // epochs
    for step, wanted in left.items():
        now = StepInfo(phase, step, 1, per_epoch, 0.01)
        assert SparseRecSettings(start_ratio=2.0).wanted(table, 0.25, now) == wanted
        assert SparseRecSettings().wanted(table, 0.25, now) == 4, "begun with the budget, nothing is cut"
