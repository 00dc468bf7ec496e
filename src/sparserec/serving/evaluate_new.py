"""How good a model is on what happened since: new interactions of the users and items that it knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from sparserec.data import Interactions, read_source
from sparserec.errors import DataError
from sparserec.evaluation import evaluate
from sparserec.recommenders import Vectors
from sparserec.runs import Trained


def measure_new(run: Trained, vectors: Vectors, data: Any, reading: dict[str, Any]) -> dict[str, float]:
    """Metrics of ranking, for each user, all items that the log does not have of them already.

    Pairs of unknown users or items, and those that are in the log, are left out and counted.
    """
    split = run.split
    new = read_source(data, **reading).merged()
    users = split.train.user_ids.index_of(new.user_ids.external())[new.users]
    items = split.train.item_ids.index_of(new.item_ids.external())[new.items]
    known = split.everything()
    fresh = (users >= 0) & (items >= 0)
    fresh &= ~np.isin(_keys(users, items, split.n_items), _keys(known.users, known.items, split.n_items))
    if not fresh.any():
        raise DataError(
            f"evaluate: none of the {len(new):,} pairs is of a known user and item and not in the log already"
        )
    ids = split.train.user_ids, split.train.item_ids
    truth = Interactions.from_codes(users[fresh], items[fresh], *ids)
    rows = torch.from_numpy(np.ascontiguousarray(vectors.users, np.float32))
    found = evaluate(
        lambda some: rows[torch.from_numpy(some).long()],
        torch.from_numpy(np.ascontiguousarray(vectors.items, np.float32)),
        known,
        truth,
        ks=run.config.ks,
    )
    counts = {"users": len(found.users), "pairs": len(truth), "left_out": len(new) - len(truth)}
    return {**found.metrics, **counts}


def _keys(users: np.ndarray, items: np.ndarray, n_items: int) -> np.ndarray:
    return users.astype(np.int64) * n_items + items
