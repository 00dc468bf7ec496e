"""How good vectors are: of a trained table on its test part, and of a file as the device will use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
import torch

from sparserec.data import Interactions, Split
from sparserec.encodings.base import EncodedVectors
from sparserec.encodings.lists import Encoded, EncodedLists, top_of_lists
from sparserec.evaluation import Evaluation, evaluate, per_user
from sparserec.graph import Adjacency
from sparserec.recommenders import FoldIn, Recommender, Vectors, given_history, user_history
from sparserec.table import Shape, Table, holders

KEPT = ("recall@20", "ndcg@20")

PerUser = dict[str, np.ndarray]
"""Recall and NDCG of every user who has held-out items, ascending."""


@dataclass(frozen=True, eq=False)
class FileQuality:
    """How good the lists are that users get by vectors or, with something `encoded`, by a file of them.

    What is held out is compared with; at the test part, what validation knows is left out of the lists as well.
    """

    vectors: Vectors
    split: Split
    encoded: Encoded | None = None
    places: np.ndarray | None = None
    """Which of all items those of the file are; None: all."""

    def users(self, truth: Interactions, at_test: bool = False, given: Interactions | None = None) -> PerUser:
        """What each user gets who is made from their history, that of the graph or what is `given`: what two files are
        compared by, user by user.
        """
        graph = self.vectors.graph
        if isinstance(self.encoded, EncodedLists):
            history = user_history(graph) if given is None else given_history(graph, given)
            return self._listed(self.encoded, history, truth, at_test)
        items, fold = self._tables()
        folding = FoldIn(fold, graph)
        users = folding.look_up() if given is None else folding.users(given).__getitem__
        return _ranked(users, items, self.split, truth, at_test, self._terms())

    def metrics(self, truth: Interactions, at_test: bool = False) -> dict[str, dict[str, float]]:
        """`trained`: final user vectors against the file's item vectors; lists have no vectors for trained users.
        `folded`: users made on the device from history.
        """
        quality = {"folded": _means(self.users(truth, at_test))}
        if isinstance(self.encoded, EncodedLists):
            return quality
        users, items, term = self.vectors.users, self._tables()[0], self._terms()
        return {"trained": rank_quality(users, items, self.split, truth, at_test, term)} | quality

    def new_users(self) -> dict[str, float]:
        """Test quality of users held out whole, from what is given of them and known to the file."""
        given = self.split.given
        assert given is not None
        if self.places is not None:
            given = given.select(np.isin(given.items, self.places))
        return _means(self.users(self.split.test, True, given))

    def spread(self, users: np.ndarray) -> float:
        """How far the scores of the items are apart, for users made from their history: the standard deviation over
        items, on average.
        """
        graph, encoded = self.vectors.graph, self.encoded
        if isinstance(encoded, EncodedLists):
            everything = np.arange(graph.n_items)
            lists = encoded.matrix(everything, len(everything))
            scores = (encoded.weighted(user_history(graph)[users]) @ lists).toarray()
        else:
            items, fold = self._tables()
            scores = FoldIn(fold, graph).look_up()(users) @ items.T
        return float(scores.std(axis=1).mean())

    def _tables(self) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Of all items: those a file leaves out have empty rows, and add nothing to anybody's vector."""
        if not isinstance(self.encoded, EncodedVectors):
            return self.vectors.items, self.vectors.fold
        items, fold = self.encoded.read
        if self.places is None or len(self.places) != len(items):
            return items, fold
        wide = [np.zeros((self.split.n_items, table.shape[1]), table.dtype) for table in (items, *fold)]
        for out, table in zip(wide, (items, *fold)):
            out[self.places] = table
        return wide[0], tuple(wide[1:])

    def _terms(self) -> np.ndarray | None:
        """What is added to the score of each item, (items,) float32; None: nothing. Minus infinity keeps those that a
        file leaves out of every list, as its reader cannot name them.
        """
        term, places = None if self.encoded is None else self.encoded.term, self.places
        if term is None and (places is None or len(places) == self.split.n_items):
            return None
        counts = self.split.train.item_counts()
        added = np.zeros(len(counts), np.float32) if term is None else term.of(counts).astype(np.float32)
        known = np.ones(len(counts), bool) if places is None else np.isin(np.arange(len(counts)), places)
        return np.where(known, added, np.float32(-np.inf))

    def _listed(
        self, encoded: EncodedLists, history: scipy.sparse.csr_matrix, truth: Interactions, at_test: bool
    ) -> PerUser:
        k, n_items = min(20, self.split.n_items), self.split.n_items
        users = np.flatnonzero(np.diff(truth.offsets())).astype(np.int32)
        seen = (self.split.train, *(self.split.known_at_test if at_test else ()))
        lists = encoded.matrix(np.arange(n_items) if self.places is None else self.places, n_items)
        top = top_of_lists(encoded.weighted(history), lists, users, seen, k, self._terms())
        found = per_user(top, truth.offsets(), truth.items, users, k)
        return {name: found[name.partition("@")[0]] for name in KEPT}


def rank_quality(
    users: np.ndarray, items: np.ndarray, split: Split, truth: Interactions, at_test: bool, term: Any = None
) -> dict[str, float]:
    """Recall and NDCG of ranking all items by dot product and, where given, a term of each item."""
    return _means(_ranked(users.__getitem__, items, split, truth, at_test, term))


def _means(found: PerUser) -> dict[str, float]:
    return {name: float(values.mean()) for name, values in found.items()}


def _ranked(
    vectors_of: Callable[[np.ndarray], np.ndarray],
    items: np.ndarray,
    split: Split,
    truth: Interactions,
    at_test: bool,
    term: np.ndarray | None = None,
) -> PerUser:
    whole = items if term is None else np.column_stack([items, term])
    item_vectors = torch.from_numpy(np.ascontiguousarray(whole))

    def rows(ids: np.ndarray) -> torch.Tensor:
        users = vectors_of(ids)
        if term is not None:  # everybody's vector has a 1 where items have their term
            users = np.column_stack([users, np.ones(len(users), users.dtype)])
        return torch.from_numpy(users)

    k = min(20, len(items))
    found = evaluate(rows, item_vectors, split.train, truth, split.known_at_test if at_test else (), ks=(k,))
    return {name: found.per_user[name.replace("20", str(k))] for name in KEPT}


def popularity_quality(split: Split, truth: Interactions, at_test: bool = False) -> dict[str, float]:
    """The same for recommending what most users chose."""
    items = split.train.item_counts().astype(np.float32)[:, None]
    return rank_quality(np.ones((split.n_users, 1), np.float32), items, split, truth, at_test)


def evaluate_test(
    recommender: Recommender, graph: Adjacency, table: Table, split: Split, ks: tuple[int, ...]
) -> Evaluation:
    """Metrics on the test part; what else is known of its users is hidden.

    Users held out whole have rows that were never trained, so their vectors are made from what is given of them.
    """
    if split.given is None:
        vectors = recommender.outputs(graph, table)
        users, items = vectors[: graph.n_users], vectors[graph.n_users :]
    else:
        folded = recommender.vectors(graph, table)
        users, items = folded.folding.users(split.given), folded.items
    return evaluate_part(users, items, table.shape, split.train, split.test, split.known_at_test, ks)


def evaluate_part(
    users: np.ndarray,
    items: np.ndarray,
    shape: Shape,
    train: Interactions,
    truth: Interactions,
    also_seen: Sequence[Interactions],
    ks: tuple[int, ...],
) -> Evaluation:
    """Metrics on a part of a split, from vectors of all users and items in the columns held here."""

    def user_vectors(ids: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(shape.whole_rows(users[ids]))

    whole = torch.from_numpy(shape.whole_rows(items))
    parts = train, truth, also_seen
    return evaluate(user_vectors, whole, *parts, ks=ks, processes=holders(shape))
