"""The test part measured as its split means it: trained users as they are, users held out whole folded in."""

from __future__ import annotations

import numpy as np
import torch

from sparserec.data import Split
from sparserec.evaluation import Evaluation, evaluate
from sparserec.graph import Adjacency
from sparserec.recommenders import Recommender
from sparserec.shipping import fold_in_users, make_vectors
from sparserec.shipping.vectors import propagate_all
from sparserec.table import Table


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
