"""set and gse: what grows, on a few numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from method_toy import small_context

from sparserec.exploration import LargestOfSample, sample_inactive
from sparserec.methods import Phase, StepInfo, make_method
from sparserec.table import Shape, SparseTable
from sparserec.table.base import Update

EIGHT = Shape(1, 1, 4, 2)  # two rows of four numbers, in two blocks
PHASE = Phase("train", 10)


def eight_numbers() -> SparseTable:
    """Row 0 has .9 -.1 . . and row 1 has . . .3 -.2: four of eight active."""
    support = [np.array([0, 1], np.int32), np.array([2, 3], np.int32)]
    return SparseTable(EIGHT, support, np.array([0.9, -0.1, 0.3, -0.2], np.float32))


def test_gse_grows_the_largest_of_its_sample() -> None:
    table = eight_numbers()
    table.watch(
        [np.array([2], np.int32), np.array([0, 1], np.int32)]
    )  # row 1 column 0; row 0 columns 2 and 3
    for block, gradient in enumerate([[[0.0, 0.0], [-5.0, 9.0]], [[1.0, -7.0], [0.0, 0.0]]]):
        table.receive(block, torch.tensor(gradient), Update(1, 1e-9, np.zeros(2, np.float32)))
    assert table.watched is not None and table.watched.gradient.tolist() == [-5, 1, -7]
    again = SparseTable.revive(EIGHT, table.state())
    assert again.watched is not None and again.watched.positions.tolist() == [2, 0, 1]

    events: list[dict[str, Any]] = []
    context = small_context(EIGHT, 0.5, record=lambda event, **values: events.append(values))
    method = make_method("gse", {"drop_fraction": 0.5, "explore_until": 1.0})
    method.after_step(context, table, StepInfo(PHASE, 1, 1, 10, 0.01))
    # Half of four go, the smallest: -.1 and -.2. Row 1 column 1 has the largest gradient, but is not in the sample.
    rows, columns, values = table.entries()
    entries = sorted(zip(rows.tolist(), columns.tolist(), values.astype(np.float64).round(5).tolist()))
    assert entries == [(0, 0, 0.9), (0, 3, 0.0), (1, 0, 0.0), (1, 2, 0.3)]
    assert events == [{"drop_fraction": events[0]["drop_fraction"], "sampled": 3, "dropped": 2, "grown": 2,
                       "grown_users": 1, "regrown_at_once": 0, "active": 4}]  # fmt: skip
    assert table.watched is None


def test_a_sample_is_inactive_and_follows_the_weights() -> None:
    shape = Shape(30, 20, 8, 4)
    support = [np.arange(0, 60, 2, dtype=np.int32), np.arange(1, 60, 2, dtype=np.int32)]
    table = SparseTable(shape, support, np.ones(60, np.float32))
    weights = np.where(np.arange(50) < 10, 10.0, 1.0)
    counts = np.zeros(50)
    for seed in range(200):
        sample = sample_inactive(table, weights, 40, np.random.default_rng(seed))
        for index, drawn in enumerate(sample):
            assert (np.diff(drawn) > 0).all() and not np.isin(drawn, support[index]).any()
            np.add.at(counts, drawn // 4, 1)
    assert 4 < counts[:10].mean() / counts[20:].mean() < 7, (
        "ten times the weight, on half the entries, some drawn twice"
    )
    table.watch(sample)
    growth = LargestOfSample(table)
    users, items = growth.offer(table, np.ones(60, bool))
    assert users + items == growth.sampled == sum(map(len, sample))
    assert sum(map(len, growth.take((30, 50), items))) == items


def test_when_gse_samples_and_explores() -> None:
    shape = Shape(30, 20, 8, 4)
    explored: list[int] = []
    sampled = []
    context = small_context(shape, 0.25, explorations=4)
    method = make_method("gse", {"sample_ratio": 2.0})
    table = method.start(context, PHASE, None)
    assert isinstance(table, SparseTable)
    for step in range(1, 101):
        heard = replace(context, record=lambda event, step=step, **values: explored.append(step))
        method.after_step(heard, table, StepInfo(PHASE, step, 1, 10, 0.01))
        if table.watched is not None:
            sampled.append(step)
            assert 100 < len(table.watched.positions) <= 200
            assert table.ledger()["accumulated"] >= 8 * len(table.watched.positions)
    assert explored == [12, 24, 36, 48] and sampled == [11, 23, 35, 47], "none after three fifths"
    assert table.parameters() == 100


def test_uniform_rows_of_gse_are_uniform() -> None:
    """Frequency draws busy rows; `rows = uniform` does not."""
    shape = Shape(40, 40, 8, 8)
    shares = {}
    for rows in ("frequency", "uniform"):
        context = small_context(shape, 0.25)
        busy = np.where(np.arange(40) < 4, 100, 1)
        skewed = replace(context)
        object.__setattr__(skewed, "frequencies", lambda busy=busy: (busy, busy))
        method = make_method("gse", {"rows": rows})
        table = method.start(skewed, PHASE, None)
        assert isinstance(table, SparseTable)
        interval = skewed.exploration_interval(60)
        method.after_step(skewed, table, StepInfo(PHASE, interval - 1, 1, 10, 0.01))
        assert table.watched is not None
        owners = table.watched.positions // 8 % 40
        shares[rows] = float((owners < 4).mean())
    assert shares["uniform"] < 0.2 < shares["frequency"]


def test_set_grows_anywhere_and_stops() -> None:
    shape = Shape(30, 20, 8, 4)
    context = small_context(shape, 0.25, explorations=6)
    seen: set[tuple[int, int]] = set()
    explored: list[dict[str, Any]] = []
    method = make_method("set", {"drop_fraction": 0.4})
    table = method.start(context, PHASE, None)
    assert isinstance(table, SparseTable)
    for step in range(1, 101):
        table.values[:] = np.random.default_rng(step).standard_normal(len(table.values))
        heard = replace(
            context, record=lambda event, step=step, **values: explored.append(values | {"step": step})
        )
        method.after_step(heard, table, StepInfo(PHASE, step, 1, 10, 0.01))
        rows, columns, _ = table.entries()
        seen |= set(zip(rows.tolist(), columns.tolist()))
    assert [one["step"] for one in explored] == [10, 20, 30, 40, 50, 60, 70], "none after three quarters"
    assert 0.3 < explored[0]["drop_fraction"] < 0.4 and explored[0]["dropped"] == round(
        100 * explored[0]["drop_fraction"]
    )
    assert table.parameters() == 100 and len(seen) > 180
    assert table.ledger()["accumulated"] == 0, "no gradient is kept"
