"""What a method may ask of the run, and a table of the step, on toys that use all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from method_toy import train_toy

import sparserec
from sparserec.methods import METHODS, Context, Phase, PhaseResult, StepInfo
from sparserec.methods.base import MethodDefaults
from sparserec.methods.dense import Dense
from sparserec.settings import Settings
from sparserec.table import DenseTable, Table
from sparserec.table.base import Update


def events(folder: Path, name: str) -> list[dict[str, Any]]:
    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == name]


class SearchSettings(Settings):
    probes: int = 6


class Search(MethodDefaults):
    """Probes of a few steps around one table; each is judged user by user when it ends, and the best is chosen."""

    name = "search"
    settings_kind = SearchSettings
    sparse_state = False
    started = 0

    def __init__(self, settings: SearchSettings) -> None:
        self.settings, self.scores = settings, np.zeros(settings.probes)

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        if not done:
            return Phase("pretrain", 1, kept=True)
        if len(done) <= self.settings.probes:
            name, rate = f"probe {len(done)}", 0.5 ** len(done)
            return Phase(name, 1, False, learning_rate=rate, starts_from=0, kept=True, kind="probe", steps=2)
        best = 1 + int(np.argmax(self.scores))
        return Phase("rest", 1, starts_from=best) if len(done) == self.settings.probes + 1 else None

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        Search.started += 1
        table = previous or DenseTable.create(context.shape(), context.initial(context.dim))
        assert context.validate is not None
        context.record("begins", score=context.validate(table).score)
        return table

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        context.record("step", phase=now.phase.name)
        return now.phase.name == "rest" and now.step == 3

    def after_phase(self, context: Context, phase: Phase, table: Table) -> None:
        assert context.validate is not None
        found = context.validate(table, also_at=(3, 10_000))
        if phase.kind == "probe":
            self.scores[int(phase.name.split()[1]) - 1] = found.per_user["ndcg@3"].mean()
        context.record("ends", metrics=sorted(name for name in found.per_user if name.startswith("ndcg")))

    def state(self) -> dict[str, np.ndarray]:
        return {"scores": self.scores}

    def load(self, state: dict[str, np.ndarray]) -> None:
        self.scores = state["scores"].copy()


def test_a_method_validates_records_and_ends_inside_an_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METHODS, "search", Search)
    finished = train_toy(tmp_path / "run", "search")
    per_epoch = finished.prepared.context.steps_per_epoch
    assert per_epoch > 3
    phases = finished.record["epochs"]
    assert [phase["steps"] for phase in phases] == [per_epoch, 2, 2, 2, 2, 2, 2, 3]
    assert finished.record["cost"] == pytest.approx((per_epoch + 6 * 2 + 3) / (12 * per_epoch))
    assert phases[-1]["best_score"] is not None, "a validated phase that ends inside an epoch has a score"
    assert all(phase["best_score"] is None for phase in phases[1:-1]), "the probes are not validated"

    # One `record` before, during and after the steps, with the step it belongs to.
    assert [event["step"] for event in events(finished.folder, "begins")] == [0] * 8
    steps = [event["step"] for event in events(finished.folder, "step")]
    assert steps == [*range(1, per_epoch + 1), *[1, 2] * 6, 1, 2, 3]
    ends = events(finished.folder, "ends")
    assert [event["step"] for event in ends] == [per_epoch, *[2] * 6, 3]
    assert ends[0]["metrics"] == ["ndcg@3", "ndcg@5"], (
        "more list lengths than the run's, none longer than the catalogue"
    )


class Anchored(DenseTable):
    """A dense table with a loss of its own: the sum of the batch's rows, each as often as it occurs."""

    begun: int = 0

    def begin_step(self, rows: np.ndarray, counts: np.ndarray) -> float:
        Anchored.begun += 1
        self.pull = np.zeros(self.shape.n_rows, np.float32)
        self.pull[rows] = counts
        return float(self.pull @ self.matrix().sum(axis=1))

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        super().receive(block, gradient + torch.from_numpy(self.pull)[:, None], update)


class Pulled(Dense):
    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        return Anchored.create(context.shape(), context.initial(context.dim))


def test_a_table_has_a_loss_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "pulled", Pulled)
    plain = train_toy(tmp_path / "plain", "dense")
    pulled = train_toy(tmp_path / "pulled", "pulled")
    assert isinstance(plain.table, DenseTable) and isinstance(pulled.table, DenseTable)
    assert pulled.table.matrix().mean() < plain.table.matrix().mean() - 1, "the rows were pulled down"
    assert events(pulled.folder, "epoch")[-1]["loss"] < -100, "and the loss says so"
    assert Anchored.begun == pulled.record["steps"], "once a step"


def test_only_tables_know_their_kind() -> None:
    """What a table looks like on a device and in figures it says itself."""
    source = Path(sparserec.__file__).parent
    asking = re.compile(r"isinstance\([^)]*(Sparse|Dense|Masked|Thresholded|Composed|Computed|Prefix)Table")
    places = [
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if asking.search(path.read_text(encoding="utf-8"))
    ]
    own_way = "recommenders/history/base.py"  # has a gradient of its own for sparse rows
    assert [place for place in places if not place.startswith(("table", "methods", own_way))] == []
