"""Vectors of all users and items, as their base makes them from a table."""

from __future__ import annotations

import numpy as np

from sparserec.graph import Adjacency
from sparserec.recommenders import FoldIn, Recommender, Vectors, fold_taps, scaled_rows, user_history
from sparserec.table import Table


def make_vectors(recommender: Recommender, graph: Adjacency, table: Table) -> Vectors:
    """Final vectors of everybody, and what new users are made from."""
    return recommender.vectors(graph, table)


def propagate_all(recommender: Recommender, graph: Adjacency, table: Table) -> np.ndarray:
    """Output vectors of all nodes, shape (nodes, columns held here): what scores are made from."""
    return recommender.outputs(graph, table)


__all__ = ["FoldIn", "Vectors", "fold_taps", "make_vectors", "propagate_all", "scaled_rows", "user_history"]
