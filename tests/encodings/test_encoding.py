"""Rows that have sizes of their own keep them; others are turned to their principal axes first."""

from __future__ import annotations

import numpy as np
import pytest

from sparserec.encodings import Encoding, encode
from sparserec.encodings.gaps import allocated, has_unit_rows
from sparserec.encodings.prefix import has_sizes
from sparserec.recommenders import Vectors


def vectors_of(items: np.ndarray) -> Vectors:
    return Vectors(items, items, (items,), None)  # type: ignore[arg-type]  # no graph is asked for here


def test_sizes_are_kept() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.choice([2, 4, 8], 60)
    items = rng.standard_normal((60, 8)).astype(np.float32) * (np.arange(8) < sizes[:, None])
    assert has_sizes(items)
    made = encode(vectors_of(items), Encoding(8, 8, "shared", "prefix"))
    assert made.axes is None
    assert made.score.tensors["size.value"].tolist() == [2, 4, 8]
    assert made.read[0] == pytest.approx(items, abs=0.03)


def test_principal_axes_come_first() -> None:
    """Of vectors that lie in two directions two axes hold everything, however the columns are turned."""
    rng = np.random.default_rng(1)
    items = (rng.standard_normal((80, 2)) @ rng.standard_normal((2, 8))).astype(np.float32)
    assert not has_sizes(items)
    made = encode(vectors_of(items), Encoding(8, 2, "shared", "prefix"))
    assert made.score.tensors["size.value"].tolist() == [2]
    assert made.read[0] == pytest.approx(items, abs=0.1)


def test_rows_of_length_one_are_written_without_a_scale() -> None:
    items = np.random.default_rng(2).standard_normal((30, 6)).astype(np.float32)
    unit = items / np.linalg.norm(items, axis=1, keepdims=True)
    assert has_unit_rows(unit) and not has_unit_rows(items)
    kept = encode(vectors_of(unit), Encoding(4, 6, "shared", "gaps"))
    assert not [name for name in kept.score.tensors if name.startswith("scale")]
    assert np.linalg.norm(kept.read[0], axis=1) == pytest.approx(1.0, abs=1e-5)


def test_entries_are_allocated_by_frequency() -> None:
    """As many in all as an equal cut keeps, more of them in the rows of items that many have."""
    items = np.random.default_rng(3).standard_normal((40, 12)).astype(np.float32)
    users = np.repeat([1, 1000], [30, 10])
    rows = allocated(items, 4, users)
    sizes = np.count_nonzero(rows, axis=1)
    assert sizes.sum() == 4 * 40 and sizes[30:].min() > sizes[:30].max()
    assert np.array_equal(rows[rows != 0], items[rows != 0])
    for row, left, size in zip(items, rows, sizes):
        assert np.abs(left).sum() == pytest.approx(np.sort(np.abs(row))[12 - size :].sum()), "its largest"


def test_rows_that_are_short_already_are_left_as_they_are() -> None:
    items = np.eye(5, 300, dtype=np.float32)
    assert np.array_equal(allocated(items, 2, np.arange(5)), items)
    full = np.random.default_rng(4).standard_normal((6, 300)).astype(np.float32)
    assert np.count_nonzero(allocated(full, 100, np.array([1, 1, 1, 1, 1, 10**6])), axis=1).max() == 256
