"""Learning what is shipped: rows in few bits and product codes, with base history's loss."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sparserec.data import Interactions, read_source
from sparserec.device import code_rows, encode_coded, encode_codes, encode_rows, read_back
from sparserec.encodings.codes import gradient_of_books, learn_codes, looked_up, product_codes
from sparserec.encodings.gaps import learn_rows
from sparserec.graph import Adjacency
from sparserec.progress import progress
from sparserec.recommenders.history import History, HistorySettings
from sparserec.recommenders.history.dense import plain_gradient

DIM, STEPS = 16, 80
BASE = History(HistorySettings(temperature=0.3, users_per_batch=64))


@pytest.fixture(scope="module")
def train() -> Interactions:
    """Three hundred people with tastes of eight kinds, some things that everybody has."""
    rng = np.random.default_rng(1)
    users, items = np.divmod(np.arange(300 * 120), 120)
    chance = np.where(users % 8 == items % 8, 0.5, 0.02) + np.where(items < 5, 0.3, 0.0)
    chosen = rng.random(len(users)) < chance
    return read_source(list(zip(users[chosen].tolist(), items[chosen].tolist()))).train


@pytest.fixture(scope="module")
def graph(train: Interactions) -> Adjacency:
    return BASE.graph(train)


@pytest.fixture(scope="module")
def vectors(train: Interactions) -> np.ndarray:
    """Something to begin with: items by the users they share."""
    users = np.zeros((train.n_users, train.n_items), np.float32)
    users[train.users, train.items] = 1
    left, size, _ = np.linalg.svd(users.T @ users)
    rows = left[:, :DIM] * size[:DIM] ** 0.25
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def loss(rows: np.ndarray, graph: Adjacency, train: Interactions) -> float:
    """Of all users, whatever was learnt from."""
    batches = BASE.more_steps(graph, train, 5)
    return sum(plain_gradient(torch.from_numpy(rows), batches.batch(step))[0] for step in range(5))


def test_codebooks_take_the_gradient_of_their_rows() -> None:
    rng = np.random.default_rng(0)
    code, book = rng.integers(0, 5, (30, 3)), torch.from_numpy(rng.standard_normal((3, 5, 2)))
    weights = torch.from_numpy(rng.standard_normal((30, 6)))
    leaf = book.clone().requires_grad_()
    rows = torch.cat([leaf[number][torch.from_numpy(code[:, number])] for number in range(3)], dim=1)
    assert np.array_equal(looked_up(code, book.numpy()), rows.detach().numpy())
    (rows * weights).sum().backward()
    torch.testing.assert_close(gradient_of_books(code, book, weights), leaf.grad)


@pytest.mark.parametrize("bits", [2, 3])
def test_learnt_rows_lose_less_in_the_same_bytes(
    bits: int, train: Interactions, graph: Adjacency, vectors: np.ndarray
) -> None:
    coded = code_rows(vectors * (np.abs(vectors) > 0.15), bits)
    with progress("", STEPS, quiet=True) as bar:
        learnt = learn_rows(coded, BASE.more_steps(graph, train, STEPS), bar)
    before, after = (encode_coded(one, bits, unit=True) for one in (coded, learnt))
    assert {name: part.shape for name, part in before.tensors.items()} == {
        name: part.shape for name, part in after.tensors.items()
    }
    assert np.array_equal(read_back(before) != 0, read_back(after) != 0), "entries stay where they are"
    assert loss(read_back(after), graph, train) < loss(read_back(before), graph, train) - 0.05
    assert np.linalg.norm(read_back(after), axis=1) == pytest.approx(1.0, abs=1e-5)


def test_no_steps_leave_the_rows_as_they_were(
    train: Interactions, graph: Adjacency, vectors: np.ndarray
) -> None:
    coded = code_rows(vectors, 3)
    with progress("", 0, quiet=True) as bar:
        learnt = learn_rows(coded, BASE.more_steps(graph, train, 0), bar)
    same = encode_coded(learnt, 3), encode_rows(vectors, 3)
    assert np.abs(read_back(same[0]) - read_back(same[1])).max() < 0.2, (
        "up to the scale that fits the row best"
    )


def test_some_rows_of_many() -> None:
    rng = np.random.default_rng(3)
    table = rng.standard_normal((9, 12)) * (rng.random((9, 12)) < 0.5)
    table[4] = 0
    places = np.array([7, 4, 0, 8])
    taken = encode_coded(code_rows(table, 4).take(places), 4)
    assert np.array_equal(read_back(taken) != 0, read_back(encode_rows(table, 4))[places] != 0)
    assert read_back(taken) == pytest.approx(table[places], abs=0.3)


def test_learnt_codes_lose_less_in_the_same_bytes(
    train: Interactions, graph: Adjacency, vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sparserec.encodings.codes.ENTRIES", 12)  # or every item would have one to itself
    codes = product_codes(vectors, 2)
    with progress("", STEPS, quiet=True) as bar:
        learnt = learn_codes(vectors, codes, BASE.more_steps(graph, train, STEPS), bar)
    before, after = (encode_codes(one.code, one.book) for one in (codes, learnt))
    assert before.nbytes == after.nbytes
    assert loss(read_back(after), graph, train) < loss(read_back(before), graph, train) - 0.05
    assert not np.array_equal(codes.code, learnt.code), "entries are chosen again"
    assert np.array_equal(codes.book, product_codes(vectors, 2).book), "what was given is left alone"
