"""Weights of EASE from the log that a model was trained on, cut to a size: one more kind of lists of items in a file.

EASE has a weight from every item to every other; most are near nothing. The largest are kept, dealt over all items as
co-occurrence lists are, and only between items that enough people have both of.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse

from sparserec.classics import EASE, deal, histories, search
from sparserec.data import Interactions, Split
from sparserec.device import SparseRows, encode_rows
from sparserec.evaluation import evaluate_scorer
from sparserec.vectors.neighbours import EncodedLists

MOST_ITEMS = 5_000
"""Of a catalogue whose weights are computed for a file: the time grows with its cube."""
FREQUENCY_EXPONENT = 0.5
"""How much longer the rows of frequent items are."""
MOST_A_ROW = 250
"""Weights of a row: a file holds rows of at most 256 sizes."""
CHOICES = {"l2": (30.0, 100.0, 300.0, 1000.0)}


class WeightsOfLog:
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
        kept = deal(size, keep, np.maximum(self.train.item_counts(), 1.0) ** FREQUENCY_EXPONENT)
        kept.data = np.ones_like(kept.data)
        return kept.multiply(whole).tocsr().sorted_indices()

    def encode(self, keep: int, bits: int, items: np.ndarray | None = None) -> EncodedLists:
        """The same as they go into a file that knows some items only."""
        lists = self.cut(keep)
        if items is not None:
            lists = lists[items][:, items].sorted_indices()
        rows = SparseRows(
            lists.data.astype(np.float32), lists.indices, lists.indptr.astype(np.int64), lists.shape[1]
        )
        return EncodedLists(encode_rows(rows, bits), equal_weights=True)


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
        scorer = settings.fit(split.train).scorer(history)
        listed = min(20, split.n_items)
        return evaluate_scorer(scorer, split.train, truth, ks=(listed,)).metrics[f"ndcg@{listed}"]

    return search(EASE(), score, CHOICES)[0].settings
