"""How good vectors are: of a trained table on its test part, and of a file as the device will use it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from sparserec.data import Interactions, Split
from sparserec.evaluation import Evaluation, evaluate
from sparserec.graph import Adjacency
from sparserec.recommenders import Recommender
from sparserec.table import Table
from sparserec.vectors.encoding import DEFAULT, Encoding, as_read, encode
from sparserec.vectors.fold_in import fold_in_users
from sparserec.vectors.propagate import Vectors, make_vectors, propagate_all

KEPT = ("recall@20", "ndcg@20")


def rank_quality(
    users: np.ndarray, items: np.ndarray, split: Split, truth: Interactions, at_test: bool, k: int = 20
) -> dict[str, float]:
    """Recall and NDCG of ranking all items by dot product."""
    item_vectors, user_vectors = torch.from_numpy(np.ascontiguousarray(items)), torch.from_numpy(users)

    def rows(ids: np.ndarray) -> torch.Tensor:
        return user_vectors[torch.from_numpy(ids).long()]

    k = min(k, len(items))
    found = evaluate(rows, item_vectors, split.train, truth, split.known_at_test if at_test else (), ks=(k,))
    return {name: found.metrics[name.replace("20", str(k))] for name in KEPT}


def encoded_quality(
    vectors: Vectors, encoding: Encoding | None, split: Split, truth: Interactions, at_test: bool = False
) -> dict[str, dict[str, float]]:
    """`trained`: final user vectors against the file's item vectors. `folded`: users made on the device from history.

    Without an encoding the float vectors are measured.
    """
    items, fold = (vectors.items, vectors.fold) if encoding is None else as_read(vectors, encoding)
    return {
        "trained": rank_quality(vectors.users, items, split, truth, at_test),
        "folded": rank_quality(fold_in_users(vectors.graph, fold), items, split, truth, at_test),
    }


def new_user_quality(
    vectors: Vectors, encoding: Encoding | None, split: Split, known_items: np.ndarray | None = None
) -> dict[str, float]:
    """Test quality of users held out whole, made on the device from what is given of them.

    Without an encoding the float vectors are measured. A file that knows `known_items` only passes over the rest.
    """
    assert split.given is not None
    given = split.given
    if known_items is not None:
        given = given.select(np.isin(given.items, known_items))
    items, fold = (vectors.items, vectors.fold) if encoding is None else as_read(vectors, encoding)
    return rank_quality(fold_in_users(vectors.graph, fold, given), items, split, split.test, at_test=True)


def popularity_quality(split: Split, truth: Interactions, at_test: bool = False) -> dict[str, float]:
    """The same for recommending what most users chose."""
    items = split.train.item_counts().astype(np.float32)[:, None]
    return rank_quality(np.ones((split.n_users, 1), np.float32), items, split, truth, at_test)


def some_users(part: Interactions, count: int, seed: int = 0) -> Interactions:
    """The interactions of at most `count` users drawn at random: enough to choose by, a fraction of the time."""
    users = np.unique(part.users)
    if len(users) <= count:
        return part
    chosen = np.zeros(part.n_users, bool)
    chosen[np.random.default_rng(seed).choice(users, count, replace=False)] = True
    return part.select(chosen[part.users])


def default_export_quality(vectors: Vectors, split: Split) -> dict[str, Any]:
    """Size of the vectors and test quality of the default file, users folded in: the number that is really shipped."""
    score, fold = encode(vectors, DEFAULT)
    if split.given is None:
        quality = encoded_quality(vectors, DEFAULT, split, split.test, at_test=True)
    else:
        in_file = np.flatnonzero(split.train.item_counts())
        quality = {"folded": new_user_quality(vectors, DEFAULT, split, in_file)}
    return {
        "encoding": DEFAULT.label,
        "bytes": score.nbytes + sum(part.nbytes for part in fold),
        **quality,
    }


def evaluate_test(
    recommender: Recommender, graph: Adjacency, table: Table, split: Split, ks: tuple[int, ...]
) -> Evaluation:
    """Metrics on the test part; what else is known of its users is hidden.

    Users held out whole have rows that were never trained, so their vectors are made from what is given of them.
    """
    if split.given is None:
        vectors = propagate_all(recommender, graph, table)
        users, items = vectors[: graph.n_users], vectors[graph.n_users :]
    else:
        made = make_vectors(recommender, graph, table)
        users, items = fold_in_users(graph, made.fold, split.given), made.items
    rows = torch.from_numpy(users)

    def user_vectors(ids: np.ndarray) -> torch.Tensor:
        return rows[torch.from_numpy(ids).long()]

    return evaluate(
        user_vectors,
        torch.from_numpy(items),
        split.train,
        split.test,
        split.known_at_test,
        ks,
        width=table.shape.width,
    )
