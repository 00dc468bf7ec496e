"""When to explore and how much to drop."""

from __future__ import annotations

import pytest

from sparserec.exploration import cosine_drop_fraction, explores_after, interval_of


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


def test_an_interval_counts_from_the_last_change() -> None:
    assert [step for step in range(1, 21) if explores_after(step, 5, 20, since=7)] == [12, 17]
    assert not explores_after(7, 5, 20, since=7), "not at once again"


@pytest.mark.parametrize("steps", [21, 22, 90, 900, 2711, 45_000])
@pytest.mark.parametrize("wanted", [1, 20, 50])
def test_as_many_explorations_as_asked_for_in_any_length(steps: int, wanted: int) -> None:
    interval = interval_of(wanted, steps)
    happened = sum(explores_after(step, interval, steps) for step in range(1, steps + 1))
    assert min(wanted, steps - 1) <= happened <= 2 * wanted
    if steps > 10 * wanted:
        assert happened <= 1.2 * wanted + 1, "a long training does not explore much more than was asked"
