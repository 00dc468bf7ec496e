"""The first support: uniformly random, or where a non-negative factorisation of the interactions is not zero."""

from __future__ import annotations

import numpy as np

from sparserec.errors import SettingError
from sparserec.exploration.nmf import Factors
from sparserec.table import Shape

LARGEST_HYPERGEOMETRIC = 10**9


def active_target(shape: Shape, density: float) -> int:
    """Exact number of active entries: round(density * rows * dim), at least one per table."""
    target = round(density * shape.n_rows * shape.dim)
    if target < 2:
        raise SettingError(
            f"density {density} leaves {target} parameters of {shape.n_rows} x {shape.dim}; "
            "each table needs at least one: raise density or dim"
        )
    return target


def uniform_support(shape: Shape, target: int, rng: np.random.Generator) -> list[np.ndarray]:
    """`target` positions drawn without replacement over the whole table, as sorted positions per block.

    How many fall into each block is hypergeometric; inside a block they are drawn by rejection, so that nothing of
    the size of the table is made.
    """
    sizes = [shape.n_rows * width for _, width in shape.all_blocks]
    drawn = [
        draw_distinct(size, count, rng) for size, count in zip(sizes, counts_per_block(sizes, target, rng))
    ]
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
