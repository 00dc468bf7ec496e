"""Scores are summed per block of columns and then in block order, so that blocks may live anywhere."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import Batch
from sparserec.recommenders import make_recommender, rows_of
from sparserec.recommenders.losses import block_scores, pair_scores

# 2^24 + 1 is not a float32: what is lost depends on what is added first.
BIG = float(2**24)
ROW = np.array([[BIG, 1.0, -BIG, 1.0]], np.float32)
ONES = np.ones((1, 4), np.float32)


def test_the_order_of_the_sum_is_by_block_hand_worked() -> None:
    vectors, left, right = np.concatenate([ROW, ONES]), np.array([0], np.int32), np.array([1], np.int32)
    # Blocks of two: (2^24 + 1 = 2^24) + (-2^24 + 1 = -16777215) = 1.
    # Blocks of one, from the left: 2^24 + 1 - 2^24 + 1 = 1.
    # One block of three first: 2^24 + 1 - 2^24 = 0 from the left, then 1: also 1. Swapped inside, blocks still decide:
    assert pair_scores(vectors, left, right, 2)[0] == np.float32(BIG) + np.float32(-BIG + 1)
    swapped = vectors[:, [0, 2, 1, 3]]
    assert pair_scores(swapped, left, right, 2)[0] == 2.0, "(2^24 - 2^24) + (1 + 1)"
    assert pair_scores(swapped, left, right, 1)[0] == 2.0


@given(st.integers(1, 40), st.integers(1, 17), st.integers(0, 999))
def test_blocks_in_different_places_add_up_to_the_same_bits(dim: int, width: int, seed: int) -> None:
    """What a process computes from its own columns is what the whole rows give for that block."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((6, dim)).astype(np.float32)
    left, right = rng.integers(0, 6, 9).astype(np.int32), rng.integers(0, 6, 9).astype(np.int32)
    total = None
    for start in range(0, dim, width):
        own = np.ascontiguousarray(vectors[:, start : start + width])
        part = block_scores(own, own.shape[1], left, right)[0]
        total = part if total is None else total + part
    whole = pair_scores(vectors, left, right, width)
    np.testing.assert_array_equal(whole, total)
    np.testing.assert_allclose(whole, (vectors[left] * vectors[right]).sum(1), rtol=1e-4, atol=1e-5)


def test_a_step_sums_by_the_tables_blocks() -> None:
    """With the block width of the table the order of sums decides the loss; all columns at once would give another."""
    batch = Batch(np.array([0], np.int32), np.array([0], np.int32), np.array([[1]], np.int32))
    user, liked = ROW[:, [0, 2, 1, 3]], ONES
    vectors = np.concatenate([user, liked, np.zeros((1, 4), np.float32)])
    losses = []
    for width in (2, 4):
        rows = rows_of(batch, 1, 2, width)
        losses.append(make_recommender("lightgcn").loss([vectors.copy()], rows, 0, 1).value)
    assert losses[0] == np.log1p(np.exp(-2.0)), "(2^24 - 2^24) + (1 + 1)"
    assert rows_of(batch, 1, 2).width is None
