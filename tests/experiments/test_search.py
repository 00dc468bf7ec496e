"""How a search of rates unfolds: shorts, an edge that wins, finals, one opened test set."""

from __future__ import annotations

import pytest

from sparserec.errors import SettingError
from sparserec.experiments.search import MOST_RATES, MOST_WHOLE, Search, unfold

FOUR = Search("cerp", (0.04, 0.08, 0.16, 0.32), 3, 2)


def names(search: Search, scores: dict[str, float | None]) -> list[str]:
    return [step.name for step in unfold(search, scores)]


def shorts(scores: dict[float, float | None]) -> dict[str, float | None]:
    return {f"cerp@{rate:g}-short": score for rate, score in scores.items()}


def test_every_rate_is_tried_shortly_first() -> None:
    assert names(FOUR, {}) == [f"cerp@{rate}-short" for rate in ("0.04", "0.08", "0.16", "0.32")]
    assert unfold(FOUR, {})[0].changes == {
        "recipe": {"learning_rate": 0.04, "epochs": 3, "validate_every": 3}, "open_test": False,
    }  # fmt: skip
    assert len(names(FOUR, shorts({0.04: 0.1, 0.08: 0.2}))) == 4, "none in full before all are known"


def test_the_best_two_finish_and_the_winner_is_opened_without_training() -> None:
    scores = shorts({0.04: 0.1, 0.08: 0.3, 0.16: 0.2, 0.32: 0.05})
    assert names(FOUR, scores)[4:] == ["cerp@0.08", "cerp@0.16"]
    assert unfold(FOUR, scores)[4].changes == {"recipe": {"learning_rate": 0.08}, "open_test": False}
    scores |= {"cerp@0.08": 0.4, "cerp@0.16": 0.5, "cerp@0.32": 0.1}
    last = unfold(FOUR, scores)[-1]
    assert (last.name, last.opens) == ("cerp=0.16", "cerp@0.16")


def test_an_edge_that_wins_at_full_length_is_extended_too() -> None:
    """Short trainings like larger rates: .16 and .32 finish first, and .08, fourth of the short ones, is the best."""
    scores = shorts({0.04: 0.1, 0.08: 0.2, 0.16: 0.4, 0.32: 0.3}) | {"cerp@0.16": 0.4, "cerp@0.32": 0.3}
    assert names(FOUR, scores)[-1] == "cerp@0.08"
    scores["cerp@0.08"] = 0.5
    assert names(FOUR, scores)[-1] == "cerp@0.04"
    assert names(FOUR, scores | {"cerp@0.04": 0.45})[-1] == "cerp=0.08"
    falling = scores | {"cerp@0.04": 0.6, "cerp@0.02": 0.7, "cerp@0.01": 0.8}
    assert names(FOUR, falling)[-2:] == ["cerp@0.02", "cerp=0.02"], f"{MOST_WHOLE} at the most"


@pytest.mark.parametrize(("edge", "next_rate"), [(0.32, "0.64"), (0.04, "0.02")])
def test_an_edge_that_wins_is_extended_until_it_does_not(edge: float, next_rate: str) -> None:
    known: dict[float, float | None] = {rate: 0.1 for rate in FOUR.rates} | {edge: 0.4}
    assert f"cerp@{next_rate}-short" in names(FOUR, shorts(known)) and len(names(FOUR, shorts(known))) == 5
    known[float(next_rate)] = 0.3
    finals = names(FOUR, shorts(known))[5:]
    assert finals == [f"cerp@{edge:g}", f"cerp@{next_rate}"]
    rising: dict[float, float | None] = {0.04 * 2**power: 0.1 * power for power in range(20)}
    assert len([name for name in names(FOUR, shorts(rising)) if "short" in name]) == MOST_RATES


def test_a_failed_training_is_the_worst_and_failed_finals_open_nothing() -> None:
    scores = shorts({0.04: 0.1, 0.08: 0.3, 0.16: 0.2, 0.32: None})
    assert names(FOUR, scores)[4:] == ["cerp@0.08", "cerp@0.16"]
    whole = {"cerp@0.08": None, "cerp@0.16": 0.2, "cerp@0.32": None}
    assert names(FOUR, scores | whole)[-1] == "cerp=0.16"
    nothing = {f"cerp@{rate:g}": None for rate in (0.02, 0.04, 0.08, 0.16, 0.01)}
    assert "=" not in names(FOUR, scores | nothing)[-1]


def test_mistakes_are_named() -> None:
    with pytest.raises(SettingError, match=r"queue.toml: rates: .* at least 2 items .*\(got \[0.1\]\)"):
        Search.parse({"name": "x", "rates": [0.1]}, "queue.toml")
    for rates in ([0.1, 0.0], [0.1, float("inf")], [0.1, True]):
        with pytest.raises(SettingError, match=r"queue.toml: rates.1: "):
            Search.parse({"name": "x", "rates": rates}, "queue.toml")
    entry = {"name": "x", "rates": [0.2, 0.1], "method": "dense"}
    assert Search.parse(entry, "queue.toml").rates == (0.1, 0.2) and entry == {"method": "dense"}
