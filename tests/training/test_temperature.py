"""The temperature of base `history` where none is given: chosen on validation, recorded, and used."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "methods"))
from method_toy import train_toy


def test_an_open_temperature_is_chosen_and_recorded(tmp_path: Path) -> None:
    recipe = {"epochs": 1, "learning_rate": 0.05, "final_learning_rate": 0.01}
    chosen = train_toy(tmp_path / "open", "dense", "history", base_settings={}, recipe=recipe).record
    scores = chosen["temperatures"]
    assert len(scores) >= 3 and chosen["base_settings"]["temperature"] == float(max(scores, key=scores.get))
    assert chosen["softmax"] == {"items": 72, "of": 72}
    given = {"temperature": chosen["base_settings"]["temperature"]}
    same = train_toy(tmp_path / "given", "dense", "history", base_settings=given, recipe=recipe).record
    assert same["temperatures"] is None and same["test"] == chosen["test"]
    other = train_toy(
        tmp_path / "other", "dense", "history", base_settings={"temperature": 3.0}, recipe=recipe
    ).record
    assert other["test"] != same["test"]
