"""Weights of EASE in a file, against the whole inverse."""

from __future__ import annotations

import numpy as np
import pytest

from sparserec.classics import EASE
from sparserec.data import Split, read_source, split_interactions
from sparserec.encodings import ease as module
from sparserec.encodings.ease import EaseWeights, choose_weights
from sparserec.encodings.lists import encode_lists


@pytest.fixture(scope="module")
def split() -> Split:
    rng = np.random.default_rng(5)
    pairs = [(u, i) for u in range(90) for i in range(40) if rng.random() < (0.5 if u % 4 == i % 4 else 0.06)]
    return split_interactions(read_source(pairs), "resplit", 0)


def dense(split: Split, l2: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights, and how many people have both items."""
    seen = np.zeros((split.n_users, split.n_items))
    seen[split.train.users, split.train.items] = 1
    both = seen.T @ seen
    inverse = np.linalg.inv(both + l2 * np.eye(len(both)))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    return weights, both


def test_the_largest_weights_of_pairs_that_enough_people_have(split: Split) -> None:
    log = EaseWeights(split.train, EASE(l2=30.0), 3)
    weights, both = dense(split, 30.0)
    allowed = np.where((both >= 3) & (weights != 0), weights, 0)
    np.testing.assert_allclose(log.whole.toarray(), allowed, rtol=1e-3, atol=1e-6)
    cut = log.cut(3).toarray()
    assert np.count_nonzero(cut) == 3 * split.n_items
    np.testing.assert_allclose(cut[cut != 0], allowed[cut != 0], rtol=1e-3)
    size = np.abs(allowed) * np.sqrt(np.maximum(split.train.item_counts(), 1))[:, None]
    two_best = np.sort(size, axis=1)[:, [-2]]
    left_out = (cut == 0) & (size > 0)
    assert size[left_out].max() <= size[(cut != 0) & (size < two_best)].min(), (
        "two of every row are kept anyway"
    )


def test_rows_have_at_most_so_many(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_A_ROW", 4)
    rows = EaseWeights(split.train, EASE(l2=30.0), 1).whole.toarray()
    weights, both = dense(split, 30.0)
    weights = np.where(both >= 1, weights, 0)
    assert ((rows != 0).sum(axis=1) <= 4).all()
    for row, whole in zip(rows, weights):
        np.testing.assert_allclose(
            np.sort(np.abs(row))[::-1][:4], np.sort(np.abs(whole))[::-1][:4], rtol=1e-3, atol=1e-7
        )


def test_a_file_of_some_items_holds_their_weights(split: Split) -> None:
    log, items = EaseWeights(split.train, EASE(l2=0.5), 1), np.arange(38, 1, -1)
    made = encode_lists(log.cut(20), 8, items).matrix(np.arange(37), 37).toarray()
    np.testing.assert_allclose(made, log.cut(20).toarray()[np.ix_(items, items)], atol=0.01)
    assert (made < 0).any() and (made > 0).any()


def test_the_weight_of_squares_is_chosen(split: Split) -> None:
    assert choose_weights(split, split.valid).l2 in module.CHOICES["l2"]
