"""What the support looks like: density per table, empty rows, and whether frequent rows got more entries."""

from __future__ import annotations

import numpy as np

from sparserec.table import Table


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson correlation, 0 where one side does not vary."""
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum() / scale) if scale > 0 else 0.0


def ranks(x: np.ndarray) -> np.ndarray:
    """Average ranks, ties shared; correlation of ranks is Spearman's."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2.0)[inverse]


def support_stats(table: Table, frequencies: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """Statistics of a table's support; empty for tables that have none."""
    sizes, n_users, dim = table.row_sizes(), table.shape.n_users, table.shape.dim
    if sizes is None:
        return {}
    stats = {"density": table.parameters() / (table.shape.n_rows * dim)}
    for side, part, counts in (
        ("users", sizes[:n_users], frequencies[0]),
        ("items", sizes[n_users:], frequencies[1]),
    ):
        if len(part) == 0:  # a table of items alone
            continue
        stats[f"density_{side}"] = float(part.mean() / dim)
        stats[f"empty_{side}"] = float((part == 0).mean())
        stats[f"pearson_{side}"] = correlation(part.astype(np.float64), counts.astype(np.float64))
        stats[f"spearman_{side}"] = correlation(ranks(part), ranks(counts))
    return stats
