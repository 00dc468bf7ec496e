"""The top of a list of scores; ties are broken by position, here and nowhere else on the device."""

from __future__ import annotations

import numpy as np


def top(scores: np.ndarray, k: int, allowed: np.ndarray | None = None) -> np.ndarray:
    """Indices of the k largest scores among the allowed ones, largest first, lower index first among equals."""
    candidates = np.arange(len(scores)) if allowed is None else np.flatnonzero(allowed)
    values = scores[candidates]
    if len(values) > k:
        least = np.partition(values, len(values) - k)[len(values) - k]
        candidates = candidates[values >= least]
        values = scores[candidates]
    return candidates[np.lexsort((candidates, -values))][:k]
