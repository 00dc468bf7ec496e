"""The rows a batch needs: every node once, and where each user, positive and negative finds its row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sparserec.compiled import compiled
from sparserec.data import Batch
from sparserec.graph import Buffers

Gather = Callable[[np.ndarray], np.ndarray]
"""Something of every column block of a table, in block order, from that of the blocks at hand (first axis)."""


def all_at_hand(parts: np.ndarray) -> np.ndarray:
    """Nothing is to be gathered where all blocks are at hand."""
    return parts


@dataclass(frozen=True)
class RowBatch:
    """A batch in terms of positions in `rows` (ascending node ids, users before items)."""

    rows: np.ndarray  # int32 node ids
    users: np.ndarray  # int32 (batch,) positions in rows
    positives: np.ndarray  # int32 (batch,)
    negatives: np.ndarray  # int32 (groups, per edge)
    counts: np.ndarray  # float32 (rows,) how often each row occurs in the batch
    n_user_rows: int
    n_users: int  # in the whole graph
    n_items: int
    width: int | None = None  # columns of a block: scores are summed block by block; None is one block
    gather: Gather = all_at_hand  # where the columns at hand are not all
    buffers: Buffers = field(default_factory=Buffers)

    def __len__(self) -> int:
        return len(self.users)

    def gradient(self, vectors: np.ndarray, tap: int = 0) -> np.ndarray:
        """Room for the gradient of a tap's outputs, until the next step; not filled."""
        return self.buffers.array(f"gradient {tap}", (vectors.shape[0], vectors.shape[1]), vectors.dtype)


def rows_of(
    batch: Batch,
    n_users: int,
    n_items: int,
    width: int | None = None,
    gather: Gather = all_at_hand,
    buffers: Buffers | None = None,
) -> RowBatch:
    """Collect the distinct nodes of a batch and renumber its triples."""
    counts = np.zeros(n_users + n_items, np.int32)
    _count(batch.users, 0, counts)
    _count(batch.positives, n_users, counts)
    _count(batch.negatives.reshape(-1), n_users, counts)
    rows = np.flatnonzero(counts).astype(np.int32)
    place = np.cumsum(counts > 0, dtype=np.int32)
    place -= 1
    items = place[n_users:]
    return RowBatch(
        rows=rows,
        users=place[batch.users],
        positives=items[batch.positives],
        negatives=items[batch.negatives],
        counts=counts[rows].astype(np.float32),
        n_user_rows=int(np.searchsorted(rows, n_users)),
        n_users=n_users,
        n_items=n_items,
        width=width,
        gather=gather,
        buffers=buffers or Buffers(),
    )


@compiled()
def _count(ids: np.ndarray, shift: int, counts: np.ndarray) -> None:
    for index in range(len(ids)):
        counts[ids[index] + shift] += 1
