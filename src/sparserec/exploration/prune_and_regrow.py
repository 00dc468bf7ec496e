"""One exploration: drop the smallest active entries, activate as many inactive ones that a growth chooses.

Everything is exact: as many entries are grown as were dropped, ties are broken by (block, row, column). What makes a
method is where its scores come from, and they are arguments: `growth` (candidates.py) says which entries may grow and
which do, `drop_scores` which entries go first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparserec.exploration.candidates import Growth
from sparserec.exploration.select import Scope, mark_largest, mark_smallest, take_largest
from sparserec.table import MaskedTable, Shape, SparseTable


@dataclass(frozen=True)
class Exploration:
    """What one exploration did."""

    dropped: int
    grown: int
    grown_users: int
    regrown_at_once: int  # dropped and grown in the same exploration
    active: int


def entry_segments(table: SparseTable) -> tuple[np.ndarray, np.ndarray]:
    """Index ranges of user entries, which come first in a block, and of item entries, a row per block."""
    edge, blocks = table.shape.n_users, enumerate(table.shape.blocks)
    users = [np.searchsorted(table.positions[table.block(b)], edge * width) for b, (_, width) in blocks]
    middle = table.bounds[:-1] + users
    return np.stack([table.bounds[:-1], middle], axis=1), np.stack([middle, table.bounds[1:]], axis=1)


def magnitude_share(table: SparseTable) -> float:
    """Users' share of the sum of |value| over the table (mu of the paper), summed in block order."""
    if not table.shape.n_users:
        return 0.0
    users, items = entry_segments(table)
    sums = [
        table.shape.sum_over_parts([np.abs(table.values[a:b]).sum(dtype=np.float64) for a, b in part])
        for part in (users, items)
    ]
    return sums[0] / (sums[0] + sums[1]) if sums[0] + sums[1] > 0 else 0.5


def mark_dropped(
    table: SparseTable, fraction: float, scope: Scope = "tables", scores: np.ndarray | None = None
) -> np.ndarray:
    """True for the entries to drop: round(fraction * active) of smallest score, per table or jointly.

    Scores are aligned with the entries and compared by magnitude; None is the values.
    """
    scores = table.values if scores is None else scores
    dropped = np.zeros(len(table.values), bool)
    parts = entry_segments(table)
    if scope == "joint":
        parts = (np.stack([table.bounds[:-1], table.bounds[1:]], axis=1),)  # type: ignore[assignment]
    for segments in parts:
        active = int(table.shape.total((segments[:, 1] - segments[:, 0]).sum()))
        mark_smallest(scores, segments, round(fraction * active), dropped, table.shape)
    return dropped


def split_quota(total: int, user_share: float, eligible_users: int, eligible_items: int) -> tuple[int, int]:
    """How many entries users and items may grow; what one table cannot take spills to the other."""
    users = min(round(user_share * total), eligible_users)
    items = min(total - users, eligible_items)
    users = min(total - items, eligible_users)
    return users, items


def prune_and_regrow(
    table: SparseTable,
    drop_fraction: float,
    step: int,
    growth: Growth,
    scope: Scope = "tables",
    keep_value: bool = False,
    drop_scores: np.ndarray | None = None,
) -> Exploration:
    """Drop, then grow exactly as many. The split between the tables is measured before anything is dropped."""
    share = magnitude_share(table)
    dropped = mark_dropped(table, drop_fraction, scope, drop_scores)
    keep = ~dropped
    eligible = growth.offer(table, keep)
    n_dropped = int(table.shape.total(dropped.sum()))
    count = min(n_dropped, sum(eligible))
    if scope == "joint":
        grown = growth.take((0, table.shape.n_rows), count)
    else:
        grown = _take_apart(table, growth, split_quota(count, share, *eligible))
    growth.release()  # given back before the arrays of the table are rebuilt
    returning = _returning(table, dropped, grown)
    scores = table.values if drop_scores is None else drop_scores
    _keep_largest_dropped(scores, dropped & ~returning, keep, n_dropped - count, table.shape)
    if keep_value:
        keep |= returning
        grown = [
            new[~np.isin(new, table.positions[table.block(i)][returning[table.block(i)]])]
            for i, new in enumerate(grown)
        ]
    table.change_support(keep, grown, step)
    return _report(table, count, grown, int(returning.sum()))


def _take_apart(table: SparseTable, growth: Growth, counts: tuple[int, int]) -> list[np.ndarray]:
    """Grown positions per block: so many of users' rows, so many of items'."""
    n_users = table.shape.n_users
    of_users = growth.take((0, n_users), counts[0])
    of_items = growth.take((n_users, table.shape.n_rows), counts[1])
    return [np.concatenate(pair) for pair in zip(of_users, of_items)]


def fill_support(
    table: SparseTable, target: int, step: int, growth: Growth, largest_share: float = 0.25
) -> Exploration:
    """Grow towards `target` active entries, by at most a share of what may grow.

    One fill at once would make the sampled rows dense and leave the others empty.
    """
    share = magnitude_share(table)
    keep = np.ones(len(table.values), bool)
    eligible = growth.offer(table, keep)
    limits = [math.ceil(largest_share * count) for count in eligible]  # not down, or the last few never come
    grown = _take_apart(table, growth, split_quota(target - table.parameters(), share, *limits))
    growth.release()
    table.change_support(keep, grown, step)
    return _report(table, 0, grown, 0)


def _report(table: SparseTable, dropped: int, grown: list[np.ndarray], again: int) -> Exploration:
    n_users, blocks = table.shape.n_users, table.shape.blocks
    of_users = sum(int(np.searchsorted(new, n_users * width)) for new, (_, width) in zip(grown, blocks))
    here = np.array([sum(map(len, grown)), of_users, again])
    all_grown, all_of_users, all_again = table.shape.total(here).tolist()
    return Exploration(dropped, all_grown, all_of_users, all_again, table.parameters())


def _returning(table: SparseTable, dropped: np.ndarray, grown: list[np.ndarray]) -> np.ndarray:
    """True for entries that are dropped and grown in the same exploration."""
    returning = np.zeros(len(dropped), bool)
    for index, new in enumerate(grown):
        part = table.block(index)
        returning[part] = dropped[part] & np.isin(table.positions[part], new, assume_unique=True)
    return returning


def _keep_largest_dropped(
    scores: np.ndarray, waiting: np.ndarray, keep: np.ndarray, count: int, shape: Shape
) -> None:
    """When not all that was dropped can be grown elsewhere, the largest dropped entries stay: density is exact."""
    entries = np.flatnonzero(waiting)
    keep[entries[mark_largest(np.abs(scores[entries]), count, shape)]] = True


# One exploration of a dense table under a mask, over users and items as one table, as DSL's released code does it.


def prune_and_regrow_masked(table: MaskedTable, drop_fraction: float) -> Exploration:
    """Drop ceil(fraction * active) entries of smallest magnitude, activate as many by the last batch's gradient.

    Entries dropped just now may come back and then keep their value. Moments are not touched.
    """
    shape, before = table.shape, table.support()
    rows, everywhere = np.arange(shape.n_rows, dtype=np.int32), (0, shape.n_rows)
    active = sum(map(len, before))
    dropped = math.ceil(drop_fraction * active)
    scores = np.abs(table.dense.matrix())
    scores[~np.concatenate(table.active, axis=1)] = -1.0
    kept = take_largest(scores, rows, everywhere, shape.blocks, active - dropped)
    np.abs(np.concatenate(table.gradient, axis=1), out=scores)
    for (start, width), positions in zip(shape.blocks, kept):
        scores[positions // width, start + positions % width] = -1.0
    grown = take_largest(scores, rows, everywhere, shape.blocks, dropped)
    again = sum(len(np.intersect1d(old, new, assume_unique=True)) for old, new in zip(before, grown))
    table.set_active([np.concatenate(pair) for pair in zip(kept, grown)])
    of_users = sum(int((new < shape.n_users * width).sum()) for new, (_, width) in zip(grown, shape.blocks))
    return Exploration(dropped, sum(map(len, grown)), of_users, again, table.parameters())
