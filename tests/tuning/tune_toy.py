"""A log on which a search takes seconds, and a process that dies in the middle of one."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import Source, read_source
from sparserec.planning import PlanOptions
from sparserec.table import SparseTable
from sparserec.training import build_config, flat_settings
from sparserec.tuning import Effort, Outcome, search_settings

SETTINGS: dict[str, Any] = {
    "data": "toy", "base": "lightgcn", "dim": 8, "density": 0.5, "ks": (5,), "checkpoint_every": 1,
    "method_settings": {"init": "uniform"},
    "recipe": {"epochs": 3, "batch_size": 100, "validate_every": 1},
}  # fmt: skip
TRIALS = 8


def toy_log() -> Source:
    """Users like most items of their own group."""
    rng = np.random.default_rng(0)
    own = [(user, item) for user in range(40) for item in range(30) if user % 4 == item % 4]
    return read_source([pair for pair in own if rng.random() < 0.8])


def search(folder: Path, trials: int = TRIALS, **changes: Any) -> Outcome:
    values = SETTINGS | changes
    given = set(flat_settings(values))
    parts = toy_log(), folder, Effort.of(trials, None), PlanOptions(threads=1)
    return search_settings(build_config(values), given, *parts, file=False)


def search_and_die(folder: Path, updates: int) -> None:
    """Killed (SIGKILL) in the middle of a step, after so many of them."""
    original, left = SparseTable.receive, [updates]

    def counted(self: SparseTable, *args: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(self, *args, **options)

    SparseTable.receive = counted  # type: ignore[method-assign]
    search(folder)
