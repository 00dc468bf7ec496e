"""What methods share that choose a size for every row: budgets dealt out to the last number, and how good rows are."""

from __future__ import annotations

import numpy as np

from sparserec.errors import SettingError
from sparserec.exploration import active_target
from sparserec.methods.base import Context, Validation
from sparserec.table import Shape, Table

LISTS = (5, 10, 20)
"""List lengths that rows are judged at."""


def size_budget(context: Context, method: str) -> int:
    """Numbers to deal out to the rows; an error where there is not one for every row, or nothing to judge by."""
    shape = context.shape()
    target = active_target(shape, context.density)
    if target < shape.n_rows:
        raise SettingError(
            f"{method} gives every row at least one number, and density {context.density:g} leaves {target:,} for "
            f"{shape.n_rows:,} rows; raise density or dim"
        )
    if context.validate is None:
        raise SettingError(
            f"{method} searches by validation scores, and this split has no validation part; use another protocol"
        )
    return target


def deal_out(sizes: np.ndarray, budget: int, dim: int, order: np.ndarray) -> np.ndarray:
    """Sizes whose sum is the budget: one more for rows in this order, or one less in the opposite one, again and again.

    `sizes` are between 1 and `dim`, and stay so.
    """
    dealt = sizes.astype(np.int64)
    while (missing := budget - int(dealt.sum())) != 0:
        step, rows = (1, order) if missing > 0 else (-1, order[::-1])
        able = rows[(dealt[rows] < dim) if missing > 0 else (dealt[rows] > 1)]
        dealt[able[: abs(missing)]] += step
    return dealt


def fitted(wanted: np.ndarray, budget: int, dim: int, order: np.ndarray) -> np.ndarray:
    """Sizes in proportion to those wanted, between 1 and `dim`, whose sum is the budget."""

    def scaled(factor: float) -> np.ndarray:
        return np.clip(np.floor(factor * wanted), 1, dim)

    low, high = 0.0, dim / max(float(wanted.min()), 1e-9)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if scaled(middle).sum() <= budget else (low, middle)
    return deal_out(scaled(low), budget, dim, order)


def by_frequency(shape: Shape, frequencies: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """All rows, the most frequent of both tables first; ties by row."""
    return np.argsort(-np.concatenate(frequencies)[: shape.n_rows], kind="stable")


def user_quality(found: Validation, n_users: int) -> np.ndarray:
    """Mean recall and NDCG at several list lengths of every user; who has nothing held out gets the others' mean."""
    names = [f"{metric}@{k}" for metric in ("recall", "ndcg") for k in LISTS]
    parts = [found.per_user[name] for name in names if name in found.per_user]
    parts = parts or [
        values for name, values in found.per_user.items() if name.startswith(("recall", "ndcg"))
    ]
    measured = np.mean(parts, axis=0)
    quality = np.full(n_users, measured.mean())
    quality[found.users] = measured
    return quality


def judged(context: Context, table: Table) -> np.ndarray:
    """Quality of every user under a table."""
    assert context.validate is not None
    return user_quality(context.validate(table, also_at=LISTS), context.train.n_users)
