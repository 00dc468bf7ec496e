"""One exploration: drop the smallest active entries, activate the inactive ones with the largest gradients.

Everything is exact: as many entries are grown as were dropped, ties are broken by (block, row, column).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numba import njit, prange

from sparserec.exploration.select import mark_smallest, take_largest
from sparserec.table import SparseTable

Scope = Literal["tables", "joint"]
"""Prune and regrow users and items apart (with the magnitude split), or rank the stacked table as one."""


@dataclass(frozen=True)
class Exploration:
    """What one exploration did."""

    dropped: int
    grown: int
    grown_users: int
    regrown_at_once: int  # dropped and grown in the same exploration
    active: int


def entry_segments(table: SparseTable) -> tuple[np.ndarray, np.ndarray]:
    """Index ranges of user entries and of item entries, a row per block."""
    middle = table.bounds[:-1] + table.user_entries()
    return np.stack([table.bounds[:-1], middle], axis=1), np.stack([middle, table.bounds[1:]], axis=1)


def magnitude_share(table: SparseTable) -> float:
    """Users' share of the sum of |value| over the table (mu of the paper), summed in block order."""
    users, items = entry_segments(table)
    sums = [
        sum(float(np.abs(table.values[a:b]).sum(dtype=np.float64)) for a, b in part)
        for part in (users, items)
    ]
    return sums[0] / (sums[0] + sums[1]) if sums[0] + sums[1] > 0 else 0.5


def mark_dropped(table: SparseTable, fraction: float, scope: Scope = "tables") -> np.ndarray:
    """True for the entries to drop: round(fraction * active) of smallest magnitude, per table or jointly."""
    dropped = np.zeros(len(table.values), bool)
    parts = entry_segments(table)
    if scope == "joint":
        parts = (np.stack([table.bounds[:-1], table.bounds[1:]], axis=1),)  # type: ignore[assignment]
    for segments in parts:
        mark_smallest(
            table.values, segments, round(fraction * int((segments[:, 1] - segments[:, 0]).sum())), dropped
        )
    return dropped


def score_candidates(table: SparseTable, active: np.ndarray) -> tuple[int, int]:
    """Turn the accumulator into scores in place: |gradient| where an entry may grow, -1 where it is active.

    Returns how many entries of users and of items are eligible.
    """
    held = table.candidates
    assert held is not None, "nothing was accumulated"
    np.abs(held.accumulated, out=held.accumulated)
    place = np.full(table.shape.n_rows, -1, np.int32)
    place[held.rows] = np.arange(len(held.rows), dtype=np.int32)
    for index, (start, width) in enumerate(table.shape.blocks):
        part = table.block(index)
        _exclude(
            table.positions[part], active[part], place, width, held.accumulated[:, start : start + width]
        )
    user_rows = int(np.searchsorted(held.rows, table.shape.n_users))
    return _count_eligible(held.accumulated[:user_rows]), _count_eligible(held.accumulated[user_rows:])


def split_quota(total: int, user_share: float, eligible_users: int, eligible_items: int) -> tuple[int, int]:
    """How many entries users and items may grow; what one table cannot take spills to the other."""
    users = min(round(user_share * total), eligible_users)
    items = min(total - users, eligible_items)
    users = min(total - items, eligible_users)
    return users, items


def choose_grown(table: SparseTable, users: int, items: int) -> list[np.ndarray]:
    """Positions per block with the largest scores; call after score_candidates."""
    held, blocks = table.candidates, table.shape.blocks
    assert held is not None
    user_rows = int(np.searchsorted(held.rows, table.shape.n_users))
    of_users = take_largest(held.accumulated, held.rows, (0, user_rows), blocks, users)
    of_items = take_largest(held.accumulated, held.rows, (user_rows, len(held.rows)), blocks, items)
    return [np.concatenate(pair) for pair in zip(of_users, of_items)]


def choose_grown_jointly(table: SparseTable, count: int) -> list[np.ndarray]:
    """The same over the stacked table as one ranking."""
    held = table.candidates
    assert held is not None
    return take_largest(held.accumulated, held.rows, (0, len(held.rows)), table.shape.blocks, count)


def prune_and_regrow(
    table: SparseTable, drop_fraction: float, step: int, scope: Scope = "tables", keep_value: bool = False
) -> Exploration:
    """Drop, then grow exactly as many. The split between the tables is measured before anything is dropped.

    The candidates are spent: new ones must be set before the next exploration.
    """
    share = magnitude_share(table)
    dropped = mark_dropped(table, drop_fraction, scope)
    count = int(dropped.sum())
    keep = ~dropped
    eligible = score_candidates(table, keep)
    count = min(count, sum(eligible))
    if scope == "joint":
        grown = choose_grown_jointly(table, count)
    else:
        grown = choose_grown(table, *split_quota(count, share, *eligible))
    table.set_candidates(None)  # given back before the arrays of the table are rebuilt
    returning = _returning(table, dropped, grown)
    _keep_largest_dropped(table, dropped & ~returning, keep, int(dropped.sum()) - count)
    if keep_value:
        keep |= returning
        grown = [
            new[~np.isin(new, table.positions[table.block(i)][returning[table.block(i)]])]
            for i, new in enumerate(grown)
        ]
    table.change_support(keep, grown, step)
    return _report(table, count, grown, int(returning.sum()))


def fill_support(table: SparseTable, target: int, step: int, largest_share: float = 0.25) -> Exploration:
    """Grow towards `target` active entries, by at most a share of what the candidates have inactive.

    One fill at once would make the sampled rows dense and leave the others empty. The candidates are spent.
    """
    share = magnitude_share(table)
    keep = np.ones(len(table.values), bool)
    eligible = score_candidates(table, keep)
    limits = [
        math.ceil(largest_share * count) for count in eligible
    ]  # rounded up, or the last few never come
    users, items = split_quota(target - len(table.values), share, *limits)
    grown = choose_grown(table, users, items)
    table.set_candidates(None)
    table.change_support(keep, grown, step)
    return _report(table, 0, grown, 0)


def _report(table: SparseTable, dropped: int, grown: list[np.ndarray], again: int) -> Exploration:
    n_users, blocks = table.shape.n_users, table.shape.blocks
    of_users = sum(int(np.searchsorted(new, n_users * width)) for new, (_, width) in zip(grown, blocks))
    return Exploration(dropped, sum(map(len, grown)), of_users, again, len(table.values))


def _returning(table: SparseTable, dropped: np.ndarray, grown: list[np.ndarray]) -> np.ndarray:
    """True for entries that are dropped and grown in the same exploration."""
    returning = np.zeros(len(dropped), bool)
    for index, new in enumerate(grown):
        part = table.block(index)
        returning[part] = dropped[part] & np.isin(table.positions[part], new, assume_unique=True)
    return returning


def _keep_largest_dropped(table: SparseTable, waiting: np.ndarray, keep: np.ndarray, count: int) -> None:
    """When the candidates cannot take all that was dropped, the largest dropped entries stay: density is exact."""
    if count <= 0:
        return
    entries = np.flatnonzero(waiting)
    order = np.lexsort((entries, -np.abs(table.values[entries])))
    keep[entries[order[:count]]] = True


@njit(cache=True, parallel=True)
def _exclude(
    positions: np.ndarray, active: np.ndarray, place: np.ndarray, width: int, scores: np.ndarray
) -> None:
    for e in prange(len(positions)):
        index = place[positions[e] // width]
        if index >= 0 and active[e]:
            scores[index, positions[e] % width] = np.float32(-1.0)


@njit(cache=True)
def _count_eligible(scores: np.ndarray) -> int:
    count = 0
    for index in range(scores.shape[0]):
        for column in range(scores.shape[1]):
            count += scores[index, column] >= 0
    return count
