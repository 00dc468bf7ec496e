"""Arrays kept between steps: no new memory for what was asked for before."""

from __future__ import annotations

import numpy as np

from sparserec.graph import Buffers

FLOAT = np.dtype(np.float32)


def test_a_name_is_one_array_that_grows_with_what_is_asked_for() -> None:
    buffers = Buffers()
    large = buffers.array("rows", (4, 3), FLOAT)
    small = buffers.array("rows", (2, 3), FLOAT)
    small.fill(7.0)
    assert (large[:2] == 7.0).all(), "the same memory"
    assert buffers.nbytes == 4 * 4 * 3
    assert not np.shares_memory(buffers.array("other", (2, 3), FLOAT), small)
    assert buffers.array("rows", (5, 3), FLOAT).shape == (5, 3)
    assert buffers.nbytes == 4 * (5 * 3 + 2 * 3)


def test_another_type_of_numbers_is_another_array() -> None:
    buffers = Buffers()
    buffers.array("rows", (4, 3), FLOAT)
    assert buffers.array("rows", (2, 2), np.dtype(np.float64)).dtype == np.float64
    assert buffers.nbytes == 8 * 2 * 2
