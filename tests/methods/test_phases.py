"""Several trainings inside one method: stopping anywhere and resuming gives the same run, to the bit."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from method_toy import block_source, config_of

from sparserec.methods import METHODS, Context, Phase, PhaseResult, StepInfo
from sparserec.methods.base import Method, MethodDefaults
from sparserec.methods.magnitude import Magnitude
from sparserec.methods.pep import PEP
from sparserec.process import StopRequested
from sparserec.runs.train import Finished, train_run
from sparserec.settings import Settings
from sparserec.table import DenseTable, Table

SHORT = {"epochs": 4, "batch_size": 200, "validate_every": 2}  # 3 steps an epoch
CASES: dict[str, tuple[type, dict[str, Any]]] = {
    "magnitude": (Magnitude, {"fine_tune": 0.5}),
    "pep": (PEP, {"threshold_rate": 2.0, "crossing": 0.4}),
}


def run(folder: Path, method: str, resume: bool = False) -> Finished:
    config = config_of(method, recipe=SHORT, method_settings=CASES[method][1], checkpoint_every=2)
    return train_run(config, folder, source=block_source(), resume=resume)


def events(folder: Path) -> list[dict[str, Any]]:
    """The record of a run without the clock."""
    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        {key: value for key, value in json.loads(line).items() if key not in ("time", "seconds")}
        for line in lines
    ]


def stop_at(patch: pytest.MonkeyPatch, kind: type, call: int) -> None:
    """Send the process a SIGTERM during the given step, counted over all phases."""
    calls, after_step = [0], kind.after_step  # type: ignore[attr-defined]

    def stopping(self: Method, context: Context, table: Table, now: StepInfo) -> bool:
        calls[0] += 1
        if calls[0] == call:
            signal.raise_signal(signal.SIGTERM)
        return after_step(self, context, table, now)

    patch.setattr(kind, "after_step", stopping)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Finished]:
    """Runs that nobody interrupted."""
    return {method: run(tmp_path_factory.mktemp("whole") / method, method) for method in CASES}


def test_phases_of_the_whole_runs(whole: dict[str, Finished]) -> None:
    names = [phase["name"] for phase in whole["magnitude"].record["epochs"]]
    assert names == ["dense", "prune", "fine-tune"]
    assert whole["magnitude"].record["cost"] == 1.5
    pruned, tuned = whole["magnitude"].record["epochs"][1:]
    assert tuned["best_score"] >= pruned["best_score"], "what a phase starts from is in the running"
    assert [phase["name"] for phase in whole["pep"].record["epochs"]] == ["search", "retrain"]
    crossing = next(event for event in events(whole["pep"].folder) if event["event"] == "crossing")
    assert crossing["crossed"] and crossing["step"] < 12 and crossing["logit_std"] > 0
    assert whole["pep"].record["steps"] == crossing["step"] + 12


@pytest.mark.parametrize("method", CASES)
@pytest.mark.parametrize("place", ["first phase", "last step of the first phase", "last phase"])
def test_a_resumed_run_is_the_same_run(
    method: str, place: str, whole: dict[str, Finished], tmp_path: Path
) -> None:
    first = whole["pep"].record["steps"] - 12 if method == "pep" else 12
    call = {"first phase": 4, "last step of the first phase": first, "last phase": first + 4}[place]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(StopRequested):
        stop_at(patch, CASES[method][0], call)
        run(tmp_path / "run", method)
    resumed, undisturbed = run(tmp_path / "run", method, resume=True), whole[method]
    assert events(resumed.folder) == events(undisturbed.folder)
    for name, array in undisturbed.table.state().items():
        np.testing.assert_array_equal(resumed.table.state()[name], array, err_msg=name)
    for key in ("epochs", "steps", "cost", "parameters"):
        assert resumed.record[key] == undisturbed.record[key]


class ProbeSettings(Settings):
    pass


class Probes(MethodDefaults):
    """Three short trainings that all follow the first, then the best of them: the shape of BET and CIESS."""

    name = "probes"
    settings_kind = ProbeSettings
    sparse_state = False

    def __init__(self, settings: ProbeSettings) -> None:
        self.settings, self.begun = settings, 0

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        if not done:
            return Phase("base", 2, kept=True)
        if len(done) < 4:
            return Phase(f"probe {len(done)}", 1, starts_from=0, learning_rate=10.0 ** -len(done), kept=True)
        if len(done) == 4:
            best = max(range(1, 4), key=lambda number: done[number].best_score or 0.0)
            return Phase("choose", 0, starts_from=best, scored_first=True)
        return None

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        self.begun += 1
        context.record("begun", count=self.begun, given=None if previous is None else float(sum_of(previous)))
        return previous or DenseTable.create(context.shape(), context.initial(context.dim))

    def state(self) -> dict[str, np.ndarray]:
        return {"begun": np.array([self.begun])}

    def load(self, state: dict[str, np.ndarray]) -> None:
        self.begun = int(state["begun"][0])


def sum_of(table: Table) -> float:
    assert isinstance(table, DenseTable)
    return sum(float(block.sum()) for block in table.values)


def test_probes_around_one_table_and_the_best_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sparserec.methods").methods.METHODS, "probes", Probes)
    config = config_of("probes", recipe=SHORT)
    whole = train_run(config, tmp_path / "whole", source=block_source())
    begun = [event for event in events(whole.folder) if event["event"] == "begun"]
    assert begun[1]["given"] == begun[2]["given"] == begun[3]["given"], "all probes start from the same table"
    phases = whole.record["epochs"]
    assert phases[4]["best_score"] == max(phase["best_score"] for phase in phases[1:4])
    rates = [e["learning_rate"] for e in events(whole.folder) if e.get("phase", "").startswith("probe")]
    assert rates == pytest.approx([0.1, 0.01, 0.001])

    with pytest.MonkeyPatch.context() as patch, pytest.raises(StopRequested):
        stop_at(patch, Probes, 11)  # in the middle of the second probe
        train_run(config, tmp_path / "again", source=block_source())
    kept = sorted(path.name for path in (tmp_path / "again" / "work").glob("phase-*"))
    assert kept == ["phase-0.safetensors", "phase-1.safetensors"]
    resumed = train_run(config, tmp_path / "again", source=block_source(), resume=True)
    assert events(resumed.folder) == events(whole.folder), "the method's own state came back as well"
    assert sum_of(resumed.table) == sum_of(whole.table)


def test_tables_nobody_asks_for_are_deleted(whole: dict[str, Finished]) -> None:
    left = sorted(path.name for path in (whole["magnitude"].folder / "work").glob("phase-*"))
    assert left == ["phase-2.safetensors"]


NEWER: dict[str, dict[str, Any]] = {
    "cerp": {"threshold_rate": 2.0, "crossing": 0.4, "reward": 0.01},
    "dhe": {"hashes": 8, "output_dims": [4, 8], "learning_rate": 0.01},
    "set": {"drop_fraction": 0.5},
    "gse": {"drop_fraction": 0.5, "explore_until": 1.0},
}


@pytest.mark.parametrize("method", NEWER)
def test_newer_methods_resume_to_the_bit(method: str, tmp_path: Path) -> None:
    """Stopped after the fifth step: codes and their reward, a network, a support, a sample that is being watched."""
    config = config_of(
        method,
        recipe=SHORT | {"explorations": 3},
        method_settings=NEWER[method],
        checkpoint_every=2,
        open_test=False,
    )
    whole = train_run(config, tmp_path / "whole", source=block_source())
    with pytest.MonkeyPatch.context() as patch, pytest.raises(StopRequested):
        stop_at(patch, METHODS[method], 5)
        train_run(config, tmp_path / "again", source=block_source())
    resumed = train_run(config, tmp_path / "again", source=block_source(), resume=True)
    left, right = ([one | {"ledger": None} for one in events(run.folder)] for run in (resumed, whole))
    assert left == right  # but for the ledger: the largest batch is known of the steps since the stop only
    for name, array in whole.table.state().items():
        np.testing.assert_array_equal(resumed.table.state()[name], array, err_msg=name)
