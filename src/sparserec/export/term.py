"""Whether popular items are preferred beside what a history says, and how much: chosen on validation.

Base history learns how much popularity counts, and its files want no term. Rows of a graph recommender that were cut
say less of popular items than whole ones. Rare items are never preferred: a file that lists them first tells of the few
who have them (tests/export/test_private.py), even where validation would like it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparserec.data import Interactions, Split
from sparserec.device import ItemTerm
from sparserec.encodings import Encoded, FileQuality
from sparserec.evaluation import paired
from sparserec.recommenders import Vectors

SHARES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""How far the terms of the items are apart, in standard deviations, as a share of how far their scores are."""
USERS_TO_SCALE_BY = 200


def choose_term(vectors: Vectors, encoded: Encoded, split: Split, truth: Interactions) -> ItemTerm | None:
    """The best weight of the logarithm of an item's users; None where none is surely better than nothing."""
    logs = float(ItemTerm(1.0).of(split.train.item_counts()).std())
    users = np.flatnonzero(np.diff(truth.offsets()))[:USERS_TO_SCALE_BY]
    if logs == 0.0 or len(users) < 2:
        return None
    unit = FileQuality(vectors, split, encoded).spread(users) / logs

    def quality(term: ItemTerm | None) -> np.ndarray:
        return FileQuality(vectors, split, replace(encoded, term=term)).users(truth)["ndcg@20"]

    plain = quality(None)
    best, chosen = plain, None
    for share in SHARES:
        term = ItemTerm(share * unit)
        found = quality(term)
        if found.mean() <= best.mean():
            break  # more of it was never better either
        best, chosen = found, term
    return chosen if chosen is not None and paired(best, plain).low > 0 else None
