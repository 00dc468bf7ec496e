"""The built-in sample: sizes, determinism, shape of popularity, and tastes that can be learned."""

import time

import numpy as np

from sparserec.data import make_world, split_interactions


def recall_at_20(split, scores):
    """Mean share of a user's test items among the 20 best they have not seen."""
    scores = scores.copy()
    for seen in (split.train, split.valid):
        scores[seen.users, seen.items] = -np.inf
    best = np.argsort(-scores, axis=1, kind="stable")[:, :20]
    wanted = np.zeros(scores.shape, bool)
    wanted[split.test.users, split.test.items] = True
    return (np.take_along_axis(wanted, best, axis=1).sum(1) / wanted.sum(1)).mean()


def test_sizes_names_and_determinism():
    start = time.process_time()
    world = make_world(0)
    assert time.process_time() - start < 2
    data = world.train
    assert (data.n_users, data.n_items) == (3000, 2000) and 110_000 < len(data) < 130_000
    assert len(set(data.item_info.titles)) == 2000
    assert data.pair_hash() == "634b0dae1b805c3e341fa928534f6aff734a4dc3d8fbe21249af0aa81e181cdf"
    assert make_world(1).train.pair_hash() != data.pair_hash()


def test_tags_follow_the_item_numbers():
    data = make_world(0).train
    assert all(len(tags) == 2 for tags in data.item_info.tags)
    garden = data.item_info.titles.index("Quiet Fiddle Garden")
    assert (
        data.item_info.tags[garden] == ("Heron Bank", "garden") and data.item_ids.external(garden) == "p0000"
    )


def test_popularity_has_a_long_tail():
    counts = np.sort(make_world(0).train.item_counts())[::-1]
    assert counts[:200].sum() > 0.25 * counts.sum() and counts[0] > 8 * np.median(counts) and counts[-1] >= 5


def test_a_simple_neighbourhood_model_beats_popularity_three_times():
    split = split_interactions(make_world(0), "resplit", 0)
    matrix = np.zeros((split.n_users, split.n_items), np.float32)
    matrix[split.train.users, split.train.items] = 1
    users, items = np.sqrt(matrix.sum(1, keepdims=True)), np.sqrt(matrix.sum(0, keepdims=True))
    smoothed = matrix / users / np.maximum(items, 1)
    neighbours = smoothed @ (smoothed.T @ smoothed)
    popular = np.broadcast_to(split.train.item_counts().astype(np.float32), matrix.shape)
    assert recall_at_20(split, neighbours) > 3 * recall_at_20(split, popular)
