"""How good vectors are: of a trained table on its test part, and of a file as the device will use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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


def rank_quality(
    users: np.ndarray,
    items: np.ndarray,
    split: Split,
    truth: Interactions,
    at_test: bool,
    term: np.ndarray | None = None,
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


def folded_users(
    vectors: Vectors,
    encoded: Encoded | None,
    split: Split,
    truth: Interactions,
    at_test: bool = False,
    places: np.ndarray | None = None,
    given: Interactions | None = None,
) -> PerUser:
    """What each user gets who is made from their history, by what goes into a file or, without it, by the float
    vectors: what two files are compared by, user by user.

    Items of the file are `places` of all; histories are those of the graph, or `given`.
    """
    if isinstance(encoded, EncodedLists):
        history = user_history(vectors.graph) if given is None else given_history(vectors.graph, given)
        return _listed(encoded, history, split, truth, at_test, places)
    items, fold = (
        (vectors.items, vectors.fold) if encoded is None else _spread(encoded, places, split.n_items)
    )
    folding = FoldIn(fold, vectors.graph)
    users = folding.look_up() if given is None else folding.users(given).__getitem__
    return _ranked(users, items, split, truth, at_test, term=_terms(encoded, split, places))


def score_spread(vectors: Vectors, encoded: Encoded, users: np.ndarray) -> float:
    """How far the scores of the items are apart, for users made from their history: the standard deviation over items,
    on average.
    """
    history = user_history(vectors.graph)[users]
    if isinstance(encoded, EncodedLists):
        everything = np.arange(vectors.graph.n_items)
        scores = (encoded.weighted(history) @ encoded.matrix(everything, len(everything))).toarray()
    else:
        items, fold = encoded.read
        scores = FoldIn(fold, vectors.graph).look_up()(users) @ items.T
    return float(scores.std(axis=1).mean())


def _terms(encoded: Encoded | None, split: Split, places: np.ndarray | None) -> np.ndarray | None:
    """What is added to the score of each item that a file knows, (items,) float32; None: nothing."""
    if encoded is None or encoded.term is None:
        return None
    term = encoded.term.of(split.train.item_counts()).astype(np.float32)
    if places is None:
        return term
    known = np.zeros_like(term)
    known[places] = term[places]
    return known


def encoded_quality(
    vectors: Vectors,
    encoded: Encoded | None,
    split: Split,
    truth: Interactions,
    at_test: bool = False,
    places: np.ndarray | None = None,
) -> dict[str, dict[str, float]]:
    """`trained`: final user vectors against the file's item vectors. `folded`: users made on the device from history.

    Items of what goes into a file are `places` of all; without it the float vectors are measured. Lists have no vectors
    for trained users.
    """
    quality = {"folded": _means(folded_users(vectors, encoded, split, truth, at_test, places))}
    if isinstance(encoded, EncodedLists):
        return quality
    items = vectors.items if encoded is None else _spread(encoded, places, split.n_items)[0]
    term = _terms(encoded, split, places)
    return {"trained": rank_quality(vectors.users, items, split, truth, at_test, term=term)} | quality


def new_user_quality(
    vectors: Vectors,
    encoded: Encoded | None,
    split: Split,
    known_items: np.ndarray | None = None,
) -> dict[str, float]:
    """Test quality of users held out whole, made on the device from what is given of them.

    Without an encoding the float vectors are measured. A file that knows `known_items` only passes over the rest.
    """
    assert split.given is not None
    given = split.given
    if known_items is not None:
        given = given.select(np.isin(given.items, known_items))
    return _means(folded_users(vectors, encoded, split, split.test, True, known_items, given))


def _spread(
    encoded: EncodedVectors, places: np.ndarray | None, n_items: int
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Tables of all items: those a file leaves out score 0 and add nothing, up to ties at 0 what its reader sees."""
    items, fold = encoded.read
    if places is None or len(places) != len(items):
        return items, fold

    def wide(table: np.ndarray) -> np.ndarray:
        out = np.zeros((n_items, table.shape[1]), table.dtype)
        out[places] = table
        return out

    return wide(items), tuple(wide(part) for part in fold)


def _listed(
    encoded: EncodedLists,
    history: scipy.sparse.csr_matrix,
    split: Split,
    truth: Interactions,
    at_test: bool,
    places: np.ndarray | None,
) -> PerUser:
    k = min(20, split.n_items)
    users = np.flatnonzero(np.diff(truth.offsets())).astype(np.int32)
    seen = (split.train, *(split.known_at_test if at_test else ()))
    lists = encoded.matrix(np.arange(split.n_items) if places is None else places, split.n_items)
    top = top_of_lists(encoded.weighted(history), lists, users, seen, k, _terms(encoded, split, places))
    found = per_user(top, truth.offsets(), truth.items, users, k)
    return {name: found[name.partition("@")[0]] for name in KEPT}


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
    return evaluate(user_vectors, whole, *parts, ks=ks, width=shape.width, processes=holders(shape))
