"""Figures at 20 are figures at 20: what stands in the 20th place counts, what stands in the 21st does not."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse

from sparserec.data import IdMap, Interactions, Split
from sparserec.device import SparseRows, encode_rows
from sparserec.encodings import EncodedLists, FileQuality
from sparserec.encodings.quality import _means, _ranked, rank_quality

ITEMS, SEEN = 30, 29


def one_user(item: int) -> Interactions:
    users, items = IdMap(np.arange(1)), IdMap(np.arange(ITEMS))
    return Interactions(np.zeros(1, np.int32), np.array([item], np.int32), users, items)


def split_with(wanted: int) -> Split:
    """One user, who has the last item, and wants one of the others: item n is ranked in place n + 1."""
    nothing = one_user(0).select(np.zeros(1, bool))
    return Split(one_user(SEEN), nothing, one_user(wanted), "made by hand", 0, "")


def of_vectors(split: Split) -> dict[str, float]:
    items = np.arange(ITEMS, 0, -1, dtype=np.float32)[:, None]
    return rank_quality(np.ones((1, 1), np.float32), items, split, split.test, at_test=True)


def of_users(split: Split) -> dict[str, float]:
    """The same, user by user."""
    items = np.arange(ITEMS, 0, -1, dtype=np.float32)[:, None]
    return _means(_ranked(np.ones((1, 1), np.float32).__getitem__, items, split, split.test, True))


def of_lists(split: Split) -> dict[str, float]:
    """The list of the item that the user has names all others, in the same order."""
    values, others = np.arange(ITEMS, 1, -1, dtype=np.float32), np.arange(ITEMS - 1)
    starts = np.array([0] * (SEEN + 1) + [len(others)])
    made = EncodedLists(encode_rows(SparseRows(values, others, starts, ITEMS), 8))
    history = scipy.sparse.csr_matrix(([np.float32(1)], ([0], [SEEN])), shape=(1, ITEMS))
    return _means(FileQuality(None, split, made)._listed(made, history, split.test, True))  # type: ignore[arg-type]


@pytest.mark.parametrize("measured", [of_vectors, of_users, of_lists])
@pytest.mark.parametrize("place", [1, 2, 20, 21, 22])
def test_recall_and_ndcg_at_20(measured: object, place: int) -> None:
    found = measured(split_with(place - 1))  # type: ignore[operator]
    counts = place <= 20
    assert found["recall@20"] == (1.0 if counts else 0.0)
    assert found["ndcg@20"] == pytest.approx(1 / math.log2(place + 1) if counts else 0.0)
