"""Folding a history in against inserting that user into the graph one-way, for every base recommender."""

import numpy as np
import pytest

from sparserec.data import Interactions
from sparserec.graph import build_adjacency
from sparserec.recommenders import RECOMMENDERS, make_recommender
from sparserec.table import DenseTable, Shape

N_USERS, N_ITEMS, DIM = 6, 7, 5
BASES = [(name, {}) for name, kind in RECOMMENDERS.items() if kind.user_rows] + [
    ("mgdcf", {"self_loops": True}),
    ("lightgcn", {"layers": 1}),
    ("xsimgcl", {"layers": 2}),
]


@pytest.fixture(scope="module")
def train() -> Interactions:
    rng = np.random.default_rng(3)
    pairs = np.argwhere(rng.random((N_USERS, N_ITEMS)) < 0.5)
    pairs = np.concatenate([pairs, np.stack([np.arange(N_ITEMS) % N_USERS, np.arange(N_ITEMS)], axis=1)])
    return Interactions.from_pairs(pairs[:, 0], pairs[:, 1])


def table(rng: np.random.Generator) -> DenseTable:
    shape = Shape(N_USERS, N_ITEMS, DIM, width=2)
    rows = rng.normal(size=(shape.n_rows, DIM)).astype(np.float32)
    blocks = [np.ascontiguousarray(rows[:, start : start + width]) for start, width in shape.blocks]
    return DenseTable(shape, blocks)


def normalised(train: Interactions, loops: bool) -> np.ndarray:
    """The adjacency as a dense matrix, written out from its definition."""
    linked = np.zeros((N_USERS, N_ITEMS))
    linked[train.users, train.items] = 1
    whole = np.block([[np.zeros((N_USERS, N_USERS)), linked], [linked.T, np.zeros((N_ITEMS, N_ITEMS))]])
    whole += loops * np.eye(N_USERS + N_ITEMS)
    root = 1 / np.sqrt(whole.sum(axis=1))
    return root[:, None] * whole * root


def inserted_one_way(
    train: Interactions, history: list[int], tap: tuple, loops: bool, rows: np.ndarray
) -> np.ndarray:
    """Output of a new last node that reads from its history while every other row of the graph stays as it is."""
    size = N_USERS + N_ITEMS
    graph = np.zeros((size + 1, size + 1))
    graph[:size, :size] = normalised(train, loops)
    for item in history:
        graph[size, N_USERS + item] = ((len(history) + loops) * (train.item_counts()[item] + loops)) ** -0.5
    graph[size, size] = loops / (len(history) + 1)
    power, total = np.vstack([rows, np.zeros(DIM)]), np.zeros((size + 1, DIM))
    for coefficient in tap:
        total += coefficient * power
        power = graph @ power
    return total[size]


@pytest.mark.parametrize(("name", "settings"), BASES)
@pytest.mark.parametrize("history", [[2], [0, 3, 6], [6, 1]])
def test_vector_is_that_of_a_user_inserted_one_way(
    train: Interactions, name: str, settings: dict, history: list[int]
) -> None:
    recommender, stored = make_recommender(name, settings), table(np.random.default_rng(1))
    graph = build_adjacency(train, recommender.self_loops)
    vectors = recommender.vectors(graph, stored)
    folding = vectors.folding
    found = folding.vector(np.array(history))
    if len(recommender.taps[0]) == 1:  # no hop carries anything to a new user: its items' rows stand in
        weights = (len(history) * train.item_counts()[history]) ** -0.5
        expected = weights @ stored.matrix()[N_USERS:][history]
    else:
        loops = recommender.self_loops
        expected = inserted_one_way(train, history, recommender.taps[0], loops, stored.matrix())
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(("name", "settings"), BASES)
def test_terms_add_up_and_each_is_one_item(train: Interactions, name: str, settings: dict) -> None:
    recommender, stored = make_recommender(name, settings), table(np.random.default_rng(2))
    vectors = recommender.vectors(build_adjacency(train, recommender.self_loops), stored)
    folding = vectors.folding
    items = np.array([5, 0, 2])
    terms = folding.terms(items)
    np.testing.assert_allclose(terms.sum(axis=0), folding.vector(items), atol=1e-6)
    np.testing.assert_allclose(terms[[2, 0, 1]], folding.terms(items[[2, 0, 1]]))


def test_where_users_have_no_rows_a_trained_user_is_a_history_like_any_other(train: Interactions) -> None:
    recommender = make_recommender("history", {"item_exponent": 0.3})
    rows = np.random.default_rng(4).normal(size=(N_ITEMS, DIM)).astype(np.float32)
    graph = recommender.graph(train)
    vectors = recommender.vectors(graph, DenseTable(Shape(0, N_ITEMS, DIM, DIM), [rows]))
    folding = vectors.folding
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors.items, unit, rtol=1e-5)
    for user in range(N_USERS):
        history = train.items[train.users == user]
        weights = len(history) ** -0.5 * train.item_counts()[history] ** -0.3
        np.testing.assert_allclose(folding.vector(history), weights @ unit[history], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(vectors.users[user], folding.vector(history), rtol=1e-5, atol=1e-6)
