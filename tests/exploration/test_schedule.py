"""When to explore and how much to drop."""

from __future__ import annotations

import pytest

from sparserec.exploration import cosine_drop_fraction, explores_after


@pytest.mark.parametrize(
    ("step", "expected"), [(0, 0.4), (25, 0.34142136), (50, 0.2), (75, 0.05857864), (100, 0.0), (130, 0.0)]
)
def test_half_a_cosine_from_start_to_zero(step: int, expected: float) -> None:
    assert cosine_drop_fraction(step, 100, 0.4) == pytest.approx(expected, abs=1e-8)


def test_the_floor_is_where_it_ends() -> None:
    assert cosine_drop_fraction(100, 100, 0.4, floor=0.1) == pytest.approx(0.1)
    assert cosine_drop_fraction(50, 100, 0.4, floor=0.1) == pytest.approx(0.25)


def test_explorations_are_periodic_and_spare_the_end() -> None:
    assert [step for step in range(1, 21) if explores_after(step, 5, 20)] == [5, 10, 15]
    assert [step for step in range(1, 21) if explores_after(step, 30, 20)] == []
