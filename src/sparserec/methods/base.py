"""A method: what it trains (a table) and when and how that table changes.

The loop asks for phases one after the other, so a method may search first and retrain, or search around many short
trainings. `next_phase` is a function of what is recorded, which is what makes a stopped run resumable. The table of
the last phase is the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from sparserec.data import Interactions
from sparserec.exploration import interval_of
from sparserec.exploration.nmf import Factors, StoredFactors
from sparserec.graph import automatic_width
from sparserec.settings import Settings
from sparserec.table import InitialValues, Ledger, Shape, Table


@dataclass(frozen=True)
class Phase:
    """One training inside a method."""

    name: str
    epochs: int
    """Largest number of epochs; 0 for a phase that only changes the table of another (prune, convert, choose)."""
    validated: bool = True
    """Validation scores are taken, training may stop early, and the best table is restored at the end."""
    scored_first: bool = False
    """A validation before the first step too: what the phase starts from is then in the running for its best."""
    learning_rate: float | None = None
    """Learning rate of the first epoch; None is the recipe's. It falls to the recipe's final one."""
    follows: int | None = None
    """Number of the finished phase whose table `start` gets; None is the last one."""
    kept: bool = False
    """Its table stays on disk for later phases to follow; others are deleted once the next phase has ended."""


@dataclass(frozen=True)
class PhaseResult:
    """What a finished phase left."""

    name: str
    epochs: int  # really trained
    best_score: float | None
    kept: bool = False
    ledger: Ledger = field(default_factory=dict)
    """Bytes by role during its steps."""
    counted: int = 0
    """Numbers during its steps as the paper's memory analysis counts them (`Table.counted_numbers`)."""


def ignore(event: str, **values: Any) -> None:
    """Where events go when nobody records."""


@dataclass(frozen=True)
class Context:
    """What a method may know about the run."""

    train: Interactions
    dim: int
    density: float
    epochs: int  # of the recipe, for the method's main training
    steps_per_epoch: int
    seed: int
    initial: Callable[[int], InitialValues]  # by dimension
    factors: Factors | StoredFactors | None
    validate: Callable[[Table], float] | None = None
    """Validation score of a table, for methods that choose by it; None when the split has no validation part."""
    record: Callable[..., None] = ignore
    """Adds a line to the run's record from `start`, as `Moment.record` does after a step."""
    explorations: int = 20
    """How often a method that explores does so in one training (of the recipe, the same for all methods)."""
    explore_every: int | None = None
    """Epochs between explorations instead, as papers count them."""

    def exploration_interval(self, last_step: int) -> int:
        """Steps between explorations of a training that explores until `last_step`."""
        if self.explore_every is not None:
            return self.explore_every * self.steps_per_epoch
        return interval_of(self.explorations, last_step)

    def shape(self, dim: int | None = None) -> Shape:
        """Shape of a table of this run, with the automatic block width."""
        n_users, n_items, dim = self.train.n_users, self.train.n_items, dim or self.dim
        return Shape(n_users, n_items, dim, automatic_width(n_users + n_items, dim))

    def frequencies(self) -> tuple[np.ndarray, np.ndarray]:
        """Train interactions of each user and of each item."""
        return self.train.user_counts(), self.train.item_counts()


@dataclass
class Moment:
    """Where training is, right after an update."""

    phase: Phase
    step: int  # updates in this phase, 1 after the first
    epoch: int  # 1 during the first
    steps_per_epoch: int
    learning_rate: float
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ends_epoch(self) -> bool:
        return self.step % self.steps_per_epoch == 0

    @property
    def last_step(self) -> int:
        return self.phase.epochs * self.steps_per_epoch

    def record(self, event: str, **values: Any) -> None:
        """Add a line to the run's record."""
        self.events.append({"event": event, "step": self.step, "epoch": self.epoch, **values})


class Method(Protocol):
    """One way to spend a parameter budget."""

    name: str
    settings: Settings
    wants_factors: int
    """NMF iterations it wants done beforehand; 0 for none."""
    begins_dense: bool
    """Whether its first phase is the very training that method `dense` is; a finished run of that may take its place."""
    sparse_state: bool
    """Whether nothing of the size of the full table lives during its steps (the growth test holds it to that)."""

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        """The next training, or None when the method is finished."""

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        """The table that the phase trains; a pure function of its arguments and `state`, for a resumed run calls it again.

        `previous` is the finished table of the phase it follows, None in the first phase.
        """

    def after_step(self, context: Context, table: Table, moment: Moment) -> bool:
        """Called after every update; may change the table. True ends the phase."""

    def state(self) -> dict[str, np.ndarray]:
        """Arrays of the method itself that a resumed run needs (most methods: none)."""

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Take back what `state` gave."""
