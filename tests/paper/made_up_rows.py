"""Rows of result files, made up."""

from __future__ import annotations

from typing import Any

from sparserec.training.config import RunConfig


def row_of(config: RunConfig, score: float = 0.05, **more: Any) -> dict[str, Any]:
    """A row of a training with this NDCG@20, with all that a report reads of it."""
    values = config.model_dump(mode="json")
    metrics = {"recall@20": 1.25 * score, "ndcg@20": score, "coverage@20": 0.2, "popular_share@20": 0.7}
    return {
        "name": "row", "config": values, "base_settings": values["base_settings"], "epochs": [{"best_score": score}],
        "method_settings": values["method_settings"], "test": {"float": metrics, "int8": metrics},
        "split": {"protocol": "resplit", "seed": 0, "hash": "h"}, "bytes": {"int8": 2_000_000},
        "memory": {"formula": 40_000_000, "ledger": {"values": 5}, "peak": {"train": 7}},
        "data": {"users": 29_858, "items": 40_981}, "explorations": 20,
        "mask": {f"{kind}_{side}": 0.6 for kind in ("pearson", "spearman") for side in ("users", "items")},
        **more,
    }  # fmt: skip
