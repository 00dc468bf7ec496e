"""Of equal scores the lower item comes first, also at the cut: in lists of neighbours and in what sums of them rank."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from sparserec.classics import histories
from sparserec.data import read_source
from sparserec.encodings import top_of_lists
from sparserec.encodings.neighbours import Neighbours


def by_hand(scores: np.ndarray, seen: set[int], k: int) -> list[int]:
    """Sorted by falling score, then rising item."""
    left = [item for item in range(len(scores)) if item not in seen]
    found = sorted(left, key=lambda item: (-scores[item], item))[:k]
    return found + [-1] * (k - len(found))


def test_sums_of_lists() -> None:
    """Small whole numbers and many zeros: nearly everything ties. One user has seen all but three items."""
    rng = np.random.default_rng(0)
    pairs = [(user, item) for user in range(40) for item in range(300) if rng.random() < 0.02]
    pairs += [(40, item) for item in range(300) if item not in (7, 100, 250)]
    seen = read_source(sorted(pairs)).train
    size = seen.n_items
    lists = scipy.sparse.random(size, size, density=0.02, random_state=1, dtype=np.float32, format="csr")
    lists.data = np.ceil(2 * lists.data)
    history = histories(seen)
    users = np.arange(seen.n_users, dtype=np.int32)
    top = top_of_lists(history, lists, users, [seen], 20)
    scores = (history @ lists).toarray()
    offsets = seen.offsets()
    for user in users:
        own = set(seen.items[offsets[user] : offsets[user + 1]].tolist())
        assert top[user].tolist() == by_hand(scores[user], own, 20)


def test_lists_of_neighbours() -> None:
    vectors = np.random.default_rng(2).integers(-1, 2, (500, 3)).astype(np.float32)
    others, values = Neighbours(vectors, vectors, 16)._lists
    scores = vectors @ vectors.T
    for item in range(500):
        assert others[item].tolist() == by_hand(scores[item], {item}, 16)
        assert values[item].tolist() == scores[item, others[item]].tolist()
