"""Masked and thresholded tables against torch: autograd, its Adam, and a mask or a soft threshold on
dense parameters.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sparserec.methods.pep import _logit_after, logit_of, margin_support, spread, start_logit
from sparserec.table import (
    TABLES,
    DenseTable,
    EntryDropout,
    InitialValues,
    MaskedTable,
    Shape,
    ThresholdedTable,
    Thresholds,
    Update,
)

SHAPE = Shape(3, 2, 4, 3)  # blocks of 3 and 1 columns
INITIAL = InitialValues(3, "normal", 0.2, 0.2)


def used(table: MaskedTable | ThresholdedTable) -> np.ndarray:
    """What the model sees."""
    blocks = [torch.empty((SHAPE.n_rows, width)) for _, width in SHAPE.blocks]
    for index, block in enumerate(blocks):
        table.fill(index, block, EntryDropout())
    return torch.cat(blocks, 1).numpy()


def step(table: MaskedTable | ThresholdedTable, gradient: np.ndarray, number: int, decay: np.ndarray) -> None:
    update = Update(number, 0.01, decay)
    for index, (start, width) in enumerate(SHAPE.blocks):
        part = torch.from_numpy(np.ascontiguousarray(gradient[:, start : start + width]))
        table.receive(index, part, update)
    table.finish_step(update)


def gradients(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=(SHAPE.n_rows, SHAPE.dim)).astype(np.float32) for _ in range(count)]


def test_masked_is_adam_on_everything_and_then_the_mask() -> None:
    support = [np.array([0, 4, 7, 9], np.int32), np.array([1, 4], np.int32)]
    table = MaskedTable.create(SHAPE, support, INITIAL)
    mask = torch.from_numpy(np.concatenate(table.active, 1))
    weight = torch.from_numpy(DenseTable.create(SHAPE, INITIAL).matrix() * mask.numpy())
    weight.requires_grad_()
    optimiser = torch.optim.Adam([weight], lr=0.01)
    decay = np.array([0, 0.5, 0, 1, 0], np.float32)
    assert table.parameters() == 6
    for number, gradient in enumerate(gradients(5), 1):
        step(table, gradient, number, decay)
        optimiser.zero_grad()
        penalty = 0.5 * (torch.from_numpy(decay)[:, None] * weight**2).sum()
        ((torch.from_numpy(gradient) * weight).sum() + penalty).backward()
        assert weight.grad is not None
        np.testing.assert_allclose(np.concatenate(table.gradient, 1), weight.grad.numpy(), rtol=1e-5)
        optimiser.step()
        weight.data *= mask
        np.testing.assert_allclose(used(table), weight.detach().numpy(), rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("ceiling", [1.0, 8.0])
def test_thresholded_is_autograd_through_the_soft_threshold(ceiling: float) -> None:
    table = ThresholdedTable.create(SHAPE, INITIAL, logit_of(0.15 / ceiling), Thresholds(0.05, 0.01, ceiling))
    value = torch.from_numpy(table.matrix()).requires_grad_()
    logit = torch.full_like(value, logit_of(0.15 / ceiling), requires_grad=True)
    optimiser = torch.optim.Adam(
        [{"params": [value], "lr": 0.01}, {"params": [logit], "lr": 0.05, "weight_decay": 0.01}]
    )
    decay = np.array([0, 0.5, 0, 1, 0], np.float32)
    for number, gradient in enumerate(gradients(8), 1):
        seen = torch.sign(value) * torch.relu(value.abs() - ceiling * torch.sigmoid(logit))
        np.testing.assert_allclose(used(table), seen.detach().numpy(), atol=1e-6)
        assert table.parameters() == int((seen != 0).sum())
        penalty = 0.5 * (torch.from_numpy(decay)[:, None] * seen**2).sum()
        assert table.ego_penalty(decay) == pytest.approx(float(penalty.detach()), rel=1e-4)
        optimiser.zero_grad()
        ((torch.from_numpy(gradient) * seen).sum() + penalty).backward()
        optimiser.step()
        step(table, gradient, number, decay)
    np.testing.assert_allclose(np.concatenate(table.logits, 1), logit.detach().numpy(), atol=2e-4)
    assert 0 < table.parameters() < SHAPE.n_rows * SHAPE.dim
    assert spread(table)["logit_std"] > 0, "the data moved thresholds apart"


def test_both_come_back_from_a_file_and_weigh_what_their_entries_weigh() -> None:
    thresholded = ThresholdedTable.create(SHAPE, INITIAL, -1.5, Thresholds(0.05, 0.01, 1.0))
    masked = MaskedTable.create(SHAPE, [np.array([0, 4], np.int32), np.array([1], np.int32)], INITIAL)
    for table in (thresholded, masked):
        step(table, gradients(1)[0], 1, np.zeros(5, np.float32))
        again = TABLES[table.kind].revive(SHAPE, table.state())  # type: ignore[attr-defined]
        for one in (table, again):
            step(one, gradients(2)[1], 2, np.zeros(5, np.float32))
        np.testing.assert_array_equal(used(table), used(again))
        sparse = table.to_sparse()
        assert sparse.parameters() == table.parameters() == again.parameters()
        assert table.stored_bytes(8) == sparse.stored_bytes(8)
        assert table.quantised(8).parameters() == table.parameters()


def test_without_data_thresholds_reach_their_goal_on_the_planned_step() -> None:
    goal, steps, rate, decay = logit_of(0.15), 300, 0.02, 1e-5
    start = start_logit(goal, steps, rate, decay)
    assert goal - rate * steps < start < goal, "Adam slows down as the decay's gradient shrinks"
    assert _logit_after(start, steps, rate, decay) == pytest.approx(goal, abs=1e-6)
    table = ThresholdedTable.create(SHAPE, INITIAL, start, Thresholds(rate, decay))
    for number in range(1, steps + 1):
        step(table, np.zeros((5, 4), np.float32), number, np.zeros(5, np.float32))
    np.testing.assert_allclose(np.concatenate(table.logits, 1), goal, atol=2e-3)
    assert spread(table)["logit_std"] < 1e-4, "the schedule alone keeps them together"


def test_margins_choose_the_survivors_even_below_their_thresholds() -> None:
    shape = Shape(1, 1, 4, 4)
    values = np.array([[0.9, -0.6, 0.3, 0.1], [-0.8, 0.2, 0.5, 0.0]], np.float32)
    table = ThresholdedTable(shape, [values], 0.0, Thresholds(0.1, 0.1))  # all thresholds are 1/2
    table.logits[0][0, 0] = logit_of(0.4) + 2.0  # threshold .83: margin .07, below the .1 and .3 of others
    table._count()
    assert table.parameters() == 3  # .9, -.6 and -.8
    assert margin_support(table, 3)[0].tolist() == [0, 1, 4]
    assert margin_support(table, 2)[0].tolist() == [1, 4]
    assert margin_support(table, 5)[0].tolist() == [0, 1, 2, 4, 6], "0.5 has margin 0, then .3 with -.2"
