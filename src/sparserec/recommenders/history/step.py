"""One training step of base `history`: users from their items, softmax over items, the gradient on item rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparserec.graph import Adjacency
from sparserec.recommenders.history.batch import Histories
from sparserec.recommenders.history.dense import ITEMS_AT_ONCE, dense_gradient
from sparserec.recommenders.history.settings import HistorySettings
from sparserec.recommenders.history.sparse import SparseHistory
from sparserec.table import CHUNKS, Ledger, SparseTable, Table, Update


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
        if self.sparse is not None and not _wants_last_gradient(self.sparse.table):
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
        made = step_bytes(self.largest_batch, rows, shape.dim, entries, len(shape.parts))
        return {**table.ledger(), **made, "graph": self.graph.nbytes}

    def recorded(self) -> dict[str, Any]:
        return {"softmax": {"items": self.histories.softmax_items, "of": self.graph.n_items}}


def step_bytes(users: int, rows: int, dim: int, entries: int | None, chunks: int = CHUNKS) -> Ledger:
    """What a step makes: vectors of its users, and the gradient of a sparse table's entries, or of whole rows."""
    of_users = 4 * dim * (chunks + 4) * users
    if entries is None:
        return {"scratch": 8 * rows, "rows": of_users + 12 * dim * rows, "loss": 8 * users * ITEMS_AT_ONCE}
    return {"scratch": 16 * rows, "rows": of_users, "gradient": 4 * entries}


def _wants_last_gradient(table: SparseTable) -> bool:
    """Whether every candidate's gradient of every batch is asked for: then whole rows are made anyway."""
    return table.watched is not None or (table.candidates is not None and not table.candidates.cumulative)
