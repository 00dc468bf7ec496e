"""Lists of items chosen together, from the log that a model was trained on: no vector of the model is used."""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np
import scipy.sparse

from sparserec.classics import NeighbourLists, Together, histories, search
from sparserec.data import Interactions, Split
from sparserec.device import SparseRows, encode_rows
from sparserec.evaluation import evaluate_scorer
from sparserec.vectors.neighbours import EncodedLists

CHOICES = {
    "popularity_exponent": (0.2, 0.4, 0.6),
    "walk_exponent": (0.6, 0.8),
    "frequency_exponent": (0.0, 0.5),
    "steps": (0, 400),
}
"""Settings that logs differ in; each is chosen on validation."""


class ListsOfLog:
    """Lists of one log, cut to any length: similarities are computed once, values learnt once for each length."""

    def __init__(self, train: Interactions, settings: Together) -> None:
        self.train, self.settings = train, settings
        self._made: dict[int, scipy.sparse.csr_matrix] = {}

    @cached_property
    def _whole(self) -> NeighbourLists:
        return self.settings.whole(self.train)

    def cut(self, keep: int) -> scipy.sparse.csr_matrix:
        """Lists of `keep` items on average."""
        if keep not in self._made:
            self._made[keep] = self.settings.with_value("neighbours", keep).cut(self._whole, self.train).lists
        return self._made[keep]

    def encode(self, keep: int, bits: int, items: np.ndarray | None = None) -> EncodedLists:
        """The same as they go into a file that knows some items only."""
        lists = self.cut(keep) if items is None else self.cut(keep)[items][:, items].sorted_indices()
        rows = SparseRows(lists.data, lists.indices, lists.indptr.astype(np.int64), lists.shape[1])
        return EncodedLists(encode_rows(rows, bits), equal_weights=True)


def choose_lists(split: Split, truth: Interactions, least_users: int) -> Together:
    """The settings that do best on held-out items; lists that differ in their end only are computed once."""
    history, start = histories(split.train), Together(least_users=least_users)
    listed = min(20, split.n_items)

    @cache
    def whole(walk: float, popularity: float) -> NeighbourLists:
        settings = start.with_value("walk_exponent", walk).with_value("popularity_exponent", popularity)
        return settings.whole(split.train)

    def score(settings: Together) -> float:
        made = settings.cut(whole(settings.walk_exponent, settings.popularity_exponent), split.train)
        found = evaluate_scorer(made.scorer(history), split.train, truth, ks=(listed,))
        return found.metrics[f"ndcg@{listed}"]

    return search(start, score, CHOICES)[0].settings
