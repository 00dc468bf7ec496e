"""Supports chosen at once: the largest scores of a whole table, or a given support filled up to the budget."""

from __future__ import annotations

import numpy as np

from sparserec.exploration.init import counts_per_block, draw_distinct
from sparserec.exploration.select import Scope, take_largest
from sparserec.table import Shape


def largest_support(
    shape: Shape,
    scores: np.ndarray,  # float32 (rows, dim), >= 0; overwritten
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
        chosen.append(take_largest(scores, rows, part, shape.blocks, count))
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
    columns = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    np.put_along_axis(scores, columns, np.float32(-1.0), axis=1)
    rows = np.repeat(np.arange(shape.n_rows), count)
    flat, support = columns.reshape(-1), []
    for start, width in shape.blocks:
        inside = (flat >= start) & (flat < start + width)
        support.append((rows[inside] * width + flat[inside] - start).astype(np.int32))
    return support


def fill_uniformly(
    shape: Shape, support: list[np.ndarray], target: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """The support and as many positions outside it, drawn uniformly without replacement, as `target` asks for."""
    missing = target - sum(map(len, support))
    if missing <= 0:
        return support
    whole = [(0, shape.n_rows * width) for _, width in shape.blocks]
    added = draw_inactive(whole, support, missing, rng)
    return [np.sort(np.concatenate(pair)) for pair in zip(support, added)]


def draw_inactive(
    ranges: list[tuple[int, int]], active: list[np.ndarray], count: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """`count` positions that are not active, drawn uniformly over a range of every block; ascending per block."""
    inside = [
        block[np.searchsorted(block, low) : np.searchsorted(block, high)] - low
        for block, (low, high) in zip(active, ranges)
    ]
    free = [high - low - len(block) for block, (low, high) in zip(inside, ranges)]
    drawn = []
    for block, size, number, (low, _) in zip(inside, free, counts_per_block(free, count, rng), ranges):
        ranks = draw_distinct(size, number, rng)  # the how-many-th inactive position of the range
        before = block - np.arange(len(block), dtype=np.int32)  # inactive ones in front of each active one
        drawn.append((low + ranks + np.searchsorted(before, ranks, side="right")).astype(np.int32))
    return drawn
