"""Base `history` against plain dense algebra with autograd: loss and gradients of both steps, dropout and samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import slow_bases as slow
import torch

from sparserec.compiled import fast_exp, fast_tanh
from sparserec.counter import key_of
from sparserec.data.sampling import UserSampler
from sparserec.errors import SparserecError
from sparserec.graph import Adjacency, build_histories
from sparserec.recommenders.history import History, HistorySettings
from sparserec.recommenders.history import base as temperature_module
from sparserec.recommenders.history.base import HistoryStepper
from sparserec.recommenders.history.batch import Histories
from sparserec.recommenders.history.dense import dense_gradient, plain_gradient
from sparserec.recommenders.history.sparse import SparseHistory
from sparserec.streams import HISTORY_DROPOUT as DROPOUT
from sparserec.table import DenseTable, Shape, SparseTable, Update

TRAIN = slow.toy_interactions()
SEED, STEP, DIM = 3, 7, 6
USERS = np.array([4, 0, 8, 2], np.int32)


def history(**settings: Any) -> History:
    return History(HistorySettings(**{"users_per_batch": 4, "temperature": 0.2, **settings}))


def graph_of(base: History) -> Adjacency:
    return build_histories(TRAIN, base.settings.item_exponent, base.settings.length_exponent or 0.0)


def sparse_table(seed: int = 0, share: float = 0.5) -> SparseTable:
    """Some entries of every row but one, which is empty."""
    rng, shape = np.random.default_rng(seed), Shape(0, TRAIN.n_items, DIM, DIM)
    active = rng.random((shape.n_rows, DIM)) < share
    active[:, 0], active[5] = True, False
    positions = np.flatnonzero(active).astype(np.int32)
    return SparseTable(shape, [positions], rng.standard_normal(len(positions)).astype(np.float32))


def matrix_of(table: SparseTable) -> np.ndarray:
    matrix = np.zeros((table.shape.n_rows, DIM))
    matrix.reshape(-1)[table.positions] = table.values
    return matrix


def slow_loss(
    matrix: torch.Tensor,
    base: History,
    users: np.ndarray,
    as_it_is: bool = False,
    times: np.ndarray | None = None,
) -> torch.Tensor:
    """The formula of the module, user by user; items without a vector keep none. Rows are made as long as one first.

    Every pair stands `times` in the loss.
    """
    times = np.ones(len(TRAIN), int) if times is None else times
    settings, degrees = base.settings, np.maximum(TRAIN.item_counts(), 1)
    lengths = matrix.norm(dim=1, keepdim=True)
    unit = torch.where(lengths > 0, matrix / torch.where(lengths > 0, lengths, 1.0), matrix)
    exponent = base.fold_in_weights.exponent if as_it_is else settings.item_exponent
    key, losses = key_of(SEED, DROPOUT, STEP), []
    long = torch.from_numpy(degrees.astype(np.float64) ** (settings.length_exponent or 0.0))
    mean = long.mean().item()
    if as_it_is:
        unit, long = matrix, torch.ones_like(long)
    for user in users:
        items = TRAIN.items[TRAIN.users == user]
        weights = len(items) ** -0.5 * degrees[items] ** -exponent / (settings.temperature * mean)
        if settings.history_dropout:
            kept = (
                np.array([slow.share(key, int(user), int(item)) for item in items]) + 2**-25
                >= settings.history_dropout
            )
            weights = weights * kept / (1.0 - settings.history_dropout)
        weights = torch.from_numpy(weights)
        scores = long * (unit @ (weights[:, None] * unit[items]).sum(0))
        own = torch.zeros(len(unit), dtype=torch.float64)
        own[items] = weights * long[items] * unit[items].square().sum(1)
        repeated = np.repeat(items, times[TRAIN.users == user])
        losses.append(-torch.log_softmax(scores - own, 0)[repeated].mean())
    of_users = np.bincount(TRAIN.users, times)[users] ** settings.user_exponent
    return torch.stack(losses) @ torch.from_numpy(of_users / of_users.sum())


def slow_gradient(matrix: np.ndarray, base: History, as_it_is: bool = False) -> tuple[float, np.ndarray]:
    leaf = torch.from_numpy(matrix).requires_grad_()
    loss = slow_loss(leaf, base, USERS, as_it_is)
    loss.backward()
    return loss.item(), np.nan_to_num(leaf.grad.numpy())


SETTINGS = [
    {"user_exponent": 0.0},
    {"temperature": 0.7, "item_exponent": 0.5},
    {"history_dropout": 0.4, "user_exponent": 1.0},
    {"length_exponent": 0.4},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_dense_step_is_the_formula(settings: dict[str, Any]) -> None:
    base = history(**settings)
    matrix = np.random.default_rng(0).standard_normal((TRAIN.n_items, DIM)).astype(np.float32)
    table = DenseTable(Shape(0, TRAIN.n_items, DIM, DIM), [matrix])
    loss, gradient = dense_gradient(table, Histories(graph_of(base), base.settings, SEED).batch(USERS, STEP))
    expected, slope = slow_gradient(matrix.astype(np.float64), base)
    assert loss == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(gradient.numpy(), slope, rtol=1e-3, atol=1e-6)


def test_a_pair_of_weight_two_is_the_pair_twice_in_the_loss() -> None:
    """Oracle: the formula in which every pair stands as often as it weighs; who a user is stays the set of items."""
    base = history(user_exponent=0.5)
    weights = np.random.default_rng(2).integers(1, 5, len(TRAIN)).astype(np.float32)
    weighed = replace(TRAIN, weights=weights)
    graph = build_histories(weighed, base.settings.item_exponent, base.settings.length_exponent or 0.0)
    matrix = np.random.default_rng(0).standard_normal((TRAIN.n_items, DIM)).astype(np.float32)
    batch = Histories(graph, base.settings, SEED).batch(USERS, STEP)
    assert batch.users.sum() == pytest.approx(1) and batch.targets.sum() == pytest.approx(1)
    loss, gradient = dense_gradient(DenseTable(Shape(0, TRAIN.n_items, DIM, DIM), [matrix]), batch)
    leaf = torch.from_numpy(matrix.astype(np.float64)).requires_grad_()
    expected = slow_loss(leaf, base, USERS, times=weights.astype(int))
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    np.testing.assert_allclose(gradient.numpy(), leaf.grad.numpy(), rtol=1e-3, atol=1e-6)
    table = sparse_table()
    sparse, entries = SparseHistory(table).run(batch, STEP)
    leaf = torch.from_numpy(matrix_of(table)).requires_grad_()
    expected = slow_loss(leaf, base, USERS, times=weights.astype(int))
    expected.backward()
    assert sparse == pytest.approx(expected.item(), rel=1e-4)
    np.testing.assert_allclose(
        entries, np.nan_to_num(leaf.grad.numpy()).reshape(-1)[table.positions], rtol=1e-2, atol=1e-5
    )


@pytest.mark.parametrize("settings", SETTINGS)
def test_rows_of_any_length_follow_the_same_formula(settings: dict[str, Any]) -> None:
    """As product codes stand for: an item's own share is its squared length, and has a gradient of its own."""
    base = history(**settings)
    matrix = 0.7 * np.random.default_rng(0).standard_normal((TRAIN.n_items, DIM)).astype(np.float32)
    batch = Histories(graph_of(base), base.settings, SEED).batch(USERS, STEP)
    loss, gradient = plain_gradient(torch.from_numpy(matrix), batch)
    expected, slope = slow_gradient(matrix.astype(np.float64), base, as_it_is=True)
    assert loss == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(gradient.numpy(), slope, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_sparse_step_is_the_formula_on_active_entries(settings: dict[str, Any]) -> None:
    base, table = history(**settings), sparse_table()
    batch = Histories(graph_of(base), base.settings, SEED).batch(USERS, STEP)
    loss, gradient = SparseHistory(table).run(batch, STEP)
    expected, slope = slow_gradient(matrix_of(table), base)
    assert loss == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(gradient, slope.reshape(-1)[table.positions], rtol=1e-3, atol=1e-6)


def test_candidates_take_the_gradient_of_whole_rows_in_turn() -> None:
    base, table = history(), sparse_table()
    table.set_candidates(np.array([0, 2, 3, 7, 9, 11], np.int32))
    sparse, histories = SparseHistory(table), Histories(graph_of(base), base.settings, SEED)
    _, slope = slow_gradient(matrix_of(table), base)
    turns = -(-6 * DIM // (len(table.values) // 2))
    assert turns > 1, "the example is meant to need more than one step"
    for step in range(turns):
        before = table.candidates.accumulated.copy()
        sparse.run(histories.batch(USERS, step), step)
        changed = np.flatnonzero((table.candidates.accumulated != before).any(axis=1))
        assert set(changed) <= set(range(step % turns, 6, turns))
    np.testing.assert_allclose(
        table.candidates.accumulated, slope[table.candidates.rows], rtol=1e-3, atol=1e-6
    )


def test_a_larger_candidate_cost_shows_every_candidate_the_gradient_of_every_step() -> None:
    seen = {}
    for cost in (0.5, 1000.0):
        base, table = history(candidate_cost=cost), sparse_table()
        table.set_candidates(np.array([0, 2, 3, 7, 9, 11], np.int32))
        base.stepper(graph_of(base), table, SEED).run(USERS, STEP, 0.01)
        assert table.candidates is not None
        seen[cost] = int((table.candidates.accumulated != 0).any(axis=1).sum())
    assert seen[0.5] < seen[1000.0] == 6


@pytest.mark.parametrize("sparse", [False, True])
def test_a_sampled_softmax_has_the_whole_one_for_its_mean(sparse: bool) -> None:
    whole = history()
    sampled = history(largest_softmax=4 * 13)  # 13 of 14 items, of which the batch has most
    table = sparse_table(1, 0.7)
    dense = DenseTable(table.shape, [matrix_of(table).astype(np.float32)])
    users = USERS[:2]
    exact = dense_gradient(dense, Histories(graph_of(whole), whole.settings, SEED).batch(users, 0))[0]
    histories = Histories(graph_of(sampled), sampled.settings, SEED)
    batches = [histories.batch(users, step) for step in range(60)]
    assert all(len(batch.softmax) == 13 and set(batch.items) <= set(batch.softmax) for batch in batches)
    assert len({batch.softmax.tobytes() for batch in batches}) > 1
    assert all(batch.odds.sum() == pytest.approx(TRAIN.n_items) for batch in batches)
    losses = [SparseHistory(table).run(b, 0)[0] if sparse else dense_gradient(dense, b)[0] for b in batches]
    assert np.mean(losses) == pytest.approx(exact, rel=0.02)
    assert np.std(losses) > 0


def test_both_steps_move_a_full_table_alike() -> None:
    base = history()
    values = np.random.default_rng(4).standard_normal((TRAIN.n_items, DIM)).astype(np.float32)
    shape = Shape(0, TRAIN.n_items, DIM, DIM)
    dense = DenseTable(shape, [values.copy()])
    full = SparseTable(shape, [np.arange(values.size, dtype=np.int32)], values.reshape(-1).copy())
    steppers = [HistoryStepper(base.settings, graph_of(base), table, SEED) for table in (dense, full)]
    for step in range(1, 9):
        losses = [stepper.run(USERS, step, 0.01) for stepper in steppers]
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    np.testing.assert_allclose(full.values, dense.values[0].reshape(-1), atol=1e-4)


def test_entries_received_alone_or_in_a_block_are_the_same_update() -> None:
    one, two = sparse_table(), sparse_table()
    gradient = np.random.default_rng(5).standard_normal((one.shape.n_rows, DIM)).astype(np.float32)
    for step in (1, 2):
        update = Update(step, 0.1, np.zeros(one.shape.n_rows, np.float32))
        one.receive(0, torch.from_numpy(gradient), update)
        two.receive_entries(gradient.reshape(-1)[two.positions], update)
        keep = np.arange(len(one.values)) % 5 > 0
        for table in (one, two):
            grown = np.setdiff1d(np.array([32, 33, 34], np.int32), table.positions)
            table.change_support(keep, [grown], step) if step == 1 else None
    for name in ("positions", "values", "first", "second", "ages"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_the_exponential_and_what_is_made_of_it() -> None:
    x = np.linspace(-80, 79, 4001).astype(np.float32)
    np.testing.assert_allclose(
        [fast_exp(one) for one in x[::40]], np.exp(x[::40].astype(np.float64)), rtol=1e-5
    )
    np.testing.assert_allclose(
        [fast_tanh(one) for one in x[::40] / 20], np.tanh(x[::40].astype(np.float64) / 20), atol=5e-6
    )


def test_users_with_one_item_are_left_out_and_all_others_come_once_an_epoch() -> None:
    sampler = UserSampler(TRAIN, 4, 0)
    usable = np.flatnonzero(TRAIN.user_counts() >= 2)
    for epoch in (0, 1):
        seen = np.concatenate([sampler.batch(epoch, step) for step in range(sampler.steps_per_epoch)])
        assert sorted(seen) == sorted(usable)
    assert not np.array_equal(sampler.batch(0, 0), sampler.batch(1, 0))
    np.testing.assert_array_equal(sampler.batch(1, 1), UserSampler(TRAIN, 4, 0).batch(1, 1))
    alone = TRAIN.select(np.concatenate([[True], np.diff(TRAIN.users) > 0]))
    with pytest.raises(SparserecError, match="no user has two train items"):
        UserSampler(alone, 4, 0)


@pytest.mark.parametrize(
    ("best", "tried"),
    [
        (0.2, [0.15, 0.2, 0.3]),
        (0.3, [0.2, 0.3, 0.45]),
        (0.7, [0.2, 0.3, 0.45, 0.7, 1.2]),
        (4.0, [0.2, 0.3, 0.45, 0.7, 1.2, 2.2, 4.0]),
        (0.1, [0.1, 0.15, 0.2, 0.3]),
    ],
)
def test_temperatures_are_tried_outwards_until_they_get_worse(
    best: float, tried: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def score(base: History, *_: Any) -> float:
        assert base.settings.temperature is not None
        return 1.0 - abs(base.settings.temperature - best)

    monkeypatch.setattr(temperature_module, "short_training", score)
    found = temperature_module.choose_setting(history(), "temperature", None, 0)  # type: ignore[arg-type]
    assert list(found) == [f"{one:g}" for one in tried] and max(found, key=found.get) == f"{best:g}"
