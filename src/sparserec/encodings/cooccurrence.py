"""Co-occurrence lists, of items chosen together, from the log that a model was trained on."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property

import scipy.sparse

from sparserec.classics import Cooccurrence, NeighbourLists, histories, search
from sparserec.data import Interactions, Split
from sparserec.encodings.lists import LogKind, ndcg_of
from sparserec.encodings.material import Material
from sparserec.recommenders import Vectors

AVERAGE_LISTS = (4, 6, 8, 12, 16, 24, 32, 48, 64, 100, 200)
CHOICES = {
    "popularity_exponent": (0.2, 0.25, 0.4, 0.6),
    "walk_exponent": (0.6, 0.8),
    "frequency_exponent": (0.0, 0.5),
    "steps": (0, 400),
}
"""Settings that logs differ in; each is chosen on validation."""


class CooccurrenceKind(LogKind):
    title = "co-occurrence lists"
    unit = "items chosen together"

    def candidates(self, vectors: Vectors) -> Iterable[tuple[int, int]]:
        return ((bits, size) for size in AVERAGE_LISTS if size < len(vectors.items) for bits in (3, 4))

    def of_log(self, material: Material) -> CooccurrenceLists:
        assert material.train is not None and material.chosen is not None
        least = material.list_users
        settings = material.chosen.settings(
            "settings of co-occurrence lists",
            Cooccurrence(least_users=least),
            lambda split, truth: choose_lists(split, truth, least),
        )
        return CooccurrenceLists(material.train, settings)


class CooccurrenceLists:
    """Lists of one log, cut to any length: similarities are computed once, values learnt once for each length."""

    def __init__(self, train: Interactions, settings: Cooccurrence) -> None:
        self.train, self.settings = train, settings
        self._cut: dict[int, scipy.sparse.csr_matrix] = {}

    @cached_property
    def _whole(self) -> NeighbourLists:
        return self.settings.whole(self.train)

    def cut(self, keep: int) -> scipy.sparse.csr_matrix:
        """Lists of `keep` items on average."""
        if keep not in self._cut:
            self._cut[keep] = self.settings.with_value("neighbours", keep).cut(self._whole, self.train).lists
        return self._cut[keep]


def choose_lists(split: Split, truth: Interactions, least_users: int) -> Cooccurrence:
    """The settings that do best on held-out items; lists that differ in their end only are computed once."""
    history, start = histories(split.train), Cooccurrence(least_users=least_users)

    @cache
    def whole(walk: float, popularity: float) -> NeighbourLists:
        settings = start.with_value("walk_exponent", walk).with_value("popularity_exponent", popularity)
        return settings.whole(split.train)

    def score(settings: Cooccurrence) -> float:
        fitted = settings.cut(whole(settings.walk_exponent, settings.popularity_exponent), split.train)
        return ndcg_of(fitted.scorer(history), split, truth)

    return search(start, score, CHOICES)[0].settings
