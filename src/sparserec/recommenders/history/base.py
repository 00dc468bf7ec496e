"""history: a user is the items they have. Item vectors are the only parameters, and users have no rows.

    u = |H|^-1/2 * sum_{i in H} degree_i^-e z_i,   score of j = degree_j^l u . z_j / temperature,   |z_j| = 1
    loss = mean over users, weighted |H|^w, of the mean over i in H of -log softmax_j(score)_i

over all items j, where the score of an item of H leaves its own share out: an item must be found from the others. The
same formula makes the vector of a user who was not trained. It stands between EASE (Steck, WWW 2019) and ELSA (Vancura
et al., RecSys 2022), which are linear models of the same kind with a squared loss; the softmax over all items and the
exponent of the weights are what made it better here (docs/log.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
import torch

from sparserec.data import Interactions, Split, UserSampler
from sparserec.evaluation import evaluate, some_users
from sparserec.graph import Adjacency
from sparserec.progress import progress, say
from sparserec.recommenders.base import Decide, MoreSteps, Recommender, Steps, StepSizes, Tried
from sparserec.recommenders.fold_in import scaled_rows, user_history
from sparserec.recommenders.history.batch import TEMPERATURE, Histories, HistoryBatch, HistorySettings
from sparserec.recommenders.history.dense import ITEMS_AT_ONCE, dense_gradient, plain_gradient
from sparserec.recommenders.history.sparse import SparseHistory
from sparserec.recommenders.item_base import ItemBase
from sparserec.table import CHUNKS, DenseTable, Ledger, Shape, SparseTable, Table, Update

# One training step of base `history`: users from their items, softmax over items, the gradient on item rows.


@dataclass
class HistoryStepper:
    """Everything one step needs; lives as long as a phase of training."""

    settings: HistorySettings
    graph: Adjacency
    table: Table
    seed: int
    weight_decay: float = 0.0
    """Adam's coupled decay on every entry."""
    histories: Histories = field(init=False)
    sparse: SparseHistory | None = field(init=False, default=None)
    largest_batch: int = field(init=False, default=0)
    _row_decay: np.ndarray = field(init=False)
    _every_row: tuple[np.ndarray, np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        self.histories = Histories(self.graph, self.settings, self.seed)
        n_rows = self.table.shape.n_rows
        self._row_decay = np.full(n_rows, self.weight_decay, np.float32)
        # The softmax is over all items: every row is in every batch.
        self._every_row = np.arange(n_rows, dtype=np.int32), np.ones(n_rows, np.float32)
        if isinstance(self.table, SparseTable):
            self.sparse = SparseHistory(self.table, self.settings.candidate_cost)

    def run(self, users: np.ndarray, step: int, learning_rate: float) -> float:
        """Update the table with one batch of users; returns the loss before the update."""
        table, batch = self.table, self.histories.batch(users, step)
        self.largest_batch = max(self.largest_batch, len(users))
        own_loss = table.begin_step(*self._every_row)
        penalty = table.ego_penalty(self._row_decay) if self.weight_decay else 0.0
        update = Update(step, learning_rate, self._row_decay)
        if self.sparse is not None and not self.sparse.table.wants_last_gradient:
            loss, entries = self.sparse.run(batch, step)
            self.sparse.table.receive_entries(entries, update)
        else:
            loss, gradient = dense_gradient(table, batch)
            table.receive(0, gradient, update)
        table.finish_step(update)
        return loss + penalty + own_loss

    def ledger(self) -> Ledger:
        """Bytes of a step by role, the table's included."""
        shape, table = self.table.shape, self.table
        rows, entries = shape.rows.stop - shape.rows.start, None
        if isinstance(table, SparseTable):
            rows, entries = shape.n_rows, len(table.values)
        scratch = step_bytes(self.largest_batch, rows, shape.dim, entries, len(shape.parts))
        return {**table.ledger(), **scratch, "graph": self.graph.nbytes}

    def recorded(self) -> dict[str, Any]:
        return {"softmax": {"items": self.histories.softmax_items, "of": self.graph.n_items}}


def step_bytes(users: int, rows: int, dim: int, entries: int | None, chunks: int = CHUNKS) -> Ledger:
    """What a step makes: vectors of its users, and the gradient of a sparse table's entries, or of whole rows."""
    of_users = 4 * dim * (chunks + 4) * users
    if entries is None:
        return {"scratch": 8 * rows, "rows": of_users + 12 * dim * rows, "loss": 8 * users * ITEMS_AT_ONCE}
    return {"scratch": 16 * rows, "rows": of_users, "gradient": 4 * entries}


# A few more steps of base `history` after its training: the same batches and loss, for what a file will hold.

LAST_SHARE = 0.02
"""Of the first learning rate, at the last step; it falls geometrically."""


class MoreHistorySteps:
    """Batches of users, their loss, and how fast to learn from each of them."""

    def __init__(
        self, settings: HistorySettings, graph: Adjacency, train: Interactions, steps: int, seed: int = 0
    ) -> None:
        self.steps = steps
        self._histories = Histories(graph, settings, seed)
        self._sampler = UserSampler(train, settings.batch_of(graph.n_users), seed)
        self._sparse: SparseHistory | None = None

    @property
    def lengths(self) -> np.ndarray:
        """Of the vectors of items, float32."""
        return self._histories.lengths

    def batch(self, step: int) -> HistoryBatch:
        """Of a step, counted from 0."""
        users = self._sampler.batch(*divmod(step, self._sampler.steps_per_epoch))
        return self._histories.batch(users, step)

    def rate(self, first: float, step: int) -> float:
        return first * LAST_SHARE ** (step / max(self.steps - 1, 1))

    def of_rows(self, rows: torch.Tensor, step: int) -> torch.Tensor:
        """Gradient of rows that count as they are, of whatever length."""
        return plain_gradient(rows, self.batch(step))[1]

    def of_entries(self, table: SparseTable, step: int) -> np.ndarray:
        """Gradient of the entries of rows that count by their direction."""
        if self._sparse is None or self._sparse.table is not table:
            self._sparse = SparseHistory(table)
        return self._sparse.run(self.batch(step), step)[1]


# Temperature and lengths of base `history`, chosen on validation by short trainings of a narrow table before the run.
#
# The best temperature depends on how often items occur (.2 on Gowalla, .3 to .5 on logs of a few thousand users, 2
# where most items have one user), and half a training already ranks temperatures as a whole one does. The smaller the
# log, the more is won when items that many have are longer (docs/log.md). Values are tried outwards from the usual
# one, in the better direction, until the score falls. Costs are bounded: steps, columns, and items.

TEMPERATURES = (0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.2, 2.2, 4.0)
LENGTH, LENGTHS = 0.1, (0.0, 0.1, 0.2, 0.3, 0.4)
STEPS, COLUMNS, USERS, LARGEST_SOFTMAX, RANKED_USERS = 160, 32, 128, 4_000_000, 2000
RATE, LAST_RATE = 0.03, 0.002


CHOICES = {
    "temperature": (TEMPERATURES, TEMPERATURE, "the temperature"),
    "length_exponent": (LENGTHS, LENGTH, "lengths of items"),
}
"""What is tried of each setting, the usual value, and what it is called."""


def choose_setting(
    base: History, setting: str, split: Split, seed: int, quiet: bool = True
) -> dict[str, float]:
    """Validation score (NDCG) of every value tried, by its name; the largest is the choice.

    The usual value comes first, then those on its better side until one is worse.
    """
    values, usual, what = CHOICES[setting]
    lengths, scores = base.settings.length_exponent, dict[float, float]()
    known = base.changed(length_exponent=LENGTH if lengths is None else lengths)
    say(f"choosing {what}: short trainings, compared on validation", quiet)
    with progress(f"choosing {what}", len(values), quiet) as bar:

        def at(index: int) -> float:
            if not 0 <= index < len(values):
                return -1.0
            one = values[index]
            if one not in scores:
                scores[one] = short_training(known.changed(**{setting: one}), split, seed)
                bar.advance(1, f"{one:g}")
            return scores[one]

        here = values.index(usual)
        direction = 1 if at(here + 1) > at(here) else -1
        while at(here + direction) > at(here):
            here += direction
    return {f"{one:g}": scores[one] for one in sorted(scores)}


def short_training(base: History, split: Split, seed: int) -> float:
    """Validation NDCG of some users after a few steps."""
    short = base.changed(users_per_batch=USERS, largest_softmax=LARGEST_SOFTMAX)
    graph = short.graph(split.train)
    shape = Shape(0, split.n_items, COLUMNS, COLUMNS)
    table = DenseTable.create(shape, short.initial(seed, split.n_users, split.n_items, COLUMNS))
    stepper, sampler = short.stepper(graph, table, seed), UserSampler(split.train, USERS, seed)
    for step in range(STEPS):
        epoch, index = divmod(step, sampler.steps_per_epoch)
        rate = RATE * (LAST_RATE / RATE) ** (step / (STEPS - 1))
        stepper.run(sampler.batch(epoch, index), step + 1, rate)
    items, history, k = scaled_rows(table, graph), user_history(graph), min(20, split.n_items)
    parts = torch.from_numpy(items), split.train, some_users(split.valid, RANKED_USERS)
    found = evaluate(lambda users: torch.from_numpy(history[users] @ items), *parts, ks=(k,))
    return found.metrics[f"ndcg@{k}"]


class History(ItemBase):
    name = "history"
    settings_kind = HistorySettings
    idea = "a user is the items they have, softmax over all items"
    paper = "after RecSys 2022 (ELSA)"
    learns_codes = True

    def __init__(self, settings: HistorySettings) -> None:
        super().__init__(settings)
        self.item_exponent = settings.item_exponent
        self.length_exponent = settings.length_exponent or 0.0

    def changed(self, **settings: float) -> Self:
        """The same with other settings."""
        return type(self)(self.settings.model_copy(update=settings))

    def users_per_batch(self, n_users: int) -> int:
        return self.settings.batch_of(n_users)

    def stepper(self, graph: Adjacency, table: Table, seed: int, weight_decay: float = 0.0) -> Steps:
        return HistoryStepper(self.settings, graph, table, seed, weight_decay)

    def choose(self, split: Split, seed: int, decide: Decide, quiet: bool) -> tuple[Recommender, Tried]:
        """Temperature and lengths by short trainings, where there is a validation part and no temperature is given."""
        tried: Tried = {}
        if self.settings.temperature or not len(split.valid):
            return self, tried
        chosen = self
        for setting in CHOICES:
            if getattr(chosen.settings, setting) is None:
                scores = tried[setting] = decide(partial(choose_setting, chosen, setting, split, seed, quiet))
                chosen = chosen.changed(**{setting: float(max(scores, key=lambda name: scores[name]))})
        return chosen, tried

    def more_steps(self, graph: Adjacency, train: Interactions, steps: int) -> MoreSteps:
        return MoreHistorySteps(self.settings, graph, train, steps)

    def step_bytes(self, sizes: StepSizes) -> Ledger:
        users = min(self.users_per_batch(sizes.users), sizes.active_users)
        rows = sizes.items if sizes.entries is not None else -(-sizes.items // sizes.processes)
        return step_bytes(users, rows, sizes.dim, sizes.entries, -(-CHUNKS // sizes.processes))
