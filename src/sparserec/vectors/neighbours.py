"""Lists of neighbours instead of vectors: for each item those it speaks for most, and what sums of such lists rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse

from sparserec.data import Interactions
from sparserec.device import EncodedTable, ItemTerm, SparseRows, encode_rows, read_back_sparse
from sparserec.evaluation import NO_ITEM, top_scored
from sparserec.vectors.propagate import Vectors

BLOCK_ROWS = 1024


class Neighbours:
    """What every item adds to the score of every other one, `fold_i . items_j`, the largest of each row kept.

    Items that are not `listed` have no list and stand in none (None: all are).
    """

    def __init__(self, vectors: Vectors, most: int, listed: np.ndarray | None = None) -> None:
        self.vectors = vectors
        self.most = min(most, len(vectors.items) - 1)
        self.hidden = np.zeros(len(vectors.items), bool) if listed is None else ~listed

    @cached_property
    def _lists(self) -> tuple[np.ndarray, np.ndarray]:
        """Items and values, (items, most) each, largest first, of equal ones the lower item."""
        fold, items = self.vectors.fold[0], self.vectors.items
        others = np.empty((len(items), self.most), np.int64)
        values = np.empty((len(items), self.most), np.float32)
        for first in range(0, len(items), BLOCK_ROWS):
            scores = fold[first : first + BLOCK_ROWS] @ items.T
            own = np.arange(len(scores))
            scores[own, first + own] = -np.inf
            scores[:, self.hidden] = -np.inf
            scores[self.hidden[first : first + BLOCK_ROWS]] = -np.inf
            best = top_scored(scores.__getitem__, len(items), own, self.most, [])
            listed = np.maximum(best, 0)  # NO_ITEM where fewer are left
            others[first : first + BLOCK_ROWS] = listed
            values[first : first + BLOCK_ROWS] = np.where(
                best == NO_ITEM, -np.inf, np.take_along_axis(scores, listed, 1)
            )
        return others, values

    def encode(self, keep: int, bits: int) -> EncodedLists:
        """The `keep` best neighbours of each item, those that speak for it alone."""
        others, values = (part[:, :keep] for part in self._lists)
        order = np.argsort(others, axis=1)
        columns, sorted_values = np.take_along_axis(others, order, 1), np.take_along_axis(values, order, 1)
        used = sorted_values > 0
        starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        kept = SparseRows(sorted_values[used], columns[used], starts, len(others))
        return EncodedLists(encode_rows(kept, bits))


@dataclass(frozen=True)
class EncodedLists:
    """Lists as they go into the file."""

    lists: EncodedTable
    equal_weights: bool = False
    """Whether every item of a history counts the same; otherwise as in the graph that the vectors are from."""
    term: ItemTerm | None = None
    """What is added to the score of each item; None: nothing."""

    @property
    def nbytes(self) -> int:
        return self.lists.nbytes

    def matrix(self, places: np.ndarray, n_items: int) -> scipy.sparse.csr_matrix:
        """What a reader sees, (n_items, n_items); rows and columns of the lists stand for the items `places`."""
        read = read_back_sparse(self.lists)
        rows, columns = places[read.rows_of_entries], places[read.columns]
        return scipy.sparse.csr_matrix(
            (read.values.astype(np.float32), (rows, columns)), shape=(n_items, n_items)
        )


def weighted_history(made: EncodedLists, history: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Histories as the lists want them, from those of the graph."""
    if not made.equal_weights:
        return history
    ones = np.ones(history.nnz, np.float32)
    return scipy.sparse.csr_matrix((ones, history.indices, history.indptr), shape=history.shape)


def top_of_lists(
    history: scipy.sparse.csr_matrix,
    lists: scipy.sparse.csr_matrix,
    users: np.ndarray,
    seen: Sequence[Interactions],
    k: int,
    term: np.ndarray | None = None,
) -> np.ndarray:
    """The k best items of each user out of weighted sums of lists and a term of each item, those in `seen` left out:
    (users, k).

    Most scores are 0 here, so what ties at the cut matters: the lower item, as everywhere and as readers do it.
    """

    def scores(some: np.ndarray) -> np.ndarray:
        sums = (history[some] @ lists).toarray()
        return sums if term is None else sums + term

    return top_scored(scores, lists.shape[1], users, k, [(known.offsets(), known.items) for known in seen])
