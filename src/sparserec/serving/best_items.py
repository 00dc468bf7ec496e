"""The best items for some vectors, with items left out or allowed: a thin layer over the streaming ranking."""

from __future__ import annotations

import numpy as np
import torch

from sparserec.evaluation import NO_ITEM, Listing, top_items
from sparserec.process import alone_after_fork
from sparserec.serving.questions import check_length


def rank(
    vectors: np.ndarray,  # float32 (users, dim)
    item_vectors: np.ndarray,  # float32 (items, dim)
    k: int,
    seen: Listing | None,  # offsets over these users, items ascending
    allowed: np.ndarray | None = None,  # ascending item numbers; None: all
) -> tuple[np.ndarray, np.ndarray]:
    """Item numbers and scores, shape (users, k), best first; NO_ITEM and -inf where nothing is left to recommend."""
    check_length(k, len(item_vectors))
    alone_after_fork()
    items = np.full((len(vectors), k), NO_ITEM, np.int32)
    scores = np.full((len(vectors), k), -np.inf, np.float32)
    if allowed is not None:
        item_vectors = item_vectors[allowed]
        seen = None if seen is None else _among(seen, allowed)
    length = min(k, len(item_vectors))
    if length == 0 or len(vectors) == 0:
        return items, scores
    rows = torch.from_numpy(np.ascontiguousarray(vectors, np.float32))
    top = top_items(
        lambda some: rows[torch.from_numpy(some).long()],
        torch.from_numpy(np.ascontiguousarray(item_vectors, np.float32)),
        np.arange(len(vectors), dtype=np.int32),
        length,
        [] if seen is None else [seen],
    )
    found = top >= 0
    products = np.einsum("uc,ukc->uk", vectors, item_vectors[np.maximum(top, 0)])
    scores[:, :length] = np.where(found, products, -np.inf)
    numbers = top if allowed is None else allowed[np.maximum(top, 0)]
    items[:, :length] = np.where(found, numbers, NO_ITEM)
    return items, scores


def listing(lists: list[np.ndarray]) -> Listing:
    """Item lists, one per user, as offsets and ascending items."""
    offsets = np.cumsum([0] + [len(one) for one in lists]).astype(np.int32)
    items = np.concatenate([np.sort(one) for one in lists]) if lists else np.zeros(0)
    return offsets, items.astype(np.int32)


def rows_of_listing(whole: Listing, users: np.ndarray) -> Listing:
    """The lists of some users, in their order."""
    offsets, items = whole
    return listing([items[offsets[user] : offsets[user + 1]] for user in users])


def _among(seen: Listing, allowed: np.ndarray) -> Listing:
    """The same lists in terms of positions among the allowed."""
    offsets, items = seen
    place = np.minimum(np.searchsorted(allowed, items), max(len(allowed) - 1, 0))
    kept = allowed[place] == items if len(allowed) else np.zeros(len(items), bool)
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[offsets].astype(np.int32), place[kept].astype(np.int32)
