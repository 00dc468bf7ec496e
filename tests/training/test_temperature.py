"""Temperature and lengths of base `history` where none are given: chosen on validation, recorded, and used."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "methods"))
from method_toy import train_toy


def test_an_open_temperature_is_chosen_and_recorded(tmp_path: Path) -> None:
    recipe = {"epochs": 1, "learning_rate": 0.05, "final_learning_rate": 0.01}
    chosen = train_toy(tmp_path / "open", "dense", "history", base_settings={}, recipe=recipe).record
    for setting, name in (("temperature", "temperatures"), ("length_exponent", "lengths")):
        scores = chosen[name]
        assert len(scores) >= 3 and chosen["base_settings"][setting] == float(max(scores, key=scores.get))
    assert chosen["softmax"] == {"items": 72, "of": 72}
    given = {name: chosen["base_settings"][name] for name in ("temperature", "length_exponent")}
    same = train_toy(tmp_path / "given", "dense", "history", base_settings=given, recipe=recipe).record
    assert same["temperatures"] is None and same["lengths"] is None and same["test"] == chosen["test"]
    for change in ({"temperature": 3.0}, {"length_exponent": 0.9}):
        folder, settings = tmp_path / next(iter(change)), {**given, **change}
        other = train_toy(folder, "dense", "history", base_settings=settings, recipe=recipe).record
        assert other["test"] != same["test"]
