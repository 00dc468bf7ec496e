"""Supports chosen at once: uniformly random, where a non-negative factorisation of the interactions is not zero, the
largest scores of a whole table, or a given support filled up to the budget.
"""

from __future__ import annotations

import numpy as np

from sparserec.exploration.nmf import Factors
from sparserec.exploration.select import Scope, largest_of_rows, take_largest
from sparserec.table import Shape

LARGEST_HYPERGEOMETRIC = 10**9
ROWS_AT_ONCE = 4096


def uniform_support(shape: Shape, target: int, rng: np.random.Generator) -> list[np.ndarray]:
    """`target` positions drawn without replacement over the whole table, as sorted positions per block.

    How many fall into each block is hypergeometric; inside a block they are drawn by rejection, so that nothing of
    the size of the table is made.
    """
    sizes = [shape.n_rows * width for _, width in shape.all_blocks]
    counts = counts_per_block(sizes, target, rng)
    drawn = [draw_distinct(size, count, rng) for size, count in zip(sizes, counts)]
    return [shape.held_positions(drawn[index]) for index in shape.held]


def counts_per_block(sizes: list[int], target: int, rng: np.random.Generator) -> list[int]:
    """How many of `target` draws fall into each block; proportional where numpy's exact draw ends."""
    if sum(sizes) < LARGEST_HYPERGEOMETRIC:
        return rng.multivariate_hypergeometric(sizes, target, method="marginals").tolist()
    ends = [target * sum(sizes[: index + 1]) // sum(sizes) for index in range(len(sizes))]
    return [end - start for start, end in zip([0] + ends, ends)]


def draw_distinct(size: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` of the numbers below `size`, without replacement, ascending."""
    if size == 0 or count > size // 2:
        return np.sort(rng.permutation(size)[:count]).astype(np.int32)
    chosen = np.unique(rng.integers(0, size, int(count * 1.2) + 16, dtype=np.int32))
    while len(chosen) < count:
        more = rng.integers(0, size, count, dtype=np.int32)
        chosen = np.unique(np.concatenate([chosen, more]))
    if len(chosen) > count:
        drop = rng.choice(len(chosen), len(chosen) - count, replace=False)
        chosen = np.delete(chosen, drop)
    return chosen


def nmf_support(shape: Shape, target: int, factors: Factors) -> list[np.ndarray]:
    """Non-zero positions of the factors; when there are more than `target`, the largest of each table.

    Columns of both factors are first scaled to equal norm, because a factorisation leaves their scales free. The
    target is shared between the tables as their non-zeros are. When there are fewer, all are taken and the rest is
    grown during the first epochs.
    """
    rows, columns, magnitudes = factors.scaled_entries(shape.n_users)
    if len(rows) > target:
        is_user = rows < shape.n_users
        users = int(is_user.sum())
        keep_users = min(max(min(1, users), round(target * users / len(rows))), target - 1)
        keep = np.zeros(len(rows), bool)
        for mask, count in ((is_user, keep_users), (~is_user, target - keep_users)):
            entries = np.flatnonzero(mask)
            order = np.lexsort((columns[entries], rows[entries], -magnitudes[entries]))
            keep[entries[order[:count]]] = True
        rows, columns = rows[keep], columns[keep]
    return positions_per_block(shape, rows, columns)


def positions_per_block(shape: Shape, rows: np.ndarray, columns: np.ndarray) -> list[np.ndarray]:
    """Sorted positions of each block held here from row and column ids in any order."""
    support = []
    for start, width in shape.blocks:
        inside = (columns >= start) & (columns < start + width)
        position = rows[inside].astype(np.int64) * width + (columns[inside] - start)
        support.append(shape.held_positions(np.sort(position).astype(np.int32)))
    return support


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
    best = np.zeros(scores.shape, bool)
    columns = slice(shape.first_column, shape.first_column + shape.columns)
    for first in range(0, shape.n_rows, ROWS_AT_ONCE):
        whole = shape.whole_rows(scores[first : first + ROWS_AT_ONCE])
        best[first : first + ROWS_AT_ONCE] = largest_of_rows(whole, np.full(len(whole), count))[:, columns]
    scores[best] = -1.0
    return [
        np.flatnonzero(best[:, start : start + width]).astype(np.int32) for start, width in shape.local_blocks
    ]


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
