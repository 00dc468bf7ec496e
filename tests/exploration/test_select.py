"""Radix select against sorting, with many ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparserec.exploration.select import kth_key, mark_smallest, take_largest

# A few values that tie often, signed zeros, a subnormal, and neighbours that differ in the lowest bit.
NEXT = float(np.nextafter(np.float32(1), np.float32(2)))
VALUES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, NEXT, 2.0, -2.0, 1e-40, 3e38]), st.floats(-4, 4, width=32)
)
TYING = st.sampled_from([1.0, -1.0, NEXT])


@st.composite
def segmented(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Values and disjoint ascending ranges of them, some empty, some values outside all ranges."""
    kind = draw(st.sampled_from([VALUES, TYING]))
    values = np.array(draw(st.lists(kind, min_size=1, max_size=40)), np.float32)
    cuts = sorted(draw(st.lists(st.integers(0, len(values)), min_size=2, max_size=6)))
    cuts = cuts[: len(cuts) // 2 * 2]
    return values, np.array(cuts, np.int64).reshape(-1, 2)


def inside(segments: np.ndarray) -> list[int]:
    return [index for start, stop in segments for index in range(start, stop)]


@given(segmented(), st.integers(1, 40), st.booleans())
def test_kth_key_is_the_kth_magnitude(drawn: tuple[np.ndarray, np.ndarray], k: int, largest: bool) -> None:
    values, segments = drawn
    magnitudes = sorted((abs(float(values[i])) for i in inside(segments)), reverse=largest)
    if k > len(magnitudes):
        with pytest.raises(ValueError, match=f"cannot select {k} of {len(magnitudes)}"):
            kth_key(values, segments, k, largest)
        return
    key, ties = kth_key(values, segments, k, largest)
    assert float(np.uint32(key).view(np.float32)) == magnitudes[k - 1]
    assert ties == magnitudes[:k].count(magnitudes[k - 1])


@given(segmented(), st.floats(0, 1))
def test_mark_smallest_is_a_stable_sort(drawn: tuple[np.ndarray, np.ndarray], share: float) -> None:
    values, segments = drawn
    order = sorted(inside(segments), key=lambda i: (abs(float(values[i])), i))
    k = round(share * len(order))  # a number of its own would mostly be all of them
    chosen = np.zeros(len(values), bool)
    mark_smallest(values, segments, k, chosen)
    assert np.flatnonzero(chosen).tolist() == sorted(order[:k])


def test_of_equal_ones_the_first_are_marked() -> None:
    chosen = np.zeros(6, bool)
    mark_smallest(np.array([2, -1, 2, 0.5, 1, 2], np.float32), np.array([[0, 3], [4, 6]]), 3, chosen)
    assert chosen.tolist() == [True, True, False, False, True, False]  # the first of three twos


def test_mark_smallest_keeps_earlier_marks() -> None:
    chosen = np.array([True, False, False, False])
    mark_smallest(np.array([9, 3, 1, 2], np.float32), np.array([[1, 4]]), 2, chosen)
    assert chosen.tolist() == [True, False, True, True]


@st.composite
def scored(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, tuple[int, int], int]:
    n_rows, dim, width = draw(st.integers(1, 6)), draw(st.integers(1, 7)), draw(st.integers(1, 4))
    flat = draw(
        st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, NEXT]), min_size=n_rows * dim, max_size=n_rows * dim)
    )
    rows = np.array(sorted(draw(st.sets(st.integers(0, 30), min_size=n_rows, max_size=n_rows))), np.int32)
    first = draw(st.integers(0, n_rows))
    return (
        np.array(flat, np.float32).reshape(n_rows, dim),
        rows,
        (first, draw(st.integers(first, n_rows))),
        width,
    )


@given(scored(), st.floats(0, 1))
def test_take_largest_is_a_sort_by_score_then_block_row_column(
    drawn: tuple[np.ndarray, np.ndarray, tuple[int, int], int], share: float
) -> None:
    scores, rows, part, width = drawn
    dim = scores.shape[1]
    blocks = [(start, min(width, dim - start)) for start in range(0, dim, width)]
    eligible = [
        (-float(scores[index, column]), column // width, int(rows[index]), column % width)
        for index in range(*part)
        for column in range(dim)
        if scores[index, column] >= 0
    ]
    k = round(share * len(eligible))
    expected: list[list[int]] = [[] for _ in blocks]
    for _, block, row, column in sorted(eligible)[:k]:
        expected[block].append(row * blocks[block][1] + column)
    taken = take_largest(scores, rows, part, blocks, k)
    assert [positions.tolist() for positions in taken] == [sorted(positions) for positions in expected]
    assert all(positions.dtype == np.int32 for positions in taken)


def test_more_than_is_eligible_is_refused() -> None:
    scores = np.array([[1, -1], [-1, 0]], np.float32)
    with pytest.raises(ValueError, match="cannot select 3 of 2"):
        take_largest(scores, np.array([0, 1], np.int32), (0, 2), [(0, 2)], 3)
