"""InfoBPR and InfoNCE: values worked out by hand, autograd on all pairs at once, and chunks that change nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
import slow_bases as slow
import torch
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import Batch
from sparserec.recommenders import info_bpr as info_bpr_module
from sparserec.recommenders.info_bpr import info_bpr
from sparserec.recommenders.info_nce import info_nce
from sparserec.recommenders.losses import bpr


def test_info_bpr_by_hand() -> None:
    # user (1, 0); scores: positive 2, negatives 0 and log 3
    vectors = np.array([[1.0, 0.0], [2.0, 5.0], [0.0, 7.0], [math.log(3), 1.0]])
    value, gradient = info_bpr(vectors, np.array([0]), np.array([1]), np.array([[2, 3]]), 1)
    total = math.exp(2) + 1 + 3
    assert value == pytest.approx(-math.log(math.exp(2) / total))
    shares = np.array([math.exp(2) / total - 1, 1 / total, 3 / total])
    np.testing.assert_allclose(gradient[1:, 0], shares)
    np.testing.assert_allclose(gradient[1:, 1], 0.0)
    np.testing.assert_allclose(gradient[0], shares @ vectors[1:])


def test_info_nce_by_hand() -> None:
    # unit rows after scaling: (1,0), (0,1) against (1,0), (0.6,0.8); temperature 1/2 doubles the cosines
    left, right = np.array([[3.0, 0.0], [0.0, 0.5]]), np.array([[1.0, 0.0], [0.6, 0.8]])
    value, _, _ = info_nce(left, right, 0.5)
    first = -math.log(math.exp(2) / (math.exp(2) + math.exp(1.2)))
    second = -math.log(math.exp(1.6) / (math.exp(0) + math.exp(1.6)))
    assert value == pytest.approx((first + second) / 2)


def random_case(edges: int, per_edge: int, group_size: int, seed: int) -> tuple[np.ndarray, Batch]:
    """6 users and 9 items in one array of rows, and a batch over them."""
    rng = np.random.default_rng(seed)
    shape = -(-edges // group_size), per_edge
    batch = Batch(rng.integers(0, 6, edges), rng.integers(0, 9, edges), rng.integers(0, 9, shape))
    return rng.standard_normal((15, 4)), batch


@given(st.integers(1, 20), st.integers(1, 5), st.integers(1, 25), st.integers(0, 2**20), st.integers(1, 9))
def test_info_bpr_equals_autograd_in_any_chunks(
    edges: int, per_edge: int, group_size: int, seed: int, largest: int
) -> None:
    vectors, batch = random_case(edges, per_edge, group_size, seed)
    reference = torch.from_numpy(vectors).requires_grad_()
    loss = slow.info_bpr_mean(reference, batch, 6, group_size)
    loss.backward()
    assert reference.grad is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(info_bpr_module, "LARGEST_PRODUCT", largest)
        for chunk_bytes in (1, 4000, 8 << 20):
            value, gradient = info_bpr(
                vectors, batch.users, batch.positives + 6, batch.negatives + 6, group_size, chunk_bytes
            )
            assert value == pytest.approx(loss.item(), rel=1e-12)
            np.testing.assert_allclose(gradient, reference.grad.numpy(), atol=1e-12)


def test_one_negative_makes_info_bpr_bpr() -> None:
    vectors, batch = random_case(17, 1, 1, 3)
    arguments = vectors, batch.users, batch.positives + 6
    value, gradient = info_bpr(*arguments, batch.negatives + 6, 1)
    plain_value, plain_gradient = bpr(*arguments, batch.negatives[:, 0] + 6)
    assert value == pytest.approx(plain_value)
    np.testing.assert_allclose(gradient, plain_gradient, atol=1e-12)


@given(st.integers(1, 12), st.integers(0, 2**20), st.sampled_from([0.01, 0.05, 0.2, 1.0]))
def test_info_nce_equals_autograd_in_any_chunks(count: int, seed: int, temperature: float) -> None:
    rng = np.random.default_rng(seed)
    views = [rng.standard_normal((count, 3)) for _ in range(2)]
    left, right = (torch.from_numpy(view).clone().requires_grad_() for view in views)
    loss = slow.info_nce_mean(left, right, temperature)
    loss.backward()
    assert left.grad is not None and right.grad is not None
    for chunk_bytes in (1, 8 * count * 2, 8 << 20):
        value, on_left, on_right = info_nce(views[0], views[1], temperature, chunk_bytes)
        assert value == pytest.approx(loss.item(), rel=1e-10, abs=1e-12)
        np.testing.assert_allclose(on_left, left.grad.numpy(), atol=1e-10)
        np.testing.assert_allclose(on_right, right.grad.numpy(), atol=1e-10)


def test_large_scores_do_not_overflow() -> None:
    vectors = np.array([[100.0], [-3.0], [3.0]], np.float32)
    value, gradient = info_bpr(vectors, np.array([0]), np.array([1]), np.array([[2]]), 1)
    assert value == pytest.approx(600.0) and np.isfinite(gradient).all()


@pytest.mark.parametrize("temperature", [0.005, 0.0166, 0.0167, 0.1])
def test_cold_contrasts_stay_finite(temperature: float) -> None:
    """Rows that are equal, opposite or across: exponents reach from -1 to 1 over the temperature, in float32."""
    left = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], np.float32)
    right = np.array([[-1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]], np.float32)
    value, on_left, on_right = info_nce(left, right, temperature)
    views = [torch.from_numpy(view.astype(np.float64)).requires_grad_() for view in (left, right)]
    loss = slow.info_nce_mean(views[0], views[1], temperature)
    loss.backward()
    assert value == pytest.approx(loss.item(), rel=1e-5)
    for slopes, view in zip((on_left, on_right), views):
        assert view.grad is not None
        np.testing.assert_allclose(slopes, view.grad.numpy(), rtol=1e-4, atol=1e-4)


def test_a_row_without_direction_gets_no_gradient_and_spoils_none() -> None:
    left, right = np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)
    left[1] = right[2] = 0.0
    value, on_left, on_right = info_nce(left, right, 0.15)
    assert math.isfinite(value) and np.isfinite(on_left).all() and np.isfinite(on_right).all()
    assert not on_left[1].any() and not on_right[2].any()
