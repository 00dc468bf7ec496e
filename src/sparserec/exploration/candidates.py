"""Which rows may have inactive entries looked at until the next exploration.

The paper draws rows without replacement with p = softmax(frequency). Over raw counts that saturates in float32, so
all three readings are drawn exactly, as the largest of logit + Gumbel noise (equal to sampling without replacement).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

CountScale = Literal["raw", "log", "minmax"]
"""Logits from counts f: raw = f (the formula as written), log = log f (p proportional to f), minmax = f scaled to 0..1.
"""


def logits_of(counts: np.ndarray, scale: CountScale) -> np.ndarray:
    """Logits of the sampling distribution over the rows of one table."""
    f = counts.astype(np.float64)
    if scale == "raw":
        return f
    if scale == "log":
        return np.log(np.maximum(f, 1e-9))
    spread = f.max() - f.min()
    return (f - f.min()) / spread if spread > 0 else np.zeros_like(f)


def draw_rows(counts: np.ndarray, ratio: float, scale: CountScale, rng: np.random.Generator) -> np.ndarray:
    """round(ratio * rows) row ids, ascending, drawn without replacement; at least one."""
    size = min(len(counts), max(1, round(ratio * len(counts))))
    if size == len(counts):
        return np.arange(len(counts), dtype=np.int32)
    keys = logits_of(counts, scale) + rng.gumbel(size=len(counts))
    chosen = np.argpartition(keys, len(counts) - size)[len(counts) - size :]
    return np.sort(chosen).astype(np.int32)


def draw_candidates(
    user_counts: np.ndarray,
    item_counts: np.ndarray,
    ratio: float,
    scale: CountScale,
    rng: np.random.Generator,
) -> np.ndarray:
    """Rows of the stacked table: users first, then items shifted by the number of users."""
    users = draw_rows(user_counts, ratio, scale, rng)
    items = draw_rows(item_counts, ratio, scale, rng)
    return np.concatenate([users, items + np.int32(len(user_counts))])
