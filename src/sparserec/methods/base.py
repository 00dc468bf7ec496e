"""A method: what it trains (a table) and when and how that table changes.

The loop asks for phases one after the other, so a method may search first and retrain, or search around many short
trainings. `next_phase` is a function of what is recorded, which is what makes a stopped run resumable. The table of
the last phase is the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from sparserec.data import Interactions
from sparserec.distributed import ALONE, Processes
from sparserec.exploration import Factors, StoredFactors, interval_of
from sparserec.graph import automatic_width
from sparserec.settings import Settings
from sparserec.table import DenseTable, Held, InitialValues, Ledger, Shape, SparseTable, Table, shape_for


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
    starts_from: int | None = None
    """Number of the finished phase whose table `start` gets; None is the last one."""
    kept: bool = False
    """Its table stays on disk for later phases to start from; others are deleted once the next phase has ended."""
    kind: str | None = None
    """Phases of one kind have tables and steps alike. None: its name, that is, no other phase is like it."""
    steps: int | None = None
    """Largest number of steps, for phases that end inside an epoch; None: whole epochs."""
    holds: Held | None = field(default=None, compare=False)
    """What its table holds at most, for a plan of memory."""
    judged: int = field(default=0, compare=False)
    """Validations that the method itself asks for around it, for a plan of time."""

    def last_step(self, steps_per_epoch: int) -> int:
        """Steps the phase has at most."""
        whole = self.epochs * steps_per_epoch
        return whole if self.steps is None else min(self.steps, whole)


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
    steps: int = 0  # really trained


@dataclass(frozen=True)
class Validation:
    """What the validation part says about a table."""

    score: float
    """The metric that trainings are compared by."""
    metrics: dict[str, float]
    per_user: dict[str, np.ndarray]
    """`recall@20` and so on, aligned with `users`."""
    users: np.ndarray
    """Users who have something in the validation part, ascending."""


class Validate(Protocol):
    """Scores a table on the validation part."""

    def __call__(self, table: Table, also_at: tuple[int, ...] = ()) -> Validation:
        """Metrics at the run's list lengths, and at these where there are as many items."""


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
    validate: Validate | None = None
    """For methods that choose by it; None when the split has no validation part."""
    record: Callable[..., None] = ignore
    """Adds a line to the run's record, from wherever a method is called."""
    explorations: int = 20
    """How often a method that explores does so in one training (of the recipe, the same for all methods)."""
    explore_every: int | None = None
    """Epochs between explorations instead, as papers count them."""
    user_rows: bool = True
    """Whether users have rows in the table; without, the table is one block of item rows."""
    processes: Processes = ALONE
    """Who holds the table: some column blocks each or, without user rows, some rows."""

    @property
    def budget(self) -> int:
        """Trained numbers that the finished model may keep."""
        return round(self.density * self.shape().n_rows * self.dim)

    def dense(self, dim: int | None = None) -> Held:
        """What a dense table of this run holds."""
        return DenseTable.held(self.shape(dim))

    def sparse(self, candidates: int = 0, watched: int = 0) -> Held:
        """What a sparse table of the budget holds."""
        return SparseTable.held(self.shape(), self.budget, candidates, watched)

    def exploration_interval(self, last_step: int) -> int:
        """Steps between explorations of a training that explores until `last_step`."""
        if self.explore_every is not None:
            return self.explore_every * self.steps_per_epoch
        return interval_of(self.explorations, last_step)

    def shape(self, dim: int | None = None) -> Shape:
        """Shape of a table of this run, with the automatic block width."""
        n_users, n_items, dim = self.train.n_users, self.train.n_items, dim or self.dim
        if not self.user_rows:
            return shape_for(self.processes, 0, n_items, dim, dim)
        return shape_for(self.processes, n_users, n_items, dim, automatic_width(n_users + n_items, dim))

    def frequencies(self) -> tuple[np.ndarray, np.ndarray]:
        """Train interactions of each row of the table: of users, where they have rows, and of items."""
        users = self.train.user_counts() if self.user_rows else np.empty(0, np.int32)
        return users, self.train.item_counts()


@dataclass
class StepInfo:
    """Where training is, right after an update."""

    phase: Phase
    step: int  # updates in this phase, 1 after the first
    epoch: int  # 1 during the first
    steps_per_epoch: int
    learning_rate: float

    @property
    def ends_epoch(self) -> bool:
        return self.step % self.steps_per_epoch == 0

    @property
    def last_step(self) -> int:
        return self.phase.last_step(self.steps_per_epoch)


class Method:
    """One way to spend a parameter budget; by itself one validated training of the recipe's length."""

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
    """Whether nothing of the size of the full table lives during its steps (the growth test holds it to that)."""
    wants_factors = 0
    """NMF iterations it wants done beforehand; 0 for none."""
    keeps_numbers = False
    """Whether users and items are numbered as in the log; else they may be renumbered, for speed."""
    needs_validation = False
    """Whether it chooses its table by validation scores: nothing that it trains without them would be the same."""
    begins_dense = False
    """Whether its first phase is the very training that method `dense` is; a finished run of that may take its place.
    """
    item_starts: tuple[dict[str, Any], ...] = ()
    """Settings it starts with on a base whose users have no rows, where `init` is left open: the best first, and last
    what needs the least. None: its defaults.
    """
    shardable = False
    """Whether several processes may hold its table, some column blocks each, and give the model that one gives."""
    shardable_by_rows = False
    """The same with some rows each, as a table of items alone is shared."""

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    def phases(self, context: Context) -> list[Phase]:
        """All trainings as far as they are known before any, each with what its table holds.

        For a plan: of the data only the number of users and items is known here.
        """
        return [Phase("train", context.epochs, holds=self.holds(context))]

    def holds(self, context: Context) -> Held:
        """What the table of the only training holds at most."""
        return context.sparse() if self.memory == "sparse" else context.dense()

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        """The next training, or None when the method is finished."""
        phases = self.phases(context)
        return phases[len(done)] if len(done) < len(phases) else None

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        """The table that the phase trains; a pure function of its arguments and `state`, for a resumed run calls it
        again.

        `previous` is the finished table of the phase it starts from, None in the first phase.
        """
        raise NotImplementedError

    def after_step(self, context: Context, table: Table, now: StepInfo) -> bool:
        """Called after every update; may change the table. True ends the phase."""
        return False

    def after_phase(self, context: Context, phase: Phase, table: Table) -> None:
        """Called with the table that a phase leaves; what a search learns from a probe goes into `state`."""

    def chosen(self, events: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Settings that validation chose in a training with this record, for one that has no validation part."""
        return {}

    def state(self) -> dict[str, np.ndarray]:
        """Arrays of the method itself that a resumed run needs (most methods: none)."""
        return {}

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Take back what `state` gave."""


MethodDefaults = OneTraining = Method  # as methods of other packages may know it
