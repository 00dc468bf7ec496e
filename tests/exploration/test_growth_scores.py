"""Growth at random: inactive entries alone, as many as asked for, every one of them as likely as another."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparserec.exploration import RandomGrowth, prune_and_regrow, uniform_support
from sparserec.table import Shape, SparseTable


def table_with(shape: Shape, target: int, seed: int) -> SparseTable:
    rng = np.random.default_rng(seed)
    support = uniform_support(shape, target, rng)
    return SparseTable(shape, support, rng.standard_normal(target).astype(np.float32))


@given(st.integers(0, 4), st.integers(1, 5), st.integers(1, 6), st.integers(1, 6), st.integers(0, 999))
def test_it_offers_and_takes_what_is_inactive(
    n_users: int, n_items: int, dim: int, width: int, seed: int
) -> None:
    shape = Shape(n_users, n_items, dim, min(width, dim))
    rng = np.random.default_rng(seed)
    table = table_with(shape, int(rng.integers(0, shape.n_rows * dim + 1)), seed)
    active = rng.random(table.parameters()) < 0.6
    rows, columns, _ = table.entries()
    used = {(int(r), int(c)) for r, c, stays in zip(rows, columns, active) if stays}
    growth = RandomGrowth(rng)
    offered = growth.offer(table, active)
    free = [
        n_users * dim - sum(row < n_users for row, _ in used),
        n_items * dim - sum(row >= n_users for row, _ in used),
    ]
    assert offered == tuple(free)
    count = int(rng.integers(0, offered[1] + 1))
    taken = growth.take((n_users, shape.n_rows), count)
    cells = [
        (int(position) // size, start + int(position) % size)
        for positions, (start, size) in zip(taken, shape.blocks)
        for position in positions
    ]
    assert len(set(cells)) == count and not used & set(cells)
    assert all(row >= n_users for row, _ in cells)
    assert all((np.diff(positions) > 0).all() for positions in taken)


def test_every_inactive_entry_is_as_likely() -> None:
    shape = Shape(2, 3, 4, 3)
    counts = np.zeros((5, 4))
    for seed in range(400):
        table = table_with(shape, 6, 0)
        prune_and_regrow(table, 0.5, 1, RandomGrowth(np.random.default_rng(seed)), "joint")
        rows, columns, values = table.entries()
        assert len(values) == 6
        counts[rows[values == 0], columns[values == 0]] += 1
    kept = counts == 0
    assert kept.sum() == 3, "the three largest stay; any other entry may be grown, the dropped ones too"
    assert abs(counts[~kept] - 400 * 3 / 17).max() < 4 * np.sqrt(400 * 3 / 17)
