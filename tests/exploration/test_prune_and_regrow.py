"""Explorations: hand-worked examples, and a slow version with Python sets and sorting for everything else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.exploration import (
    Exploration,
    LargestScores,
    draw_candidates,
    fill_support,
    magnitude_share,
    mark_dropped,
    prune_and_regrow,
    split_quota,
    uniform_support,
)
from sparserec.table import Shape, SparseTable

Place = tuple[int, int, int]
"""(block, row, column inside the block): the order in which ties are broken."""


def table_of(shape: Shape, entries: dict[tuple[int, int], float]) -> SparseTable:
    """A sparse table from {(row, column): value}."""
    support = []
    for start, width in shape.blocks:
        inside = [r * width + c - start for r, c in entries if start <= c < start + width]
        support.append(np.array(sorted(inside), np.int32))
    values = [
        entries[(int(p) // width, start + int(p) % width)]
        for positions, (start, width) in zip(support, shape.blocks)
        for p in positions
    ]
    return SparseTable(shape, support, np.array(values, np.float32))


def entries_of(table: SparseTable) -> dict[tuple[int, int], float]:
    rows, columns, values = table.entries()
    return {(int(r), int(c)): float(v) for r, c, v in zip(rows, columns, values)}


def accumulate(table: SparseTable, rows: list[int], gradient: list[list[float]] | np.ndarray) -> None:
    table.set_candidates(np.array(rows, np.int32))
    assert table.candidates is not None
    table.candidates.accumulated[:] = gradient


# -- hand-worked: two users (rows 0, 1), two items (rows 2, 3), four columns in two blocks, eight active entries ----

EIGHT = {
    (0, 0): 0.5, (0, 1): -0.1, (0, 3): 0.9, (1, 2): 0.2,  # users: |sum| 1.7
    (2, 0): -0.3, (2, 2): 0.3, (3, 1): 0.05, (3, 3): -0.65,  # items: |sum| 1.3
}  # fmt: skip
SHAPE = Shape(2, 2, 4, 2)


def test_prune_hand_worked() -> None:
    table = table_of(SHAPE, EIGHT)
    order = list(zip(*(part.tolist() for part in table.entries()[:2])))
    # Entries lie block by block: columns 0 and 1 of all rows first.
    assert order == [(0, 0), (0, 1), (2, 0), (3, 1), (0, 3), (1, 2), (2, 2), (3, 3)]
    dropped = mark_dropped(table, 0.5)  # two of four in each table; -0.3 ties with 0.3 and comes first
    assert {place for place, gone in zip(order, dropped) if gone} == {(0, 1), (1, 2), (3, 1), (2, 0)}
    joint = mark_dropped(table, 0.25, "joint")  # two of eight over both tables
    assert {place for place, gone in zip(order, joint) if gone} == {(0, 1), (3, 1)}
    assert not mark_dropped(table, 0.0).any()


def test_magnitude_split_hand_worked() -> None:
    assert magnitude_share(table_of(SHAPE, EIGHT)) == pytest.approx(1.7 / 3.0)
    assert magnitude_share(table_of(SHAPE, {(0, 0): 0.0, (2, 0): 0.0})) == 0.5


@pytest.mark.parametrize(
    ("total", "share", "eligible", "expected"),
    [
        (4, 0.5667, (9, 9), (2, 2)),
        (4, 0.5667, (1, 9), (1, 3)),  # users cannot take two: one spills to items
        (4, 0.5667, (9, 1), (3, 1)),
        (4, 0.0, (9, 3), (1, 3)),  # items cannot take four
        (4, 1.0, (0, 9), (0, 4)),
        (9, 0.5, (2, 3), (2, 3)),  # neither can: less is grown
        (0, 0.7, (5, 5), (0, 0)),
    ],
)
def test_quota_and_spill(
    total: int, share: float, eligible: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert split_quota(total, share, *eligible) == expected


def test_prune_and_regrow_hand_worked() -> None:
    table = table_of(SHAPE, EIGHT)
    accumulate(table, [0, 2], [[5, 4, -8, 1], [9, -3, 7, 2]])
    done = prune_and_regrow(table, 0.5, 10, LargestScores.accumulated(table))
    # Dropped: (0,1) (1,2) (2,0) (3,1). Four to grow, users' share .567: two and two.
    # Users' eligible: (0,1) 4 and (0,2) 8, both taken. Items': (2,0) 9, (2,1) 3, (2,3) 2: the first two.
    assert entries_of(table) == {
        (0, 0): 0.5, (0, 3): pytest.approx(0.9), (0, 1): 0.0, (0, 2): 0.0,
        (2, 2): pytest.approx(0.3), (3, 3): pytest.approx(-0.65), (2, 0): 0.0, (2, 1): 0.0,
    }  # fmt: skip
    assert done == Exploration(dropped=4, grown=4, grown_users=2, regrown_at_once=2, active=8)
    assert table.candidates is None  # their gradients are spent


def test_keep_value_hand_worked() -> None:
    table = table_of(SHAPE, EIGHT)
    table.first[:] = np.arange(8)
    accumulate(table, [0, 2], [[5, 4, -8, 1], [9, -3, 7, 2]])
    done = prune_and_regrow(table, 0.5, 10, LargestScores.accumulated(table), keep_value=True)
    kept = entries_of(table)
    assert kept[(0, 1)] == pytest.approx(-0.1) and kept[(2, 0)] == pytest.approx(-0.3)
    assert kept[(0, 2)] == kept[(2, 1)] == 0.0
    assert done.regrown_at_once == 2 and len(kept) == 8
    order = list(kept)
    assert table.first[order.index((2, 0))] == 2  # it was never really dropped: moments and age stay
    assert table.ages[order.index((2, 0))] == 0 and table.ages[order.index((2, 1))] == 1


def test_what_candidates_cannot_absorb_is_not_dropped() -> None:
    table = table_of(SHAPE, EIGHT)
    accumulate(table, [0], [[5, 4, -8, 1]])
    prune_and_regrow(table, 0.5, 10, LargestScores.accumulated(table))
    # Dropped: (0,1) .1, (1,2) .2, (2,0) .3, (3,1) .05. Eligible are (0,1) and (0,2) only, so two stay: the largest.
    assert set(entries_of(table)) == {(0, 0), (0, 3), (2, 2), (3, 3), (0, 1), (0, 2), (2, 0), (1, 2)}
    assert entries_of(table)[(2, 0)] == pytest.approx(-0.3)


def test_first_fill_with_spill_hand_worked() -> None:
    table = table_of(SHAPE, {(0, 0): 0.9, (2, 1): -0.1})  # users' share .9
    accumulate(table, [0, 2, 3], [[1, 3, 2, 0], [4, 6, 5, 5], [7, 1, 1, 8]])
    done = fill_support(table, 8, 5, LargestScores.accumulated(table), largest_share=0.5)
    # Six are missing: users' .9 asks for 5, but half of their 3 inactive is 2. Items: 4 wanted, half of 7 is 4.
    assert set(entries_of(table)) == {(0, 0), (2, 1), (0, 1), (0, 2), (3, 3), (3, 0), (2, 2), (2, 3)}
    assert done == Exploration(dropped=0, grown=6, grown_users=2, regrown_at_once=0, active=8)


def test_fill_ends_even_when_little_is_left() -> None:
    """A quarter of three inactive entries is still one: rounding down would wait for ever."""
    shape = Shape(1, 1, 4, 4)
    table = table_of(shape, {(0, c): 1.0 for c in range(4)} | {(1, 0): 1.0})
    for _ in range(3):
        accumulate(table, [0, 1], np.ones((2, 4)))
        fill_support(table, 8, 1, LargestScores.accumulated(table), 0.25)
    assert table.parameters() == 8


# -- the slow version ---------------------------------------------------------------------------------------------


def slow_split(total: int, share: float, users: int, items: int) -> tuple[int, int]:
    quota = round(share * total)
    moved_to_items = max(0, quota - users)
    moved_to_users = max(0, total - quota - items)
    return min(quota + moved_to_users, users), min(total - quota + moved_to_items, items)


def slow_exploration(
    active: dict[Place, float], scores: dict[Place, float], n_users: int, fraction: float, joint: bool
) -> tuple[set[Place], set[Place]]:
    """(kept, grown) places by definition."""
    is_user = {place: place[1] < n_users for place in list(active) + list(scores)}
    total = sum(abs(v) for v in active.values())
    share = sum(abs(v) for p, v in active.items() if is_user[p]) / total if total else 0.5
    groups = (
        [list(active)] if joint else [[p for p in active if is_user[p] == side] for side in (True, False)]
    )
    dropped: set[Place] = set()
    for group in groups:
        ranked = sorted(group, key=lambda p: (abs(active[p]), p))
        dropped |= set(ranked[: round(fraction * len(group))])
    eligible = [p for p in scores if p not in active or p in dropped]
    ranked = sorted(eligible, key=lambda p: (-abs(scores[p]), p))
    count = min(len(dropped), len(eligible))
    if joint:
        grown = set(ranked[:count])
    else:
        sides = [[p for p in ranked if is_user[p] == side] for side in (True, False)]
        quotas = slow_split(count, share, len(sides[0]), len(sides[1]))
        grown = {p for side, quota in zip(sides, quotas) for p in side[:quota]}
    staying = sorted(dropped - grown, key=lambda p: (-abs(active[p]), p))[: len(dropped) - count]
    return (set(active) - dropped) | set(staying), grown


@st.composite
def situation(draw: st.DrawFn) -> tuple[SparseTable, list[int], np.ndarray]:
    n_users, n_items = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    dim = draw(st.integers(1, 5))
    shape = Shape(n_users, n_items, dim, draw(st.integers(1, dim)))
    cells = [(r, c) for r in range(shape.n_rows) for c in range(dim)]
    chosen = draw(st.sets(st.sampled_from(cells), min_size=1))
    number = st.sampled_from([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, 3.0])
    table = table_of(shape, {cell: draw(number) for cell in sorted(chosen)})
    rows = sorted(draw(st.sets(st.integers(0, shape.n_rows - 1), min_size=1)))
    gradient = draw(st.lists(number, min_size=len(rows) * dim, max_size=len(rows) * dim))
    return table, rows, np.array(gradient, np.float32).reshape(len(rows), dim)


def places(table: SparseTable) -> dict[Place, float]:
    found = {}
    for index, (_, width) in enumerate(table.shape.blocks):
        part = table.block(index)
        for position, value in zip(table.positions[part].tolist(), table.values[part].tolist()):
            found[(index, position // width, position % width)] = value
    return found


@given(situation(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 0.999]), st.booleans(), st.booleans())
def test_equals_the_slow_version(
    drawn: tuple[SparseTable, list[int], np.ndarray], fraction: float, joint: bool, keep_value: bool
) -> None:
    table, rows, gradient = drawn
    shape, before = table.shape, places(table)
    scores = {
        (column // shape.width, row, column % shape.width): float(gradient[index, column])
        for index, row in enumerate(rows)
        for column in range(shape.dim)
    }
    kept, grown = slow_exploration(before, scores, shape.n_users, fraction, joint)
    accumulate(table, rows, gradient)
    growth = LargestScores.accumulated(table)
    done = prune_and_regrow(table, fraction, 7, growth, "joint" if joint else "tables", keep_value)
    after = places(table)
    assert len(after) == len(before) == done.active  # density is exact
    assert set(after) == kept | grown
    for place, value in after.items():
        fresh = place in grown and not (keep_value and place in before)
        assert value == (0.0 if fresh else before[place])
        assert table.ages[list(after).index(place)] == int(fresh)
    assert list(after) == sorted(after)


@given(
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(1, 9),
    st.integers(1, 9),
    st.floats(0.0, 1.0),
    st.floats(0.0, 0.999),
    st.floats(0.001, 1.0),
    st.integers(0, 999),
)
def test_density_stays_exact_over_explorations(
    n_users: int, n_items: int, dim: int, width: int, density: float, drop: float, ratio: float, seed: int
) -> None:
    shape, rng = Shape(n_users, n_items, dim, min(width, dim)), np.random.default_rng(seed)
    target = round(density * shape.n_rows * dim)
    support = uniform_support(shape, target, rng)
    table = SparseTable(shape, support, rng.standard_normal(target).astype(np.float32))
    counts = rng.integers(0, 5, n_users), rng.integers(0, 5, n_items)
    for step in (1, 2, 3):
        rows = draw_candidates(*counts, 1.0 if seed % 3 == 0 else ratio, "log", rng)
        accumulate(table, rows.tolist(), rng.standard_normal((len(rows), dim)))
        growth = LargestScores.accumulated(table)
        prune_and_regrow(table, drop, step, growth, "joint" if seed % 2 else "tables")
        assert table.parameters() == len(set(entries_of(table))) == target
        for block, (_, size) in enumerate(shape.blocks):
            positions = table.positions[table.block(block)]
            assert np.all(np.diff(positions) > 0)
            assert len(positions) == 0 or (positions[0] >= 0 and positions[-1] < shape.n_rows * size)


def test_exploring_without_candidates_is_a_defect_of_the_caller() -> None:
    with pytest.raises(AssertionError, match="nothing was accumulated"):
        LargestScores.accumulated(table_of(SHAPE, EIGHT))
