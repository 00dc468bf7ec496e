"""Our Adam against torch.optim.Adam: dense, on a fixed support, and for weights born later."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sparserec.table import DenseTable, EntryDropout, InitialValues, Shape, SparseTable, Update
from sparserec.table.adam import COHORTS, Cohorts

SHAPE = Shape(5, 6, 7, 3)
INITIAL = InitialValues(3, "normal", 0.1, 0.2)
RATES = [0.01, 0.01, 0.009, 0.02, 0.005, 0.005, 0.001, 0.01, 0.01, 0.01]


def random_support(shape: Shape, share: float, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [
        np.flatnonzero(rng.random(shape.n_rows * width) < share).astype(np.int32) for _, width in shape.blocks
    ]


def gradients(steps: int, seed: int = 0) -> np.ndarray:
    """Of very different sizes, as in training: some so small that epsilon matters, some exactly 0."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.integers(-9, 1, (1, SHAPE.n_rows, SHAPE.dim))
    return (rng.standard_normal((steps, SHAPE.n_rows, SHAPE.dim)) * size * (size > 1e-9)).astype(np.float32)


def send(table: DenseTable | SparseTable, gradient: np.ndarray, update: Update) -> None:
    for block, (start, width) in enumerate(table.shape.blocks):
        part = np.ascontiguousarray(gradient[:, start : start + width])
        table.receive(block, torch.from_numpy(part), update)
    table.finish_step(update)


def no_decay(step: int, rate: float) -> Update:
    return Update(step, rate, np.zeros(SHAPE.n_rows, np.float32))


def torch_adam(start: np.ndarray, per_step: np.ndarray, rates: list[float]) -> list[np.ndarray]:
    """Values after each step."""
    weight = torch.nn.Parameter(torch.from_numpy(start.copy()))
    adam, history = torch.optim.Adam([weight]), []
    for gradient, rate in zip(per_step, rates):
        adam.param_groups[0]["lr"] = rate
        weight.grad = torch.from_numpy(np.ascontiguousarray(gradient))
        adam.step()
        history.append(weight.detach().numpy().copy())
    return history


def test_dense_table_is_torch_adam() -> None:
    table, steps = DenseTable.create(SHAPE, INITIAL), gradients(10)
    history = torch_adam(table.matrix(), steps, RATES)
    for step, expected in enumerate(history, 1):
        send(table, steps[step - 1], no_decay(step, RATES[step - 1]))
        np.testing.assert_allclose(table.matrix(), expected, rtol=2e-6, atol=1e-7)


def test_sparse_table_is_torch_adam_on_its_support() -> None:
    table, steps = SparseTable.create(SHAPE, random_support(SHAPE, 0.4, 1), INITIAL), gradients(10)
    rows, columns, values = table.entries()
    history = torch_adam(values, steps[:, rows, columns], RATES)
    for step, expected in enumerate(history, 1):
        send(table, steps[step - 1], no_decay(step, RATES[step - 1]))
        np.testing.assert_allclose(table.values, expected, rtol=2e-6, atol=1e-7)


def test_both_tables_start_alike_and_stay_alike_on_the_support() -> None:
    sparse = SparseTable.create(SHAPE, random_support(SHAPE, 0.4, 1), INITIAL)
    dense = DenseTable.create(SHAPE, INITIAL)
    rows, columns, _ = sparse.entries()
    decay = np.random.default_rng(1).random(SHAPE.n_rows).astype(np.float32)
    for step, gradient in enumerate(gradients(4), 1):
        update = Update(step, 0.01, decay, EntryDropout(77 + step, 0.3))
        send(sparse, gradient, update)
        send(dense, gradient, update)
        np.testing.assert_array_equal(sparse.values, dense.matrix()[rows, columns])


def test_row_decay_adds_decay_times_value_to_the_gradient() -> None:
    decay = np.array([0.0, 0.5] * 5 + [0.1], np.float32)
    table, steps = DenseTable.create(SHAPE, INITIAL), gradients(5)
    weight = torch.nn.Parameter(torch.from_numpy(table.matrix()))
    adam = torch.optim.Adam([weight], lr=0.01)
    for step, gradient in enumerate(steps, 1):
        penalty = 0.5 * (torch.from_numpy(decay)[:, None] * weight**2).sum()
        assert table.ego_penalty(decay) == pytest.approx(float(penalty.detach()), rel=1e-5)
        adam.zero_grad()
        (penalty + (weight * torch.from_numpy(gradient)).sum()).backward()
        adam.step()
        send(table, gradient, Update(step, 0.01, decay))
        np.testing.assert_allclose(table.matrix(), weight.detach().numpy(), rtol=3e-6, atol=2e-7)


def test_penalty_is_the_same_on_a_sparse_table() -> None:
    table = SparseTable.create(SHAPE, random_support(SHAPE, 0.4, 1), INITIAL)
    decay = np.random.default_rng(1).random(SHAPE.n_rows).astype(np.float32)
    rows, _, values = table.entries()
    assert table.ego_penalty(decay) == pytest.approx(0.5 * float((decay[rows] * values**2).sum()), rel=1e-6)


def test_a_regrown_weight_starts_like_a_fresh_torch_adam() -> None:
    table, steps = SparseTable.create(SHAPE, random_support(SHAPE, 0.4, 1), INITIAL), gradients(40, 5)
    for step in range(1, 31):
        send(table, steps[step - 1], no_decay(step, 0.01))
    grown = [np.setdiff1d(np.arange(5, dtype=np.int32), table.positions[table.block(b)]) for b in range(3)]
    table.change_support(np.ones(len(table.values), bool), grown, step=30)
    rows, columns, values = table.entries()
    fresh = table.ages == 1
    assert fresh.sum() == sum(map(len, grown)) > 0 and not values[fresh].any()
    old_before = values[~fresh].copy()
    history = torch_adam(values[fresh], steps[30:, rows[fresh], columns[fresh]], [0.01] * 10)
    for step, expected in zip(range(31, 41), history):
        send(table, steps[step - 1], no_decay(step, 0.01))
        np.testing.assert_allclose(table.values[fresh], expected, rtol=2e-6, atol=1e-8)
    assert not np.array_equal(table.values[~fresh], old_before)


def test_old_weights_do_not_notice_that_others_are_born() -> None:
    changed, plain = (SparseTable.create(SHAPE, random_support(SHAPE, 0.4, 1), INITIAL) for _ in range(2))
    for step, gradient in enumerate(gradients(20, 6), 1):
        for table in (changed, plain):
            send(table, gradient, no_decay(step, 0.01))
        if step == 8:
            grown = [
                np.setdiff1d(np.arange(9, dtype=np.int32), plain.positions[plain.block(b)]) for b in range(3)
            ]
            changed.change_support(np.ones(len(changed.values), bool), grown, step)
    np.testing.assert_array_equal(changed.values[changed.ages == 0], plain.values)


def test_entry_dropout_acts_alike_on_both_passes() -> None:
    """d/dv of sum(g * filled) is what must reach the optimiser: first moment after one step is a tenth of it."""
    table = SparseTable.create(SHAPE, random_support(SHAPE, 0.6, 1), INITIAL)
    dropout, gradient = EntryDropout(12345, 0.4), gradients(1)[0]
    rows, columns, values = table.entries()
    filled = np.empty((SHAPE.n_rows, SHAPE.dim), np.float32)
    for block, (start, width) in enumerate(SHAPE.blocks):
        out = torch.full((SHAPE.n_rows, width), torch.nan)
        table.fill(block, out, dropout)
        filled[:, start : start + width] = out.numpy()
    factor = filled[rows, columns] / values
    assert {round(float(f), 4) for f in factor} == {0.0, round(1 / 0.6, 4)}
    assert np.count_nonzero(filled) == np.count_nonzero(factor)  # inactive entries are 0
    send(table, gradient, Update(1, 0.01, np.zeros(SHAPE.n_rows, np.float32), dropout))
    np.testing.assert_allclose(table.first, 0.1 * gradient[rows, columns] * factor, rtol=1e-5)


def test_cohorts_older_than_a_byte_merge_into_the_first() -> None:
    cohorts, births = Cohorts(), [0]  # births: the truth, one entry born at every change
    ages = np.zeros(1, np.uint8)
    for step in range(10, 10 * 400, 10):
        index = cohorts.new(step, ages)
        ages = np.append(ages, np.uint8(index))
        births.append(step)
        known = [cohorts.births[age] for age in ages]
        assert known[-(COHORTS - 1) :] == births[-(COHORTS - 1) :]
        assert not any(known[: -(COHORTS - 1)])
        assert len(cohorts.births) <= COHORTS


def test_sizes_of_a_cohort_follow_its_age() -> None:
    sizes, roots = Cohorts([0, 90, 99]).step_sizes(100, 0.01)
    for age, size, root in zip((100, 10, 1), sizes, roots):
        assert size == pytest.approx(0.01 / (1 - 0.9**age), rel=1e-6)
        assert root == pytest.approx((1 - 0.999**age) ** 0.5, rel=1e-6)
