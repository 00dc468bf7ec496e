"""What every tracker is told: settings once, curves by epoch, figures of the record at the end.

Interactions stay where they are: neither the split nor results of single users are told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sparserec.runs import Event, Observer, Record, RunFolder
from sparserec.training import flat_settings

ARTIFACTS = ("config.json", "environment.json", "events.jsonl", "record.json")
CURVES = ("loss", "learning_rate", "seconds", "parameters")
Scalars = dict[str, float]


class Tracker(Observer):
    """Turns events into scalars; where they go is up to `open`, `scalars`, `summary` and `close`."""

    def open(self, run: RunFolder, settings: dict[str, Any]) -> None:
        """Begin, or go on with what this folder is known as."""
        raise NotImplementedError

    def scalars(self, step: int, values: Scalars, seconds: float) -> None:
        """Numbers of an epoch, counted over all phases, and the time at which it ended."""
        raise NotImplementedError

    def summary(self, run: RunFolder, record: Record, values: Scalars) -> None:
        """Numbers of the whole run, its record and its figures; may be told again."""
        raise NotImplementedError

    def close(self, finished: bool) -> None:
        raise NotImplementedError

    def begin(self, run: RunFolder, events: list[Event]) -> None:
        self.epochs_before = 0
        self.open(run, settings_of(run))
        for event in events:
            self.event(event)

    def event(self, event: Event) -> None:
        if event["event"] == "epoch":
            self.scalars(self.epochs_before + event["epoch"], curves_of(event), event["time"])
        elif event["event"] == "phase":
            self.epochs_before += event["epochs"]

    def end(self, run: RunFolder, record: Record | None) -> None:
        if record is not None:
            self.summary(run, record, figures_of(record))
        self.close(finished=record is not None)


def settings_of(run: RunFolder) -> dict[str, Any]:
    """Every setting, with defaults and what was settled, as `recipe.epochs`."""
    config = run.read_config()
    return flat_settings(config.model_dump(mode="json") | config.settled)


def curves_of(event: Event) -> Scalars:
    """What an epoch gives to draw."""
    found = {name: float(event[name]) for name in CURVES if name in event}
    return found | _named("valid", event.get("valid", {})) | _named("test_curve", event.get("test_curve", {}))


def figures_of(record: Record) -> Scalars:
    """Numbers of a finished run; those of the test set only where it was opened."""
    found: Scalars = {"parameters_kept": record.parameters, "steps": record.steps, "cost": record.cost}
    for precision, metrics in record.test.items():
        found |= _named(f"test/{precision}", metrics)
    found |= _named("bytes", record.bytes) | _named("memory/peak", record.memory.peak)
    found |= {"memory/formula": record.memory.formula, "memory/ledger": sum(record.memory.ledger.values())}
    found |= _named("seconds_of", record.seconds.model_dump())
    if record.shipped is not None and isinstance(size := record.shipped.get("bytes"), int):
        found["bytes/shipped"] = size
    return {name: float(value) for name, value in found.items()}


def artifacts_of(run: RunFolder) -> list[Path]:
    """Files that say what was found; none of them holds an interaction."""
    files = [run.path / name for name in ARTIFACTS]
    return [file for file in [*files, *sorted(run.path.glob("*.png"))] if file.is_file()]


def _named(group: str, values: dict[str, Any]) -> Scalars:
    """Trackers refuse an @: `ndcg@20` of group valid is valid/ndcg_at_20."""
    return {f"{group}/{name.replace('@', '_at_')}": value for name, value in values.items()}
