"""The top of a list of scores; ties are broken by position, here and nowhere else on the device."""

from __future__ import annotations

import numpy as np

BLOCK = 1 << 16


def top(scores: np.ndarray, k: int, allowed: np.ndarray | None = None) -> np.ndarray:
    """Indices of the k largest scores among the allowed ones, largest first, lower index first among equals."""
    best = np.zeros(0, np.int64)
    for first in range(0, len(scores), BLOCK):  # numbers of candidates take as much as their scores
        block = slice(first, first + BLOCK)
        some = np.arange(len(scores[block])) if allowed is None else np.flatnonzero(allowed[block])
        best = _best(scores, np.concatenate([best, first + some]), k)
    return best[np.lexsort((best, -scores[best]))][:k]


def _best(scores: np.ndarray, candidates: np.ndarray, k: int) -> np.ndarray:
    """The k best of some ascending candidates, still ascending: of those that tie at the cut the first ones."""
    values = scores[candidates]
    if len(values) <= k:
        return candidates
    least = np.partition(values, len(values) - k)[len(values) - k]
    above = values > least
    tied = np.flatnonzero(values == least)[: k - np.count_nonzero(above)]
    above[tied] = True
    return candidates[above]
