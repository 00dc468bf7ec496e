"""Rows that have sizes of their own keep them; others are turned to their principal axes first."""

from __future__ import annotations

import numpy as np
import pytest

from sparserec.vectors import Encoding, Vectors, encode
from sparserec.vectors.encoding import has_sizes, has_unit_rows


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
