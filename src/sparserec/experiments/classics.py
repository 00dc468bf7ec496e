"""Classics measured like every run: settings searched on validation, the test set opened once, a run folder each.

A folder holds what comparing needs (configuration, split, record, every user's result) and no model.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.classics import CLASSICS, ClassicSettings, Fitted, Tried, histories, search
from sparserec.data import Interactions, Source, Split, split_interactions
from sparserec.errors import DataError, RunError
from sparserec.evaluation import Evaluation, evaluate_scorer, some_users
from sparserec.files import write_text
from sparserec.process import PhasePeaks
from sparserec.progress import say
from sparserec.runs import (
    VERSION,
    Record,
    RunFolder,
    environment,
    measure_test,
    metrics_of,
    now,
    save_split,
    write_per_user,
)
from sparserec.training import RunConfig

METHOD = "classic"
SEARCH_USERS = 5_000  # at most, whose validation items a search is decided by
SCORE = "ndcg@20"


@dataclass(frozen=True, eq=False)
class ClassicRun:
    """Which data, split and list lengths; the same for all classics of a command."""

    data: str
    source: Source
    protocol: str = "resplit"
    split_seed: int = 0
    read: dict[str, Any] | None = None
    runs: Path = Path("runs")
    quiet: bool = True

    def config(self, name: str, settings: ClassicSettings | None = None) -> RunConfig:
        """Of one classic; its folder is named after the one without settings, which the search finds."""
        values = settings.model_dump(mode="json") if settings is not None else {}
        return RunConfig(
            data=self.data,
            read=self.read or {},
            protocol=self.protocol,
            split_seed=self.split_seed,
            base=name,
            base_settings=values,
            method=METHOD,
            density=1.0,
        )

    def folder(self, name: str) -> RunFolder:
        """Where a classic goes."""
        return RunFolder(self.runs / f"{Path(self.data).stem}-{name}-{self.config(name).digest()[:8]}")


def applicable(n_items: int) -> dict[str, type[ClassicSettings]]:
    """Classics that take a catalogue of this size."""
    return {
        name: kind for name, kind in CLASSICS.items() if kind.most_items is None or n_items <= kind.most_items
    }


def measure_classic(name: str, wanted: ClassicRun) -> tuple[Path, Record]:
    """Folder and record of a classic: found there, or computed, measured and written."""
    run = wanted.folder(name)
    if run.finished:
        say(f"{name}: measured before, see {run.path}", wanted.quiet)
        return run.path, run.read_record()
    if run.path.exists() and any(run.path.iterdir()):
        raise RunError(f"{run.path}: exists without a record; delete it or choose another folder for `runs`")
    began, peaks = time.perf_counter(), PhasePeaks()
    split = split_interactions(wanted.source, wanted.protocol, wanted.split_seed)
    if len(split.valid) == 0:
        raise DataError(f"protocol {wanted.protocol!r} has no validation part to choose settings by")
    with peaks.phase("train"):
        tried = search_settings(name, split, wanted.quiet)
        fitting = time.perf_counter()
        fitted = tried[0].settings.fit(split.train)
    fit_seconds = time.perf_counter() - fitting
    valid = _evaluate(fitted, split, split.valid).metrics
    with peaks.phase("evaluate"):
        found = _open_test(fitted, split, wanted.quiet)
    seconds = {"prepare": 0.0, "train": fit_seconds, "total": time.perf_counter() - began}
    values = _values(wanted, name, split, tried, fitted, valid)
    record = Record.model_validate(
        values | {"test": metrics_of(found), "seconds": seconds, "memory": _memory(fitted, peaks)}
    )
    save_split(run.data, split)
    write_per_user(run, found)
    write_text(run.config, json.dumps(record.config, indent=1))
    run.write_record(record)
    return run.path, record


def search_settings(name: str, split: Split, quiet: bool = True) -> list[Tried]:
    """What was tried on the validation items of some users, the best first."""
    truth = some_users(split.valid, SEARCH_USERS)
    n_users = len(np.unique(truth.users))

    def score(settings: ClassicSettings) -> float:
        found = _evaluate(settings.fit(split.train), split, truth).metrics[SCORE]
        say(f"{name} {settings.model_dump()}: {SCORE} {found:.4f} of {n_users:,} users", quiet)
        return found

    start = CLASSICS[name]()
    return search(start, score) if start.choices else [Tried(start, score(start))]


def _evaluate(fitted: Fitted, split: Split, truth: Interactions) -> Evaluation:
    return evaluate_scorer(fitted.scorer(histories(split.train)), split.train, truth)


def _open_test(fitted: Fitted, split: Split, quiet: bool) -> dict[str, Evaluation]:
    """Test results as float, int8 and int4; users held out whole are scored from what is given of them."""
    history = histories(split.train if split.given is None else split.given)

    def measure(used: Fitted) -> Evaluation:
        return evaluate_scorer(used.scorer(history), split.train, split.test, split.known_at_test)

    return measure_test(fitted, measure, quiet)


def _memory(fitted: Fitted, peaks: PhasePeaks) -> dict[str, Any]:
    size = 4 * fitted.parameters
    return {"formula": size, "ledger": {"values": size}, "peak": peaks.bytes}


def _values(
    wanted: ClassicRun, name: str, split: Split, tried: list[Tried], fitted: Fitted, valid: dict[str, float]
) -> dict[str, Any]:
    """The fields of every run's record; what only training has is empty."""
    config = wanted.config(name, tried[0].settings)
    return {
        "version": VERSION,
        "config": config.model_dump(mode="json"),
        "base_settings": config.base_settings,
        "method_settings": {},
        "digest": config.digest(),
        "environment": environment(),
        "split": {"protocol": split.protocol, "seed": split.seed, "hash": split.hash},
        "data": wanted.source.report.as_dict(),
        "parameters": fitted.parameters,
        "dim": fitted.columns,
        "bytes": {"int8": fitted.stored_bytes(8), "int4": fitted.stored_bytes(4)},
        "steps": 0,
        "cost": 0.0,
        "epochs": [{"name": "fit", "epochs": 0, "best_score": valid[SCORE]}],
        "valid": valid,
        "search": [{**one.settings.model_dump(mode="json"), SCORE: one.score} for one in tried],
        "test_opened": now(),
    }
