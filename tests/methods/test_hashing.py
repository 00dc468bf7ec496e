"""dhe: a hash of eight ids and one layer by hand, the network against torch, and networks that fit a budget."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from method_toy import small_context
from torch.nn import functional

from sparserec.errors import SettingError
from sparserec.methods import Phase, PhaseResult, make_method
from sparserec.methods.dhe import DHESettings, fit_network, widest
from sparserec.table import ComputedTable, EntryDropout, Shape
from sparserec.table.base import Update
from sparserec.table.computed import STRETCH, Hashes, network_size
from sparserec.table.normalised import Normalised


def matrix(table: ComputedTable) -> np.ndarray:
    parts = []
    for block, (_, width) in enumerate(table.shape.blocks):
        parts.append(torch.empty((table.shape.n_rows, width)))
        table.fill(block, parts[-1], EntryDropout())
    return torch.cat(parts, dim=1).numpy()


def test_a_hash_of_eight_ids_and_one_layer_by_hand() -> None:
    # ((3 x + 4) mod 11) mod 5 of x = 1 .. 8:    7 10 2 5 8 0 3 6  ->  2 0 2 0 3 0 3 1
    # ((-2 x + 1) mod 7) mod 5 of x = 1 .. 8:    6 4 2 0 5 3 1 6   ->  1 4 2 0 0 3 1 1
    hashes = Hashes(np.array([3, -2]), np.array([4, 1]), np.array([11, 7]), 5)
    first, second = np.array([2, 0, 2, 0, 3, 0, 3, 1]), np.array([1, 4, 2, 0, 0, 3, 1, 1])
    encoded = hashes.encode(0, 8).numpy()
    np.testing.assert_allclose(encoded, np.stack([first, second], 1) / 2 - 1)
    np.testing.assert_array_equal(hashes.encode(5, 7).numpy(), encoded[5:7])

    # One unit that adds both inputs, its scale 2 and shift 1, an output of -3 times it and a bias of .5.
    sums = (first + second) / 2 - 2
    normal = 2 * (sums - sums.mean()) / math.sqrt(sums.var() + 1e-5) + 1
    mish = normal * np.tanh(np.log1p(np.exp(normal)))
    weights = {"layer.0": [[1.0, 1.0]], "scale.0": [2.0], "shift.0": [1.0], "output": [[-3.0]], "bias": [0.5]}
    table = ComputedTable(Shape(5, 3, 1, 1), hashes, {name: torch.tensor(w) for name, w in weights.items()})
    np.testing.assert_allclose(matrix(table)[:, 0], 0.5 - 3 * mish, rtol=1e-5)
    assert table.parameters() == 6 == network_size(2, 1, 1, 1)
    assert table.stored_bytes(8) == (2 + 2) + (1 + 2) + 3 * 4 + 8, "codes and scales, vectors, the seed"


def test_hashes_that_go_on_from_each_other_are_those_of_each_row() -> None:
    rng, count = np.random.default_rng(3), 3 * STRETCH + 5
    for buckets in (7, 1_000_000, 2**40):
        hashes = Hashes.draw(11, buckets, rng)
        numbers = np.arange(9, 9 + count)[:, None]
        places = (hashes.factors * numbers + hashes.shifts) % hashes.primes % buckets
        expected = np.float32(2.0 / (buckets - 1)) * places.astype(np.float32) - np.float32(1.0)
        np.testing.assert_array_equal(hashes.encode(8, 8 + count).numpy(), expected)


@given(st.integers(2, 200), st.integers(1, 20), st.floats(0.01, 30), st.integers(0, 2**20))
def test_normalisation_and_mish_are_those_of_torch(rows: int, width: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    before = rng.normal(rng.normal(0, spread, width), spread, (rows, width)).astype(np.float32)
    scale, shift = rng.normal(1, 1, (2, width)).astype(np.float32)
    received = rng.standard_normal((rows, width)).astype(np.float32)
    inputs = [torch.from_numpy(one.astype(np.float64)).requires_grad_() for one in (before, scale, shift)]
    made = functional.mish(functional.batch_norm(inputs[0], None, None, *inputs[1:], training=True))
    made.backward(torch.from_numpy(received.astype(np.float64)))
    normal, gradient = Normalised(before, scale, shift), received.copy()
    np.testing.assert_allclose(normal.forward(np.empty_like(before)), made.detach(), rtol=1e-4, atol=1e-4)
    of_scale, of_shift = normal.backward(gradient)
    # what is left of a row after the mean and deviation are taken out may be tiny beside what came in
    came = 1e-4 * float(np.abs(received).max()) * np.array([np.abs(normal.slope).max(), rows, rows])
    for found, one, allowed in zip((gradient, of_scale, of_shift), inputs, came):
        assert one.grad is not None
        np.testing.assert_allclose(found, one.grad, rtol=1e-3, atol=allowed)


def test_mish_far_from_zero() -> None:
    """Large values stay what they are, with a slope of one; small ones vanish, with a slope of nothing."""
    values = np.array([[-60.0], [60.0]], np.float32)
    normal = Normalised(values, np.full(1, 60.0, np.float32), np.zeros(1, np.float32))
    np.testing.assert_allclose(normal.forward(np.empty_like(values)), [[0.0], [60.0]], atol=1e-4)
    _, of_shift = normal.backward(np.array([[1.0], [3.0]], np.float32))
    np.testing.assert_allclose(of_shift, [3.0], rtol=1e-5)


def test_three_steps_are_those_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in chunks and columns in blocks, with decay and dropout, against one network with torch's Adam."""
    monkeypatch.setattr("sparserec.table.computed.ROWS_AT_ONCE", 4)
    shape, rng = Shape(6, 5, 3, 2), np.random.default_rng(1)
    table = ComputedTable.create(shape, Hashes.draw(7, 1000, rng), 4, 2, 0.1, rng)
    weights = {name: weight.clone().requires_grad_() for name, weight in table.weights.items()}
    optimiser = torch.optim.Adam(weights.values(), lr=0.05)
    inputs = table.hashes.encode(0, 11)
    for step in range(1, 4):
        received = rng.normal(0, 1, (11, 3)).astype(np.float32)
        decay = np.where(rng.random(11) < 0.5, 0, rng.random(11)).astype(np.float32)
        dropout = EntryDropout(step, 0.3)
        signal = inputs
        for layer in range(2):
            signal = functional.linear(signal, weights[f"layer.{layer}"])
            signal = functional.mish(functional.batch_norm(
                signal, None, None, weights[f"scale.{layer}"], weights[f"shift.{layer}"], training=True))  # fmt: skip
        made = functional.linear(signal, weights["output"], weights["bias"])

        assert table.begin_step(np.arange(3), np.ones(3)) == 0.0
        np.testing.assert_allclose(matrix(table), made.detach().numpy(), rtol=1e-4, atol=1e-6)
        penalty = 0.5 * (torch.from_numpy(decay)[:, None] * made**2).sum()
        assert table.ego_penalty(decay) == pytest.approx(float(penalty.detach()), rel=1e-5)
        kept = []
        update = Update(step, 0.05, decay, dropout)
        for block, (_, width) in enumerate(shape.blocks):
            seen, plain = torch.empty((11, width)), torch.empty((11, width))
            table.fill(block, seen, dropout)
            table.fill(block, plain, EntryDropout())
            kept.append(seen / plain)
        for block, (start, width) in enumerate(shape.blocks):
            table.receive(block, torch.from_numpy(received[:, start : start + width].copy()), update)
        table.finish_step(update)
        loss = penalty + (torch.cat(kept, 1) * made * torch.from_numpy(received)).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    for name, weight in weights.items():
        np.testing.assert_allclose(table.weights[name], weight.detach(), rtol=2e-3, atol=2e-5, err_msg=name)

    again = ComputedTable.revive(shape, table.state())
    np.testing.assert_array_equal(matrix(again), matrix(table))
    coarse = table.quantised(4)
    assert 0 < np.abs(matrix(coarse) - matrix(table)).max() < 1
    np.testing.assert_array_equal(matrix(again), matrix(table))


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_the_widest_network_within_a_budget(layers: int) -> None:
    for budget in (0, 1000, 40_000, 1_133_424):
        width = widest(1024, layers, 128, budget)
        assert network_size(1024, width + 1, layers, 128) > budget
        assert width == 0 or network_size(1024, width, layers, 128) <= budget


def test_hash_functions_fit_the_network() -> None:
    assert fit_network(DHESettings(), 1_133_424, 128) == (1024, 517), "Gowalla at density .125"
    hashes, width = fit_network(DHESettings(), 1008, 24)
    assert hashes == 16 and 8 <= width and network_size(16, width, 3, 24) <= 1008
    assert fit_network(DHESettings(hashes=8), 100_000, 16)[0] == 8, "a given number stands"
    assert fit_network(DHESettings(width=512), 10, 8) == (1024, 512)
    with pytest.raises(SettingError, match="no network with 1024 hash functions"):
        fit_network(DHESettings(hashes=1024), 1000, 24)


def test_output_sizes_are_trained_one_after_the_other() -> None:
    context = small_context(Shape(60, 40, 16, 16), 0.5)
    method = make_method("dhe", {"output_dims": [2, 8], "weights": 300})
    done: list[PhaseResult] = []
    for score in (0.3, 0.2):
        phase = method.next_phase(context, done)
        assert phase is not None and phase.kept and phase.learning_rate == 1e-3
        table = method.start(context, phase, None)
        assert isinstance(table, ComputedTable) and 150 < table.parameters() <= 300
        assert f"output {table.shape.dim}" == phase.name
        done.append(PhaseResult(phase.name, 10, score, True))
    assert method.next_phase(context, done) == Phase("choose", 0, scored_first=True, starts_from=0)
    assert method.next_phase(context, [*done, PhaseResult("choose", 0, 0.3)]) is None
    published = make_method("dhe", {"preset": "published", "hidden_layers": 2}).settings.model_dump()
    assert published["output_dims"] == (8, 16, 32, 64, 128) and published["hidden_layers"] == 2
    with pytest.raises(SettingError, match="unknown preset 'best' of dhe; known: published"):
        make_method("dhe", {"preset": "best"})
