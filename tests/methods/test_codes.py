"""cerp: rows as sums of two codes, the loss on a batch's rows, and the step at which the thresholds meet the budget."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from method_toy import small_context

from sparserec.data import read_source
from sparserec.methods import Phase, StepInfo, make_method
from sparserec.methods.cerp import CERP, CERPSettings, book_size
from sparserec.table import ComposedTable, DenseTable, EntryDropout, InitialValues, Shape, SparseTable
from sparserec.table.base import Update
from sparserec.table.composed import RELEASED_ROWS, code_shape
from sparserec.training import build_config, prepare_run

ROWS = Shape(3, 2, 2, 2)  # five rows, two columns; books of two codes: eight numbers
CODES = np.array([[1, 2], [3, 4], [10, 20], [30, 40]], np.float32)


def matrix(table: ComposedTable) -> np.ndarray:
    parts = []
    for block, (_, width) in enumerate(table.shape.blocks):
        parts.append(torch.empty((table.shape.n_rows, width)))
        table.fill(block, parts[-1], EntryDropout())
    return torch.cat(parts, dim=1).numpy()


def test_rows_are_sums_of_two_codes() -> None:
    table = ComposedTable(ROWS, DenseTable(code_shape(ROWS, 2), [CODES.copy()]))
    # Five rows in strides of three: 0 0 0 1 1 of the first book, 0 1 0 1 0 of the second.
    np.testing.assert_array_equal(matrix(table), [[11, 22], [31, 42], [11, 22], [33, 44], [13, 24]])
    assert table.parameters() == 8


def test_rows_share_no_pair_of_codes_while_there_are_enough() -> None:
    shape = Shape(70, 51, 1, 1)
    codes = np.zeros((22, 1), np.float32)
    codes[:11, 0], codes[11:, 0] = np.arange(11), 100 * np.arange(11)
    table = ComposedTable(shape, DenseTable(code_shape(shape, 11), [codes]))
    assert len(np.unique(matrix(table))) == 121


def test_one_step_is_that_of_torch() -> None:
    """Gradient of the rows, decay, dropout and the table's own loss, against autograd and torch's Adam."""
    shape = Shape(4, 5, 3, 2)  # blocks of two columns and of one
    rng = np.random.default_rng(0)
    codes = rng.normal(0, 0.01, (6, 3)).astype(np.float32)
    received = rng.normal(0, 1e-3, (9, 3)).astype(np.float32)
    decay = rng.random(9).astype(np.float32)
    rows, counts = np.array([0, 2, 4, 7], np.int32), np.array([2, 1, 3, 1], np.float32)
    table = ComposedTable(
        shape, DenseTable(code_shape(shape, 3), [codes[:, :2].copy(), codes[:, 2:].copy()]), 0.5, 40
    )
    own = table.begin_step(rows, counts)
    dropout = EntryDropout(5, 0.4)
    ones = ComposedTable(
        shape,
        DenseTable(
            code_shape(shape, 3), [np.full((6, 2), 0.5, np.float32), np.full((6, 1), 0.5, np.float32)]
        ),
    )
    kept = [torch.empty((9, width)) for _, width in shape.blocks]
    for block, out in enumerate(kept):
        ones.fill(block, out, dropout)
    update = Update(1, 0.1, decay, dropout)
    for block, (start, width) in enumerate(shape.blocks):
        table.receive(block, torch.from_numpy(received[:, start : start + width].copy()), update)
    table.finish_step(update)

    weight = torch.from_numpy(codes.copy()).requires_grad_()
    made = weight[torch.arange(9) // 3] + weight[3 + torch.arange(9) % 3]
    pairs = torch.tensor([1.0, 1.0, 3.0, 1.0])  # users count once, items as often as they occur
    reward = 0.5 * RELEASED_ROWS / 7 * (pairs[:, None] * torch.tanh(40 * made[rows]) ** 2).sum()
    penalty = 0.5 * (torch.from_numpy(decay)[:, None] * made**2).sum()
    optimiser = torch.optim.Adam([weight], lr=0.1)
    (penalty - reward + (torch.cat(kept, 1) * made * torch.from_numpy(received)).sum()).backward()
    optimiser.step()
    assert own == pytest.approx(-float(reward.detach()), rel=1e-5)
    assert ComposedTable(shape, DenseTable(code_shape(shape, 3), [codes[:, :2], codes[:, 2:]])).ego_penalty(
        decay
    ) == pytest.approx(float(penalty.detach()), rel=1e-5)
    assert isinstance(table.codes, DenseTable)
    np.testing.assert_allclose(table.codes.matrix(), weight.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_the_search_ends_when_the_books_meet_the_budget() -> None:
    """Eight numbers in two books and a budget of three: which step ends the search, and what is kept."""
    context = small_context(ROWS, 0.3)  # .3 of ten entries
    method = CERP(CERPSettings(book_ratio=2.0, threshold_ceiling=1.0))
    assert context.budget == 3 and book_size(context, 2.0) == 2
    table = method.start(context, Phase("search", 10, validated=False), None)
    assert isinstance(table, ComposedTable)
    table.codes.values = [np.array([[0.9, -0.1], [0.3, 0.2], [-0.6, 0.5], [0.05, 0.8]], np.float32)]  # type: ignore[attr-defined]
    ends = {}
    for threshold in (0.15, 0.45, 0.55):  # six, four and three numbers above
        table.codes.logits = [np.full((4, 2), np.log(threshold / (1 - threshold)), np.float32)]  # type: ignore[attr-defined]
        table.codes._count()  # type: ignore[attr-defined]
        now = StepInfo(Phase("search", 10), 7, 1, 10, 0.01)
        ends[threshold] = table.parameters(), method.after_step(context, table, now)
    assert ends == {0.15: (6, False), 0.45: (4, False), 0.55: (3, True)}

    kept = method.start(context, Phase("retrain", 10), table)
    assert isinstance(kept, ComposedTable) and isinstance(kept.codes, SparseTable)
    assert kept.codes.positions.tolist() == [0, 4, 7], "the first number of the first book, two of the second"
    scale = 0.1 / np.sqrt(2)
    start = (
        DenseTable.create(code_shape(ROWS, 2), InitialValues(1, "normal", scale, scale)).matrix().reshape(-1)
    )
    np.testing.assert_allclose(kept.codes.values, start[[0, 4, 7]], rtol=1e-6)
    assert kept.stored_bytes(8) == 3 + 4 + 8, "codes, bitmasks and scales of both books"


def test_the_reward_falls_with_every_epoch() -> None:
    context = small_context(ROWS, 0.3)
    method = make_method("cerp", {"reward": 0.8, "reward_decay": 0.25})
    table = method.start(context, Phase("search", 10, validated=False), None)
    assert isinstance(table, ComposedTable) and table.reward == 0.8
    for step in range(1, 21):
        method.after_step(context, table, StepInfo(Phase("search", 10), step, 1, 10, 0.01))
    assert table.reward == pytest.approx(0.8 / 16)
    again = ComposedTable.revive(ROWS, table.state())
    assert (again.reward, again.sharpness, again.size) == (table.reward, 100.0, 2)
    np.testing.assert_array_equal(matrix(again), matrix(table))


def test_books_are_no_larger_than_the_table() -> None:
    context = small_context(Shape(30, 20, 8, 8), 0.5)
    assert [book_size(context, ratio) for ratio in (1.0, 2.0, 100.0)] == [13, 25, 50]


@pytest.mark.parametrize("numbering", ["log", "degree"])
def test_codes_follow_the_ids_of_the_log(numbering: str) -> None:
    """Neighbours in the log share a code of the first book: a numbering by frequency would tear them apart."""
    pairs = [(user, item) for user in range(40) for item in range(30) if (user * item) % 7 < 3 or item == 29]
    settings = {"method_settings": {"numbering": numbering}, "recipe": {"epochs": 1}, "dim": 8}
    config = build_config({"base": "lightgcn", "method": "cerp", **settings})
    prepared = prepare_run(config, read_source(pairs))
    items = prepared.split.train.item_ids.external().tolist()
    counts = prepared.split.train.item_counts()
    assert items == sorted(items) if numbering == "log" else items != sorted(items)
    assert (np.diff(counts) <= 0).all() == (numbering == "degree")
    other = prepare_run(
        config.model_copy(update={"method": "pep", "method_settings": {}}), read_source(pairs)
    )
    assert (np.diff(other.split.train.item_counts()) <= 0).all()  # whoever does not ask is renumbered
