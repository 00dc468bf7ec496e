"""Figures at 20 are figures at 20: what stands in the 20th place counts, what stands in the 21st does not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from sparserec.data import IdMap, Interactions, Split
from sparserec.device import SparseRows, encode_rows, encode_table
from sparserec.encodings import EncodedLists, EncodedVectors, FileQuality
from sparserec.encodings.lists import Encoded
from sparserec.encodings.quality import _means, _ranked, rank_quality
from sparserec.graph import build_adjacency
from sparserec.recommenders import Vectors

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


@pytest.mark.parametrize("lists", [False, True])
def test_what_a_file_leaves_out_is_in_no_list(lists: bool) -> None:
    """Four items, of which the file has 0 and 3; the user has 3 and wants 1, which would come first by its score of 0:
    the other item of the file is below 0.
    """
    users, items = IdMap(np.arange(1)), IdMap(np.arange(4))

    def pairs(*wanted: int) -> Interactions:
        return Interactions(np.zeros(len(wanted), np.int32), np.array(wanted, np.int32), users, items)

    split = Split(pairs(3), pairs(), pairs(1), "made by hand", 0, "")
    rows, ones = np.array([[-1.0], [1.0]], np.float32), np.ones((4, 1), np.float32)
    made: Encoded = EncodedVectors(encode_table(rows, 8))
    if lists:  # the list of the second of the two names the first
        starts = np.array([0, 0, 1])
        made = EncodedLists(
            encode_rows(SparseRows(np.array([-1.0], np.float32), np.array([0]), starts, 2), 8)
        )
    vectors = Vectors(np.ones((1, 1), np.float32), ones, (ones,), build_adjacency(split.train))
    for wanted, metric, value in ((pairs(1), "recall@20", 0.0), (pairs(0), "ndcg@20", 1.0)):
        asked = replace(split, test=wanted)
        found = FileQuality(vectors, asked, made, np.array([0, 3])).metrics(wanted, at_test=True)
        assert [one[metric] for one in found.values()] == [value] * len(found), wanted.items
