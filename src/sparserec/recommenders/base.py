"""What a base recommender is: everything of a run that depends on it stands behind one class.

The graph it reads, the batches it draws, the steps it takes, what it chooses on validation, its vectors, how new users
are made, and what all of it costs. `GraphBase` has most of it for filters over the graph of users and items, `ItemBase`
for bases whose users are the items they have. A recommender knows nothing of methods.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import torch

from sparserec.data import Interactions, Split
from sparserec.device import FoldInWeights
from sparserec.graph import Adjacency, Noise, Tap
from sparserec.recommenders.fold_in import Vectors
from sparserec.settings import Settings
from sparserec.table import EntryDropout, InitialValues, Ledger, SparseTable, Table

NO_DROPOUT = EntryDropout()

Drawn = Literal["edges", "users"]
"""Every train edge once an epoch, or those of users drawn uniformly."""
Tried = dict[str, dict[str, float]]
"""By setting and value, the validation score of a short training."""
Decide = Callable[[Callable[[], Any]], Any]
"""Calls a function once and gives its answer to all processes of a run."""


@dataclass(frozen=True)
class Sampling:
    """How negatives are drawn for this recommender's loss."""

    negatives_per_edge: int = 1
    group_size: int = 1
    reject: bool = True


@dataclass(frozen=True)
class Perturbation:
    """Random changes of one training step; all pure functions of (seed, step), so both passes see the same."""

    dropout: EntryDropout = NO_DROPOUT
    noise: Noise | None = None
    weights: np.ndarray | None = None
    transposed_weights: np.ndarray | None = None
    output_dropout: EntryDropout = NO_DROPOUT
    """On the first tap's output, before the loss sees it."""


@dataclass(frozen=True)
class Loss:
    """Value of the batch loss and its gradient on the rows of every tap."""

    value: float
    gradients: Sequence[np.ndarray]  # per tap, (rows, dim)
    ego_decay: float = 0.0  # weight of half the squared layer-0 row, per occurrence of the row in the batch
    output_decay: float = 0.0  # weight of half the squared output, over all rows (not only the batch's)


@dataclass(frozen=True)
class StepSizes:
    """What the cost of a base's steps depends on."""

    users: int
    items: int
    train: int  # interactions
    batch_size: int  # of the recipe, in edges
    trained_users: int | None = None
    """Users that have something in train; None: all of them."""
    dim: int = 1  # columns of the table
    entries: int | None = None  # of a sparse table; None: it is dense
    processes: int = 1  # that share the table

    @property
    def nodes(self) -> int:
        return self.users + self.items

    @property
    def active_users(self) -> int:
        return self.users if self.trained_users is None else self.trained_users


class Batches(Protocol):
    """What a step is made from, as a pure function of (epoch, step)."""

    @property
    def steps_per_epoch(self) -> int: ...

    def batch(self, epoch: int, step: int) -> Any:
        """The batch of one step, of the kind that the base's stepper takes."""


class Steps(Protocol):
    """One phase's steps."""

    table: Table

    def run(self, batch: Any, step: int, learning_rate: float) -> float:
        """Update the table with one batch; returns the loss before the update."""

    def ledger(self) -> Ledger:
        """Bytes of a step by role, the table's included."""

    def recorded(self) -> dict[str, Any]:
        """What else the record of a run says of its steps."""


class MoreSteps(Protocol):
    """The loss that a table was trained with, for a few more steps on what a file will hold of it."""

    steps: int

    @property
    def lengths(self) -> np.ndarray:
        """Of the vectors of items, float32."""

    def rate(self, first: float, step: int) -> float:
        """Learning rate of a step, counted from 0."""

    def of_rows(self, rows: torch.Tensor, step: int) -> torch.Tensor:
        """Gradient of rows of all items that count as they are."""

    def of_entries(self, table: SparseTable, step: int) -> np.ndarray:
        """Gradient of the entries of sparse rows of all items."""


class Recommender:
    """One base recommender with its settings: most inherit from GraphBase or ItemBase, which are this with more."""

    name: str
    settings: Any
    settings_kind: type[Settings] = Settings
    idea = ""
    """In a line, for people who choose."""
    paper = "-"
    user_rows: bool
    """Whether users have rows of parameters; without, a user is what the items of their history make of them."""
    taps: tuple[Tap, ...]
    """Coefficients of S^0, S^1, ...: the first makes vectors from rows, others are for the loss."""
    self_loops = False
    draws_edges: bool
    """Whether a step takes as many train edges as the recipe says; else the size of its batches is the base's own."""
    learns_codes = False
    """Whether codes of a file can be learnt with its loss: `more_steps` is there."""

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    @property
    def fold_in_weights(self) -> FoldInWeights | None:
        """What items of a history weigh on a device; None: as neighbours in the graph do."""
        return None

    def initial(self, seed: int, n_users: int, n_items: int, dim: int) -> InitialValues:
        """Initial values of the table as this recommender's authors chose them."""
        raise NotImplementedError

    def graph(self, train: Interactions) -> Adjacency:
        """Who reads from whom."""
        raise NotImplementedError

    def sampler(self, train: Interactions, batch_size: int, batches: Drawn, seed: int) -> Batches:
        """Batches of a training."""
        raise NotImplementedError

    def stepper(self, graph: Adjacency, table: Table, seed: int, weight_decay: float = 0.0) -> Steps:
        """The steps of one phase on one table."""
        raise NotImplementedError

    def choose(self, split: Split, seed: int, decide: Decide, quiet: bool) -> tuple[Recommender, Tried]:
        """The recommender with what its settings leave open chosen on validation, and the scores that chose it."""
        return self, {}

    def vectors(self, graph: Adjacency, table: Table) -> Vectors:
        """Vectors of everybody, and what new users are made from."""
        raise NotImplementedError

    def outputs(self, graph: Adjacency, table: Table) -> np.ndarray:
        """Vectors of all users and items, shape (nodes, columns held here): what scores are made from."""
        raise NotImplementedError

    def more_steps(self, graph: Adjacency, train: Interactions, steps: int) -> MoreSteps:
        """A few more steps with its loss."""
        raise NotImplementedError(f"{self.name} learns no codes")

    def steps_per_epoch(self, sizes: StepSizes) -> int:
        """Of a training that is only planned."""
        raise NotImplementedError

    def graph_bytes(self, sizes: StepSizes) -> int:
        """Of the graph."""
        raise NotImplementedError

    def step_bytes(self, sizes: StepSizes) -> Ledger:
        """What a step makes beside the table, by role; `scratch` is kept from step to step."""
        raise NotImplementedError
