"""Lists of items instead of vectors: what the kinds that hold them share, and what sums of such lists rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from sparserec.data import Interactions, Split
from sparserec.device import EncodedTable, ItemTerm, SparseRows, encode_rows, gap_bytes, read_back_sparse
from sparserec.encodings.base import EncodedVectors, Encoding, Kind
from sparserec.encodings.material import Material
from sparserec.evaluation import evaluate_scorer, top_scored


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

    def weighted(self, history: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
        """Histories as the lists want them, from those of the graph."""
        if not self.equal_weights:
            return history
        ones = np.ones(history.nnz, np.float32)
        return scipy.sparse.csr_matrix((ones, history.indices, history.indptr), shape=history.shape)


Encoded = EncodedVectors | EncodedLists
"""What goes into a file."""


class ListKind(Kind):
    lists = True

    def label(self, one: Encoding) -> str:
        return f"{one.keep} {self.unit}, {one.bits} bits"

    def bytes(self, one: Encoding, items: int, dim: int) -> float:
        return gap_bytes(min(one.keep, items), items, items, one.bits)


class Log(Protocol):
    """Lists of one log, cut to any length."""

    def cut(self, keep: int) -> scipy.sparse.csr_matrix:
        """`keep` items of each list on average."""


class LogKind(ListKind):
    """Lists that are made from the log alone: no vector of the model is used."""

    def of_log(self, material: Material) -> Log:
        """What makes them; asked for once, because their settings take a search."""
        raise NotImplementedError

    def encode(self, one: Encoding, material: Material, items: np.ndarray | None = None) -> EncodedLists:
        log = material.once(one.kind, lambda: self.of_log(material))
        return encode_lists(log.cut(one.keep), one.bits, items)


def encode_lists(lists: scipy.sparse.csr_matrix, bits: int, items: np.ndarray | None = None) -> EncodedLists:
    """Lists of all items as they go into a file that knows some of them."""
    if items is not None:
        lists = lists[items][:, items].sorted_indices()
    values = lists.data.astype(np.float32)
    rows = SparseRows(values, lists.indices, lists.indptr.astype(np.int64), lists.shape[1])
    return EncodedLists(encode_rows(rows, bits), equal_weights=True)


def ndcg_of(scorer: Callable[[np.ndarray], Any], split: Split, truth: Interactions) -> float:
    """What settings of lists are chosen by."""
    listed = min(20, split.n_items)
    return evaluate_scorer(scorer, split.train, truth, ks=(listed,)).metrics[f"ndcg@{listed}"]


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
