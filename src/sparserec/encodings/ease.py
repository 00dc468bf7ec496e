"""Weights of EASE from the log that a model was trained on, cut to a size: one more kind of lists of items in a file.

EASE has a weight from every item to every other; most are near nothing. The largest are kept, allocated over all items
as co-occurrence lists are, and only between items that enough people have both of.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import scipy.sparse

from sparserec.classics import EASE, allocate, histories, search
from sparserec.data import Interactions, Split
from sparserec.encodings.lists import LogKind, ndcg_of
from sparserec.encodings.material import Material
from sparserec.recommenders import Vectors

WEIGHTS = (8, 16, 32, 64, 100, 150, 200)
MOST_ITEMS = 5_000
"""Of a catalogue whose weights are computed for a file: the time grows with its cube."""
FREQUENCY_EXPONENT = 0.5
"""How much longer the rows of frequent items are."""
MOST_A_ROW = 250
"""Weights of a row: a file holds rows of at most 256 sizes."""
CHOICES = {"l2": (30.0, 100.0, 300.0, 1000.0)}


class EaseKind(LogKind):
    title = "weights of EASE"
    unit = "weights of EASE"

    def candidates(self, vectors: Vectors) -> Iterable[tuple[int, int]]:
        items = len(vectors.items)
        return ((4, size) for size in WEIGHTS if size < items <= MOST_ITEMS)

    def of_log(self, material: Material) -> EaseWeights:
        assert material.train is not None and material.chosen is not None
        settings = material.chosen.settings("settings of EASE", EASE(), choose_weights)
        return EaseWeights(material.train, settings, material.list_users)


class EaseWeights:
    """Weights of one log, cut to any length; they are computed once."""

    def __init__(self, train: Interactions, settings: EASE, least_users: int) -> None:
        self.train, self.settings, self.least_users = train, settings, least_users

    @cached_property
    def whole(self) -> scipy.sparse.csr_matrix:
        """All weights between items that at least `least_users` people have both of."""
        seen = histories(self.train)
        both = (seen.T @ seen).tocsr()
        both.data = (both.data >= self.least_users).astype(np.float32)
        both.eliminate_zeros()
        weights = both.multiply(self.settings.fit(self.train).weights).tocsr().sorted_indices()
        weights.eliminate_zeros()  # an item's weight to itself
        return _largest(weights, MOST_A_ROW)

    def cut(self, keep: int) -> scipy.sparse.csr_matrix:
        """The largest weights, by their size and how often their row is asked, `keep` a row on average."""
        whole = self.whole
        size = scipy.sparse.csr_matrix((np.abs(whole.data), whole.indices, whole.indptr), shape=whole.shape)
        kept = allocate(size, keep, np.maximum(self.train.item_counts(), 1.0) ** FREQUENCY_EXPONENT)
        kept.data = np.ones_like(kept.data)
        return kept.multiply(whole).tocsr().sorted_indices()


def _largest(rows: scipy.sparse.csr_matrix, most: int) -> scipy.sparse.csr_matrix:
    """At most so many entries of every row, those furthest from 0; of equal ones the first."""
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((np.arange(rows.nnz), -np.abs(rows.data), owners))
    rank = np.empty(rows.nnz, np.int64)
    rank[order] = np.arange(rows.nnz) - rows.indptr[owners]
    kept = rank < most
    starts = np.concatenate([[0], np.cumsum(np.bincount(owners[kept], minlength=rows.shape[0]))])
    return scipy.sparse.csr_matrix((rows.data[kept], rows.indices[kept], starts), shape=rows.shape)


def choose_weights(split: Split, truth: Interactions) -> EASE:
    """The weight of squares that does best on held-out items, from the usual one outwards."""
    history = histories(split.train)

    def score(settings: EASE) -> float:
        return ndcg_of(settings.fit(split.train).scorer(history), split, truth)

    return search(EASE(), score, CHOICES)[0].settings
