"""Ranking with lists of items left out and allowed, against sorting everything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.serving.best_items import listing, rank
from sparserec.serving.questions import QuestionError


@given(st.integers(0, 10_000), st.integers(1, 9), st.booleans(), st.booleans())
def test_same_as_sorting(seed: int, k: int, limited: bool, masked: bool) -> None:
    rng = np.random.default_rng(seed)
    users, items = (
        rng.integers(-3, 4, (4, 2)).astype(np.float32),
        rng.integers(-3, 4, (9, 2)).astype(np.float32),
    )
    lists = [np.flatnonzero(rng.random(9) < 0.3) for _ in users]
    candidates = np.flatnonzero(rng.random(9) < 0.6).astype(np.int32) if limited else None
    found, scores = rank(users, items, k, listing(lists) if masked else None, candidates)
    for user, vector in enumerate(users):
        allowed = set(range(9) if candidates is None else candidates.tolist())
        allowed -= set(lists[user].tolist()) if masked else set()
        best = sorted(allowed, key=lambda item: (-float(vector @ items[item]), item))[:k]
        assert found[user].tolist() == best + [-1] * (k - len(best))
        expected = [float(vector @ items[item]) for item in best] + [-np.inf] * (k - len(best))
        assert scores[user].tolist() == expected


@pytest.mark.parametrize("k", [0, -1, 10, 2.5, True])
def test_impossible_lengths(k: object) -> None:
    with pytest.raises(QuestionError, match="k = "):
        rank(np.ones((1, 2), np.float32), np.ones((9, 2), np.float32), k, None)  # type: ignore[arg-type]
