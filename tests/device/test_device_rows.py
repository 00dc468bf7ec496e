"""Rows, product codes and neighbour lists of format 1.1: by hand, against dense tables, and against
what they may cost.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from added import neighbours, random_codes, random_lists, weighted
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import make_toy

from sparserec.device import (
    EncodedTable,
    FoldInWeights,
    encode_codes,
    encode_rows,
    loads,
    model_bytes,
    read_back,
    sparse_rows,
)
from sparserec.device import gaps as gaps_module
from sparserec.device.container import parse, serialise
from sparserec.device.encode import quantise_to_codes, uniform_codes
from sparserec.device.errors import CannotWrite
from sparserec.device.gaps import encode_gaps, read_gaps
from sparserec.device.table import starts_of
from sparserec.device.tables import AnyTable, read_any_table


def stored(encoded: EncodedTable) -> AnyTable:
    """A table after a trip through a file."""
    tensors = {f"t.{part}": tensor for part, tensor in encoded.tensors.items()}
    return read_any_table(
        parse(serialise({"format": "srec", "version": "1.1"}, tensors)), "t", encoded.rows, encoded.dim
    )


def random_rows(seed: int, rows: int, dim: int, entries: int) -> np.ndarray:
    """So many entries in each row."""
    rng = np.random.default_rng(seed)
    table = np.zeros((rows, dim))
    columns = np.argsort(rng.random((rows, dim)), axis=1)[:, :entries]
    np.put_along_axis(table, columns, 0.1 + rng.random((rows, entries)), 1)
    return table


def test_gaps_by_hand() -> None:
    """Columns 2, 7 of 8 and 0 of 8.

    First entries: of row 0 the gap 2, 3 * 8 // (4 * 2) = 3 columns, width 1: quotient 1, remainder 0. Of row 1 the gap
    0, 3 * 8 // 4 = 6, width 2: quotient 0, remainder 00. Second entry: 5 columns left, 15 // 4 = 3, width 1: gap 4,
    quotient 2, remainder 0. Unary, zeros before a one: 01 1 001 are the bits of 0b100110; remainders 0 00 0.
    """
    tensors = encode_gaps(np.array([2, 7, 0]), np.array([2, 1]), 8)
    assert tensors["gap.high"].tolist() == [0b100110]
    assert tensors["gap.low"].tolist() == [0]


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 2, 9, 200, 300, 70_000]),
    st.integers(0, 40),
    st.sampled_from([8, 16, gaps_module.BLOCK_GAPS]),
)
def test_gaps_round_trip(seed: int, dim: int, rows: int, block: int) -> None:
    """However many gaps are read at a time."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, min(dim, 20) + 1, rows)
    columns = [np.sort(rng.choice(dim, count, replace=False)) for count in counts]
    flat = np.concatenate([np.zeros(0, np.int64), *columns])
    tensors = {f"t.{name}": tensor for name, tensor in encode_gaps(flat, counts, dim).items()}
    container = parse(serialise({"format": "srec", "version": "1.1"}, tensors))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaps_module, "BLOCK_GAPS", block)
        read = read_gaps(container, "t", starts_of(counts), dim)
    assert read.tolist() == flat.tolist()


@pytest.mark.parametrize(
    "dim, entries, over", [(128, 16, 0.03), (256, 16, 0.03), (128, 32, 0.03), (1024, 40, 0.02)]
)
def test_gaps_take_little_more_than_the_choices(dim: int, entries: int, over: float) -> None:
    table = random_rows(0, 3000, dim, entries)
    tensors = encode_rows(table, 4).tensors
    bits = 8 * (tensors["gap.high"].nbytes + tensors["gap.low"].nbytes) / len(table)
    assert bits <= math.log2(math.comb(dim, entries)) * (1 + over)
    assert tensors["count.level"].nbytes == 0  # all rows are alike


@pytest.mark.parametrize(
    "bits, signed, zero, codes",
    [
        (2, False, False, [1, 2, 3, 4]),
        (2, True, False, [-2, -1, 1, 2]),
        (2, True, True, [-1, 0, 1]),
        (3, False, True, [0, 1, 2, 3, 4, 5, 6, 7]),
        (1, False, False, [1, 2]),
    ],
)
def test_codes_of_a_few_bits(bits: int, signed: bool, zero: bool, codes: list[int]) -> None:
    assert uniform_codes(bits, signed, zero).tolist() == codes


def test_eight_bits_stay_within_a_signed_byte() -> None:
    assert uniform_codes(8, True, False).tolist() == [*range(-127, 0), *range(1, 128)]
    assert uniform_codes(8, False, False).tolist() == list(range(1, 128))


def test_quantised_by_hand() -> None:
    """Row [.4, .8] fits the codes 1, 2 exactly with scale .4; row [0, 0] has none."""
    levels, scale = quantise_to_codes(
        np.array([0.4, 0.8, 0.0, 0.0]), np.array([0, 0, 1, 1]), 2, np.array([0, 1, 2], np.int8)
    )
    assert levels.tolist() == [1, 2, 0, 0] and scale == pytest.approx([0.4, 0.0])


@pytest.mark.parametrize("positions", ["gaps", "prefix", "all"])
@pytest.mark.parametrize("signed", [False, True])
def test_more_bits_less_error(positions: str, signed: bool) -> None:
    rng = np.random.default_rng(3)
    table = random_rows(1, 200, 30, 8) * (rng.choice([-1, 1], (200, 30)) if signed else 1)
    errors = [
        np.abs(read_back(encode_rows(table, bits, positions)) - table).max() for bits in (2, 3, 4, 5, 6, 8)
    ]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.015


def test_entries_near_zero_are_left_out() -> None:
    """With codes 1 to 4 an entry below an eighth of the largest is nearer to 0 than to the smallest code."""
    kept = read_back(encode_rows(np.array([[8.0, 0.9, 1.1, 4.0, 0.0]]), 2))
    assert (kept[0] != 0).tolist() == [True, False, True, True, False]
    signed = read_back(
        encode_rows(np.array([[8.0, -1.9, 2.1, -4.0, 0.0]]), 2)
    )  # -2, -1, 1, 2: below a quarter
    assert (signed[0] != 0).tolist() == [True, False, True, True, False]


def test_rows_of_length_one_need_no_scale() -> None:
    table = random_rows(2, 50, 20, 5)
    table[7] = 0
    encoded = encode_rows(table, 4, unit=True)
    assert not [name for name in encoded.tensors if "scale" in name]
    lengths = np.linalg.norm(read_back(encoded), axis=1)
    assert lengths[7] == 0 and np.delete(lengths, 7) == pytest.approx(1.0, abs=1e-6)
    direction = np.delete(table, 7, 0) / np.linalg.norm(np.delete(table, 7, 0), axis=1, keepdims=True)
    assert (np.delete(read_back(encoded), 7, 0) * direction).sum(axis=1).min() > 0.995


def test_prefixes_take_no_positions() -> None:
    table = np.arange(1, 5) * np.tri(4)  # sizes 1 to 4
    encoded = encode_rows(table, 6, "prefix")
    assert encoded.tensors["size.value"].tolist() == [1, 2, 3, 4]
    assert encoded.tensors["code.level"].nbytes == math.ceil(10 * 6 / 8)
    assert read_back(encoded) == pytest.approx(table, abs=0.05)


def test_sparse_input_is_the_same_as_dense() -> None:
    table = random_rows(5, 40, 25, 6)
    for positions in ("gaps", "prefix"):
        one, other = encode_rows(table, 4, positions), encode_rows(sparse_rows(table), 4, positions)
        assert all(np.array_equal(one.tensors[name], other.tensors[name]) for name in one.tensors)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(["gaps", "prefix", "all", "codes"]), st.booleans())
def test_products_against_dense(seed: int, kind: str, plain: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 9000)) if plain else 5000
    if kind == "codes":
        code, book = rng.integers(0, 7, (rows, 4)), rng.standard_normal((4, 7, 3))
        table = stored(encode_codes(code, book, scale=None if plain else rng.random(rows)))
    else:
        table = stored(encode_rows(random_rows(seed, rows, 12, 5) * rng.choice([-1, 1]), 5, kind, unit=plain))
    dense = np.array([table.row(row) for row in range(rows)])
    vector, weights = rng.standard_normal(12), rng.standard_normal(rows)
    some = rng.integers(0, rows, 9)
    assert np.allclose(table.dots(vector), dense @ vector, rtol=1e-8, atol=1e-8)
    assert np.allclose(table.rowsum(weights), weights @ dense, rtol=1e-6, atol=1e-6)
    assert np.allclose(table.rowsum(weights[some], some), weights[some] @ dense[some], rtol=1e-8, atol=1e-8)
    assert np.array_equal(table.dots_of(vector, some), table.dots(vector)[some])
    assert np.allclose(table.lengths(), np.linalg.norm(dense, axis=1), rtol=1e-9)


def test_codes_by_hand() -> None:
    """Two slices of two columns with two entries each; row 1 has entry 1 of the first and 0 of the second, halved."""
    book = np.array([[[127.0, 0.0], [0.0, 127.0]], [[-127.0, 127.0], [127.0, 127.0]]])
    table = stored(encode_codes(np.array([[0, 1], [1, 0]]), book, scale=np.array([1.0, 0.5])))
    assert np.array([table.row(0), table.row(1)]) == pytest.approx(
        np.array([[127, 0, 127, 127], [0, 63.5, -63.5, 63.5]]), rel=1e-6
    )


def test_a_code_takes_a_byte_a_slice() -> None:
    encoded = encode_codes(*random_codes(0, 1000, 16, 256, 8))
    assert encoded.tensors["part.level"].nbytes == 16_000
    assert encoded.nbytes < 16_000 + 16 * 256 * 8 + 16 * 256 + 1600


def test_explanations_of_codes_add_up() -> None:
    toy = make_toy(4)
    table = encode_codes(*random_codes(1, toy.items, 4, 5, 3))
    model = loads(model_bytes(weighted(toy, "items", FoldInWeights(0.1), score=table)))
    scores, _ = model.score_indices(None, [3, 7, 1], [1.0, -0.5, 2.0])
    for item in range(toy.items):
        assert model.explain([3, 7, 1], item, [1.0, -0.5, 2.0]).score == pytest.approx(scores[item], abs=1e-9)


@pytest.mark.parametrize("bits", [4, 8])
def test_neighbours_are_sums_of_lists(bits: int) -> None:
    toy = make_toy(6)
    lists = encode_rows(random_lists(0, toy.items, signed=True), bits)
    model = loads(model_bytes(neighbours(toy, lists, FoldInWeights(exponent=0.3, size_power=1.0))))
    dense = read_back(lists).astype(np.float64)
    history, weights = [3, 8, 1], np.array([1.0, 2.0, -1.0])
    edges = weights * FoldInWeights(exponent=0.3).weights(toy.item_degree)[history] / 3
    scores, _ = model.score_indices(None, history, weights.tolist())
    assert scores == pytest.approx(edges @ dense[history], rel=1e-6, abs=1e-9)
    for item in range(toy.items):
        parts = model.explain(history, item, weights.tolist()).contributions
        assert [part.id for part in parts] == history
        assert [part.score for part in parts] == pytest.approx(
            edges * dense[history, item], rel=1e-6, abs=1e-9
        )
    own = np.delete(dense[3], 3)
    assert [found.score for found in model.similar(3, k=4)] == pytest.approx(np.sort(own)[::-1][:4], rel=1e-6)
    assert model.recommend(history=[], k=1)[0].id == int(toy.item_degree.argmax())


def test_what_cannot_be_written() -> None:
    table = random_rows(0, 10, 10, 3)
    with pytest.raises(CannotWrite, match="bits"):
        encode_rows(table, 9)
    with pytest.raises(CannotWrite, match="one bit"):
        encode_rows(-table, 1, "all")
    with pytest.raises(CannotWrite, match="positions"):
        encode_rows(table, 4, "somewhere")
    with pytest.raises(CannotWrite, match="finite"):
        encode_rows(np.where(table > 0, np.nan, 0), 4)
    with pytest.raises(CannotWrite, match="entries"):
        encode_rows(np.ones((1, 5000)), 4)
    with pytest.raises(CannotWrite, match="fit"):
        encode_codes(np.array([[5]]), np.zeros((1, 4, 2)))
