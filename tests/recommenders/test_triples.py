"""Gradients of losses over triples of user, positive and negative: summed row by row, whatever repeats."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparserec.recommenders.losses import triple_gradients


def _indices(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def test_two_triples_by_hand() -> None:
    # rows: user (1, 2), items (3, 0), (0, 5), and one that no triple has; gaps are item 2 minus item 1, then 1 minus 2
    vectors = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 5.0], [9.0, 9.0]])
    out = np.full_like(vectors, np.nan)
    triple_gradients(vectors, _indices(0, 0), _indices(1, 2), _indices(2, 1), np.array([1.0, 0.25]), out)
    # the user: 1 * (-3, 5) + .25 * (3, -5); the items: -1 + .25 and 1 - .25 times the user
    np.testing.assert_array_equal(out, [[-2.25, 3.75], [-0.75, -1.5], [0.75, 1.5], [0.0, 0.0]])


@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 20), st.integers(0, 2**20))
def test_equals_a_sum_over_triples(triples: int, n_rows: int, dim: int, seed: int) -> None:
    """Rows may be user, positive and negative at once, and what was in the array before does not matter."""
    rng = np.random.default_rng(seed)
    vectors, slope = rng.standard_normal((n_rows, dim)), rng.standard_normal(triples)
    users, positives, negatives = rng.integers(0, n_rows, (3, triples)).astype(np.int32)
    expected, pulled = np.zeros_like(vectors), slope[:, None] * vectors[users]
    np.add.at(expected, users, slope[:, None] * (vectors[negatives] - vectors[positives]))
    np.add.at(expected, negatives, pulled)
    np.add.at(expected, positives, -pulled)
    out = np.full_like(vectors, np.nan)
    triple_gradients(vectors, users, positives, negatives, slope, out)
    np.testing.assert_allclose(out, expected, atol=1e-12)
