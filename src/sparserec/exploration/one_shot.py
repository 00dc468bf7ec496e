"""Supports chosen at once: the largest scores of a whole table, or a given support filled up to the budget."""

from __future__ import annotations

import numpy as np

from sparserec.exploration.init import counts_per_block, draw_distinct
from sparserec.exploration.select import Scope, take_largest
from sparserec.table import Shape

ROWS_AT_ONCE = 4096


def largest_support(
    shape: Shape,
    scores: np.ndarray,  # float32 (rows, columns held here), >= 0; overwritten
    target: int,
    scope: Scope = "joint",
    row_minimum: int = 0,
) -> list[np.ndarray]:
    """Exactly `target` positions with the largest scores, as sorted positions per block.

    The `row_minimum` best entries of every row are taken first. With scope "tables" users and items keep the same
    share of their entries; else the stacked table is ranked as one. Ties are broken by (block, row, column).
    """
    chosen = [_best_of_rows(scores, shape, row_minimum)] if row_minimum else []
    rows = np.arange(shape.n_rows, dtype=np.int32)
    for part, count in _parts(shape, target, scope):
        count -= (part[1] - part[0]) * row_minimum
        chosen.append(take_largest(scores, rows, part, shape.local_blocks, count, shape))
    return [np.sort(np.concatenate(blocks)) for blocks in zip(*chosen)]


def largest_row_minimum(shape: Shape, target: int, scope: Scope = "joint") -> int:
    """The most entries that every row can be sure of within the budget."""
    return min(count // max(part[1] - part[0], 1) for part, count in _parts(shape, target, scope))


def _parts(shape: Shape, target: int, scope: Scope) -> list[tuple[tuple[int, int], int]]:
    """Row ranges that are ranked by themselves, with their share of the target."""
    if scope == "joint":
        return [((0, shape.n_rows), target)]
    users = round(target * shape.n_users / shape.n_rows)
    items = ((shape.n_users, shape.n_rows), target - users)
    return [((0, shape.n_users), users), items] if shape.n_users else [items]


def _best_of_rows(scores: np.ndarray, shape: Shape, count: int) -> list[np.ndarray]:
    """Positions of the `count` largest scores of every row, per block; they are marked -1 in the scores."""
    best = [
        np.argsort(-shape.whole_rows(scores[first : first + ROWS_AT_ONCE]), axis=1, kind="stable")[:, :count]
        for first in range(0, shape.n_rows, ROWS_AT_ONCE)
    ]
    rows, columns = np.repeat(np.arange(shape.n_rows), count), np.concatenate(best).reshape(-1)
    support = []
    for (start, width), (local, _) in zip(shape.blocks, shape.local_blocks):
        inside = (columns >= start) & (columns < start + width)
        row, column = rows[inside], columns[inside] - start
        scores[row, local + column] = -1.0
        support.append((row * width + column).astype(np.int32))
    return support


def fill_uniformly(
    shape: Shape, support: list[np.ndarray], target: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """The support and as many positions outside it, drawn uniformly without replacement, as `target` asks for."""
    missing = target - int(shape.total(sum(map(len, support))))
    if missing <= 0:
        return support
    added = draw_inactive(shape, (0, shape.n_rows), support, missing, rng)
    return [np.sort(np.concatenate(pair)) for pair in zip(support, added)]


def draw_inactive(
    shape: Shape, rows: tuple[int, int], active: list[np.ndarray], count: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """`count` positions that are not active, drawn uniformly over a range of rows; ascending per block held here."""
    ranges = [(rows[0] * width, rows[1] * width) for _, width in shape.blocks]
    inside = [
        block[np.searchsorted(block, low) : np.searchsorted(block, high)] - low
        for block, (low, high) in zip(active, ranges)
    ]
    free = [high - low - len(block) for block, (low, high) in zip(inside, ranges)]
    free_anywhere = shape.gather(np.array(free, np.int64)).tolist()
    # Every process draws for all blocks, so that the draws of a block do not depend on who holds it.
    ranks = [  # the how-many-th inactive position of the range
        draw_distinct(size, number, rng)
        for size, number in zip(free_anywhere, counts_per_block(free_anywhere, count, rng))
    ]
    drawn = []
    for block, (low, _), index in zip(inside, ranges, shape.held):
        before = block - np.arange(len(block), dtype=np.int32)  # inactive ones in front of each active one
        passed = np.searchsorted(before, ranks[index], side="right")
        drawn.append((low + ranks[index] + passed).astype(np.int32))
    return drawn
