"""In which order encodings are tried where the time may end, and when it ends."""

from __future__ import annotations

import time

import numpy as np

from sparserec.encodings import ENCODINGS
from sparserec.export.choose import LARGEST_SHARE, Measure, TimeLimit, in_order, possible_encodings
from sparserec.recommenders import Vectors

ITEMS = 3000


def measure(overhead: int = 5_000) -> Measure:
    items = np.zeros((ITEMS, 64), np.float32)
    return Measure(Vectors(items, items, (items,), None), None, overhead)  # type: ignore[arg-type]


def test_every_kind_has_its_turn_and_the_largest_that_fit_come_first() -> None:
    one, budget = measure(), 60_000
    tried = in_order(one, possible_encodings(one.vectors), budget)
    assert [encoding.kind for encoding in tried[: len(ENCODINGS)]] == list(ENCODINGS)
    assert len(set(tried)) == len(tried) > 40
    before: dict[tuple[object, ...], float] = {}
    for encoding in tried:
        family, size = (encoding.kind, encoding.bits, encoding.fold), one.foreseen(encoding)
        assert size <= LARGEST_SHARE * budget
        larger = before.get(family, budget)
        assert size <= larger or size > budget, (
            "of a family those that fit, the largest first; then the others"
        )
        before[family] = size if size <= budget else np.inf
    assert tried[0].bits == 4 and tried[0].fold == "shared"


def test_a_larger_budget_tries_all_that_a_smaller_one_tries() -> None:
    one, before = measure(), set()
    for budget in (10_000, 20_000, 60_000, 300_000, 2_000_000):
        tried = set(in_order(one, possible_encodings(one.vectors), budget))
        assert before <= tried
        before = tried
    assert before == set(possible_encodings(one.vectors))


def test_the_time_ends() -> None:
    assert all(TimeLimit(None).allows_one_more() for _ in range(3))
    limit = TimeLimit(0.05)
    assert limit.allows_one_more() and limit.left_out == 0
    time.sleep(0.06)
    assert not limit.allows_one_more() and not limit.allows_one_more() and limit.left_out == 2
