"""Numbering the nodes so that neighbours lie close in memory.

The multiply gathers a row per edge. When nodes that share neighbours have near numbers, those rows are still in the
cache. The strongest NMF component of a node is such a grouping, and comes free with the mask initialisation.
"""

from __future__ import annotations

import numpy as np

from sparserec.data import Interactions


def by_degree(train: Interactions) -> tuple[np.ndarray, np.ndarray]:
    """Busiest users and items first."""
    return _descending(train.user_counts()), _descending(train.item_counts())


def by_group(train: Interactions, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By group (one per node, users first), the busiest first within a group."""
    users, items = group[: train.n_users], group[train.n_users :]
    return (
        np.lexsort((-train.user_counts(), users)),
        np.lexsort((-train.item_counts(), items)),
    )


def _descending(counts: np.ndarray) -> np.ndarray:
    return np.argsort(-counts, kind="stable")
