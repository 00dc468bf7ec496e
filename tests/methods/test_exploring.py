"""One class holds when methods explore, how they drop and what they record; gradients of active entries are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from method_toy import train_toy

from sparserec.errors import SettingError
from sparserec.exploration import RandomGrowth
from sparserec.methods import METHODS, make_method
from sparserec.methods.base import Context, Phase, StepInfo
from sparserec.methods.exploring import Exploring, RuleSettings
from sparserec.table import Shape, SparseTable, Table, Update

EXPLORERS = ["sparserec", "taper", "rigl", "set", "gse", "dsl"]


def test_every_method_that_explores_is_of_one_class() -> None:
    assert [name for name in METHODS if isinstance(make_method(name), Exploring)] == sorted(
        EXPLORERS, key=list(METHODS).index
    )


class ByGradient(Exploring):
    """Drops where value times gradient is smallest, as pruning by sensitivity does; grows at random."""

    name = "by-gradient"
    seen: ClassVar[list[np.ndarray]] = []

    def __init__(self, settings: RuleSettings) -> None:
        self.settings, self.rule = settings, settings.rule(keep_value=False)

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        table = super().start(context, phase, previous)
        assert isinstance(table, SparseTable)
        table.keep_gradient()
        return table

    def drop_scores(self, table: Any) -> np.ndarray:
        scores = table.values * table.gradient
        self.seen.append(scores)
        return scores

    def growth(self, context: Context, table: Any, now: StepInfo) -> RandomGrowth:
        return RandomGrowth(np.random.default_rng([context.seed, now.step]))


def test_a_method_may_drop_by_gradient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "by-gradient", ByGradient)
    finished = train_toy(tmp_path, "by-gradient", method_settings={"explore_until": 0.5})
    lines = (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    explored = [one for one in map(json.loads, lines) if one["event"] == "explore"]
    assert len(explored) == len(ByGradient.seen) > 1
    assert all((scores != 0).mean() > 0.5 for scores in ByGradient.seen), "gradients of most entries"
    assert all(one["dropped"] == one["grown"] > 0 for one in explored)
    assert explored[-1]["step"] < 0.5 * finished.record["steps"]
    assert finished.record["memory"]["ledger"]["kept gradient"] == 4 * finished.record["parameters"]


def test_the_gradient_of_active_entries_is_that_of_their_places() -> None:
    """By hand: two blocks of two columns, five active entries."""
    shape = Shape(1, 2, 4, 2)
    support = [np.array([0, 3, 4], np.int32), np.array([1, 5], np.int32)]
    table = SparseTable(shape, support, np.arange(1.0, 6.0, dtype=np.float32))
    table.keep_gradient()
    assert table.gradient is not None and not table.gradient.any()
    update = Update(1, 0.1, np.zeros(3, np.float32))
    for block in range(2):
        table.receive(block, 10.0 * block + torch.arange(6.0).reshape(3, 2), update)
    assert table.gradient.tolist() == [0, 3, 4, 11, 15]
    keep = np.array([True, False, True, True, True])
    table.change_support(keep, [np.array([1], np.int32), np.empty(0, np.int32)], 1)
    assert table.gradient.tolist() == [0, 0, 0, 0, 0], "nothing is known of a new support"
    for block in range(2):
        table.receive(block, 10.0 * block + torch.arange(6.0).reshape(3, 2), update)
    assert table.gradient.tolist() == [0, 1, 4, 11, 15]
    table.load(table.state())
    assert "kept gradient" in table.ledger() and table.ledger()["kept gradient"] == 20


def test_taper_takes_its_old_settings() -> None:
    """How the wide table explores was a group of its own; runs that are stored say it so."""
    old = make_method("taper", {"exploring": {"init": "uniform", "drop_fraction": 0.2}, "cut_from": 0.4})
    new = make_method("taper", {"init": "uniform", "drop_fraction": 0.2, "cut_from": 0.4})
    same = make_method(
        "sparserec", {"init": "uniform", "drop_fraction": 0.2, "cut_from": 0.4, "start_ratio": 2.0}
    )
    assert old.settings == new.settings
    assert new.settings.model_dump() == same.settings.model_dump()
    with pytest.raises(SettingError, match="start_ratio: a setting of taper itself"):
        make_method("taper", {"exploring": {"start_ratio": 3.0}})
