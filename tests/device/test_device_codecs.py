"""int8 and int4 rows: on paper, round trips, and the smallest encoding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sparserec.device import (
    SparseRows,
    encode_table,
    fake_quantise,
    fake_quantise_flat,
    keep_largest,
    loads,
    model_bytes,
    sparse_rows,
)
from sparserec.device.codecs import ENCODINGS, pack_nibbles, signed_nibbles, unpack_nibbles
from sparserec.device.errors import CannotWrite
from sparserec.device.writer import ModelParts

EIGHT = np.array([[0, 2.54, 0, 0, -1.27, 0, 0.01, 0]], np.float32)  # the example of docs/format.md


def read_back(encoded) -> np.ndarray:  # type: ignore[no-untyped-def]
    """The table as the reader sees it, dense."""
    parts = ModelParts("items", "test", np.ones(1), score=encoded, degree=np.ones(encoded.rows, np.int64))
    table = loads(model_bytes(parts)).scorer.score
    return np.array([table.row(row) for row in range(table.rows)])


def test_eight_numbers_by_hand_as_int8() -> None:
    scale = np.float16(0.02)  # 2.54 / 127
    mask = encode_table(EIGHT, 8, "bitmask").tensors
    assert mask["scale"].dtype == np.float16 and mask["scale"].tolist() == [scale]
    assert mask["code"].tolist() == [127, -63]  # -1.27 / .0200043 = -63.49; .01 rounds to 0 and goes
    assert mask["mask"].tolist() == [[0b00010010]]
    index = encode_table(EIGHT, 8, "byte-index").tensors
    assert index["index"].tolist() == [1, 4] and index["count"].tolist() == [2]
    dense = encode_table(EIGHT, 8, "dense").tensors
    assert dense["code"].tolist() == [0, 127, 0, 0, -63, 0, 0, 0]


def test_eight_numbers_by_hand_as_int4() -> None:
    tensors = encode_table(EIGHT, 4, "bitmask").tensors
    assert tensors["scale"].tolist() == [np.float16(2.54 / 7)]
    assert tensors["code"].tolist() == [0x7 | 0xC << 4]  # 7 and -1.27 / .3628 = -3.50, just beyond, so -4


def test_smallest_encoding_wins() -> None:
    rows = 64
    tables = {1: "byte-index", 20: "bitmask", 128: "dense"}
    for entries, expected in tables.items():
        table = np.zeros((rows, 128), np.float32)
        table[:, :entries] = 1.0
        chosen = encode_table(table, 8)
        sizes = [encode_table(table, 8, encoding).nbytes for encoding in ENCODINGS]
        assert chosen.encoding == expected and chosen.nbytes == min(sizes)


def test_scale_outside_float16_becomes_float32() -> None:
    assert encode_table(np.array([[1e-6], [1.0]]), 8).tensors["scale"].dtype == np.float32
    assert encode_table(np.array([[1e8], [1.0]]), 8).tensors["scale"].dtype == np.float32
    assert encode_table(np.array([[0.0], [1.0]]), 8).tensors["scale"].dtype == np.float16


def test_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(CannotWrite, match="not finite"):
        encode_table(np.array([[np.nan, 1.0]]), 8)


tables = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=20),
    elements=st.one_of(st.just(0.0), st.floats(-1e4, 1e4, width=32)),
)


@given(tables, st.sampled_from([8, 4]), st.sampled_from(ENCODINGS))
def test_every_encoding_reads_back_what_fake_quantise_says(
    table: np.ndarray, bits: int, encoding: str
) -> None:
    expected = fake_quantise(table, bits)
    assert np.array_equal(read_back(encode_table(table, bits, encoding)).astype(np.float32), expected)
    assert (expected[table == 0] == 0).all()


@given(tables, st.sampled_from([8, 4]))
def test_error_is_at_most_half_a_step(table: np.ndarray, bits: int) -> None:
    step = np.abs(table).max(axis=1, keepdims=True) / (127 if bits == 8 else 7)
    error = np.abs(fake_quantise(table, bits) - table)
    assert (error <= step * (0.5 + 0.04 * (bits == 8) + 0.003) + 1e-30).all()


@given(tables, st.sampled_from([8, 4]))
def test_flat_and_sparse_agree_with_dense(table: np.ndarray, bits: int) -> None:
    rows, columns = np.nonzero(table)
    flat = fake_quantise_flat(table[rows, columns], rows, len(table), bits)
    assert np.array_equal(flat, fake_quantise(table, bits)[rows, columns])
    sparse = sparse_rows(table)
    assert isinstance(sparse, SparseRows)
    assert encode_table(sparse, bits).tensors.keys() == encode_table(table, bits).tensors.keys()


@given(st.lists(st.integers(-7, 7), max_size=9))
def test_nibbles_round_trip(values: list[int]) -> None:
    packed = pack_nibbles(np.array(values, np.int8))
    assert len(packed) == (len(values) + 1) // 2
    assert signed_nibbles(unpack_nibbles(packed, len(values))).tolist() == values


def test_keep_largest_breaks_ties_by_position() -> None:
    kept = keep_largest(np.array([[1.0, -3.0, 3.0, 3.0], [0.0, 1.0, 0.0, 2.0]]), 2)
    assert kept.tolist() == [[0, -3, 3, 0], [0, 1, 0, 2]]


def test_every_row_keeps_its_own_number_of_entries() -> None:
    rows = np.array([[1.0, -3.0, 3.0], [4.0, 5.0, 6.0], [1.0, 0.0, 2.0]])
    assert keep_largest(rows, np.array([1, 0, 3])).tolist() == [[0, -3, 0], [0, 0, 0], [1, 0, 2]]
