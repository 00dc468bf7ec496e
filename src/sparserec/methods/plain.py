"""The lifecycle of methods that need no more than a part of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparserec.methods.base import Context, Phase, PhaseResult, StepInfo
from sparserec.settings import Settings
from sparserec.table import Table


class MethodDefaults:
    """Nothing happens after a step or a phase, nothing of its own to store."""

    name: str
    settings: Any
    settings_kind: type[Settings] = Settings
    idea = ""
    """In a line, for people who choose."""
    paper = "-"
    memory = "dense"
    """What a training holds: sparse (the budget), dense (the full table), codes or network."""
    trainings: float = 1
    """Length of all phases in plain trainings, at most, with default settings."""
    sparse_state = False
    item_starts: tuple[dict[str, Any], ...] = ()
    """Settings it starts with on a base whose users have no rows, where `init` is left open: the best first, and last
    what needs the least. None: its defaults.
    """
    wants_factors = 0
    begins_dense = False
    shardable = False
    shardable_by_rows = False

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        return False

    def after_phase(self, context: Context, phase: Phase, table: Table) -> None:
        pass

    def state(self) -> dict[str, np.ndarray]:
        return {}

    def load(self, state: dict[str, np.ndarray]) -> None:
        pass


class OneTraining(MethodDefaults):
    """One validated phase of the recipe's length."""

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        return None if done else Phase("train", context.epochs)
