"""Fold-in weights and levels (format 1.1): worked by hand, and against the obvious way."""

from __future__ import annotations

import numpy as np
import pytest
from added import weighted
from files import take_apart
from hypothesis import given
from hypothesis import strategies as st
from toy import make_toy

from sparserec.device import FoldInWeights, Model, encode_table, loads, model_bytes
from sparserec.device.errors import CannotWrite
from sparserec.device.levels import count_levels, nearest_levels, pack_levels, ratio_levels, unpack_levels

DEGREE = np.array([1, 4, 16, 4])
ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, -1.0]])


def small_model(fold_in: FoldInWeights) -> Model:
    """Four items in two columns, exact in int8 up to the scale's float16."""
    toy = make_toy(1, items=4, dim=2)
    return loads(
        model_bytes(weighted(toy, "items", fold_in, score=encode_table(ROWS * 127, 8), degree=DEGREE))
    )


def test_packed_by_hand() -> None:
    """1, 2, 3, 7 of three bits: 001, 010, 011, 111 from the lowest bit on are 0b11_010_001 and 0b1111_0_0
    cut to bytes.
    """
    assert pack_levels(np.array([1, 2, 3, 7]), 3).tolist() == [0b11_010_001, 0b1110]
    assert unpack_levels(np.array([0b11_010_001, 0b1110], np.uint8), 4, 3).tolist() == [1, 2, 3, 7]


@given(st.integers(0, 8), st.integers(0, 200), st.integers(0, 10**6))
def test_packing_round_trip(bits: int, count: int, seed: int) -> None:
    levels = np.random.default_rng(seed).integers(0, 1 << bits, count)
    packed = pack_levels(levels, bits)
    assert len(packed) == -(-count * bits // 8)
    assert unpack_levels(packed, count, bits).tolist() == levels.tolist()


def test_packing_beyond_one_block() -> None:
    levels = np.arange(200_001) % 7
    assert np.array_equal(unpack_levels(pack_levels(levels, 3), len(levels), 3), levels)


@pytest.mark.parametrize("size_power, share", [(0.0, 1.0), (0.5, 3**-0.5), (1.0, 1 / 3)])
def test_weights_by_hand(size_power: float, share: float) -> None:
    """Weights degree^-1/2 = 1, 1/2, 1/4: items 0, 1, 2 give (1 + 1/4, 1/2 + 1/4) times the share of three items."""
    model = small_model(FoldInWeights(exponent=0.5, size_power=size_power))
    scores, _ = model.score_indices(None, [0, 1, 2])
    expected = share * ROWS @ np.array([1.25, 0.75]) * 127**2
    assert scores == pytest.approx(expected, rel=1e-6)
    contributions = [part.score for part in model.explain([0, 1, 2], 2).contributions]
    assert contributions == pytest.approx(np.array([1.0, 0.5, 0.5]) * share * 127**2, rel=1e-6)


def test_exponent_half_is_what_files_without_weights_do() -> None:
    """The default of 1.1 gives the scores of 1.0, whose degrees are implied weights."""
    toy = make_toy(3)
    plain = loads(model_bytes(weighted(toy, "items", None)))  # type: ignore[arg-type]
    named = loads(model_bytes(weighted(toy, "items", FoldInWeights())))
    assert plain.container.metadata["version"] == "1.0" and named.container.metadata["version"] == "1.1"
    history = [3, 7, 1]
    assert np.allclose(
        plain.score_indices(None, history)[0], named.score_indices(None, history)[0], rtol=1e-6
    )
    assert plain.popularity.tolist() == named.popularity.tolist()


def test_own_weights_count() -> None:
    heavy = small_model(FoldInWeights(weight=[1, 0, 100, 1], size_power=0.0))
    scores, _ = heavy.score_indices(None, [0, 1, 2], [1.0, 1.0, -1.0])
    assert scores == pytest.approx(ROWS @ np.array([1.0 - 100.0, -100.0]) * 127**2, rel=1e-6)


def test_a_reader_of_1_0_refuses_the_file() -> None:
    """It would fold in with other weights; it misses the degrees instead."""
    parts = take_apart(model_bytes(weighted(make_toy(3), "items", FoldInWeights())))
    assert "item.degree" not in parts.tensors


def test_weights_as_read() -> None:
    toy = make_toy(5, users=300, items=80)
    for fold_in in (
        FoldInWeights(exponent=0.3, levels=16),
        FoldInWeights(weight=np.linspace(0, 2, 80), levels=7),
    ):
        model = loads(model_bytes(weighted(toy, "items", fold_in)))
        read = model.scorer.item_weights  # type: ignore[union-attr]
        assert read is not None
        assert np.array_equal(read.value[read.level], fold_in.weights(toy.item_degree))


@pytest.mark.parametrize("most", [4, 16, 256])
def test_levels_of_counts(most: int) -> None:
    """Small counts stay what they are; large ones move by a ratio that falls with the number of levels."""
    counts = np.concatenate([np.arange(40), np.random.default_rng(0).integers(40, 9000, 2000)])
    values = count_levels(counts, most)
    assert len(values) <= most and (np.diff(values) > 0).all()
    nearest = values[nearest_levels(np.log1p(counts), np.log1p(values))]
    ratio = np.abs(np.log1p(nearest) - np.log1p(counts)).max()
    assert ratio <= {4: 2.5, 16: 0.7, 256: 0.03}[most]
    if most == 256:
        assert nearest[:20].tolist() == list(range(20))


def test_levels_of_few_counts_are_exact() -> None:
    assert count_levels(np.array([7, 3, 3, 9])).tolist() == [3, 7, 9]
    assert count_levels(np.array([5, 5])).tolist() == [5, 6]  # at least one bit an item


def test_levels_of_ratios_keep_zero_and_ends() -> None:
    numbers = np.concatenate([[0.0], np.geomspace(0.01, 10, 1000)])
    values = ratio_levels(numbers, 16)
    assert len(values) == 16 and values[0] == 0 and values[[1, -1]] == pytest.approx([0.01, 10])


@pytest.mark.parametrize(
    "fold_in",
    [
        FoldInWeights(size_power=0.3),
        FoldInWeights(levels=300),
        FoldInWeights(weight=[1.0]),
        FoldInWeights(weight=[-1.0] * 4),
    ],
)
def test_what_cannot_be_written(fold_in: FoldInWeights) -> None:
    with pytest.raises(CannotWrite, match="fold-in"):
        fold_in.tensors(DEGREE)
