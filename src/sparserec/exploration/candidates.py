"""Which rows may have inactive entries looked at until the next exploration.

The paper draws rows without replacement with p = softmax(frequency). Over raw counts that saturates in float32, so
all three readings are drawn exactly, as the largest of logit + Gumbel noise (equal to sampling without replacement).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numba import prange

from sparserec.compiled import compiled
from sparserec.exploration.first_support import draw_inactive
from sparserec.exploration.select import mark_largest, take_largest
from sparserec.table import Shape, SparseTable

CountScale = Literal["raw", "log", "minmax"]
"""Logits from counts f: raw = f (the formula as written), log = log f (p proportional to f), minmax = f scaled to 0..1.
"""


def logits_of(counts: np.ndarray, scale: CountScale) -> np.ndarray:
    """Logits of the sampling distribution over the rows of one table."""
    f = counts.astype(np.float64)
    if scale == "raw":
        return f
    if scale == "log":
        return np.log(np.maximum(f, 1e-9))
    spread = f.max() - f.min()
    return (f - f.min()) / spread if spread > 0 else np.zeros_like(f)


def draw_rows(counts: np.ndarray, ratio: float, scale: CountScale, rng: np.random.Generator) -> np.ndarray:
    """round(ratio * rows) row ids, ascending, drawn without replacement; at least one."""
    size = min(len(counts), max(1, round(ratio * len(counts))))
    if size == len(counts):
        return np.arange(len(counts), dtype=np.int32)
    keys = logits_of(counts, scale) + rng.gumbel(size=len(counts))
    chosen = np.argpartition(keys, len(counts) - size)[len(counts) - size :]
    return np.sort(chosen).astype(np.int32)


def draw_candidates(
    user_counts: np.ndarray,
    item_counts: np.ndarray,
    ratio: float,
    scale: CountScale,
    rng: np.random.Generator,
) -> np.ndarray:
    """Rows of the stacked table: users first, then items shifted by the number of users."""
    users = draw_rows(user_counts, ratio, scale, rng)
    items = draw_rows(item_counts, ratio, scale, rng)
    return np.concatenate([users, items + np.int32(len(user_counts))])


# When to explore and how much to drop: pure functions of the step.


def cosine_drop_fraction(step: int, last_step: int, start: float, floor: float = 0.0) -> float:
    """Share of active entries to drop at `step`: from `start` down to `floor` at `last_step` along half a cosine."""
    progress = min(max(step / last_step, 0.0), 1.0)
    return floor + (start - floor) * 0.5 * (1.0 + math.cos(math.pi * progress))


def interval_of(explorations: int, last_step: int) -> int:
    """Steps between explorations so that at least as many as asked for happen before `last_step`; 1 at the least."""
    return max(1, last_step // (explorations + 1))


def explores_after(step: int, interval: int, last_step: int, since: int = 0) -> bool:
    """Whether an exploration follows update `step` (1 is the first), `interval` steps after step `since`.

    None at the very end: nothing could be learnt any more.
    """
    return (step - since) % interval == 0 and since < step < last_step


# Where entries may grow, and which of them do: by the largest score of sampled rows, or at random.


class Growth(Protocol):
    """One choice of entries to activate: `offer` once, then `take` for ranges of rows, then `release`."""

    def offer(self, table: SparseTable, active: np.ndarray) -> tuple[int, int]:
        """How many entries of users and of items may grow while those marked in `active` (bool, per entry) stay."""

    def take(self, rows: tuple[int, int], count: int) -> list[np.ndarray]:
        """Positions per block, ascending, of `count` entries to activate in this half-open range of rows."""

    def release(self) -> None:
        """Give back what the choice needed."""


@dataclass
class LargestScores:
    """The entries of some rows with the largest scores: RigL's last gradient, SparseRec's sum of gradients."""

    rows: np.ndarray  # int32, ascending
    scores: np.ndarray  # float32, a row each; overwritten
    shape: Shape | None = None

    @classmethod
    def accumulated(cls, table: SparseTable) -> LargestScores:
        """By what the table has accumulated for its candidates; it is spent, the table has no candidates after."""
        held = table.candidates
        assert held is not None, "nothing was accumulated"
        table.set_candidates(None)
        return cls(held.rows[held.here], held.accumulated)

    def offer(self, table: SparseTable, active: np.ndarray) -> tuple[int, int]:
        """Scores become magnitudes in place, -1 where an entry is active."""
        np.abs(self.scores, out=self.scores)
        place = np.full(table.shape.n_rows, -1, np.int32)
        place[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        self.shape = table.shape
        for index, (start, width) in enumerate(table.shape.local_blocks):
            part = table.block(index)
            scores = self.scores[:, start : start + width]
            _exclude(table.positions[part], active[part], place, width, scores)
        first_item = int(np.searchsorted(self.rows, table.shape.n_users))
        parts = self.scores[:first_item], self.scores[first_item:]
        users, items = table.shape.total(np.array([_count_eligible(part) for part in parts]))
        return int(users), int(items)

    def take(self, rows: tuple[int, int], count: int) -> list[np.ndarray]:
        assert self.shape is not None
        first, last = np.searchsorted(self.rows, rows)
        part, blocks = (int(first), int(last)), self.shape.local_blocks
        return take_largest(self.scores, self.rows, part, blocks, count, self.shape)

    def release(self) -> None:
        self.scores = np.empty((0, 0), np.float32)


class RandomGrowth:
    """Inactive entries drawn uniformly, as SET does; nothing of the size of the table is made."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.shape: Shape | None = None
        self.active: list[np.ndarray] = []

    def offer(self, table: SparseTable, active: np.ndarray) -> tuple[int, int]:
        self.shape, blocks = table.shape, table.shape.blocks
        parts = [table.block(index) for index in range(len(blocks))]
        self.active = [table.positions[part][active[part]] for part in parts]
        edge, dim = table.shape.n_users, table.shape.dim
        of_users = sum(
            int(np.searchsorted(block, edge * width)) for block, (_, width) in zip(self.active, blocks)
        )
        of_items = sum(map(len, self.active)) - of_users
        users, items = table.shape.total(np.array([of_users, of_items]))
        return edge * dim - int(users), table.shape.n_items * dim - int(items)

    def take(self, rows: tuple[int, int], count: int) -> list[np.ndarray]:
        assert self.shape is not None
        return draw_inactive(self.shape, rows, self.active, count, self.rng)

    def release(self) -> None:
        self.active = []


def sample_inactive(
    table: SparseTable, weights: np.ndarray, draws: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Distinct inactive entries of `draws`, rows by weight and columns uniformly; ascending positions per block."""
    held, widths = table.shape.held, np.array([width for _, width in table.shape.all_blocks])
    ends = np.cumsum(weights) / weights.sum()
    sample = []
    for index, count in enumerate(rng.multinomial(draws, widths / widths.sum())):
        rows = np.searchsorted(ends, rng.random(count), side="right").astype(np.int32)
        columns = rng.integers(0, widths[index], count, dtype=np.int32)
        if index in held:
            drawn = np.unique(rows * np.int32(widths[index]) + columns)
            active = table.positions[table.block(index - held.start)]
            sample.append(np.setdiff1d(drawn, active, assume_unique=True))
    return sample


class LargestOfSample:
    """The watched entries with the largest gradients; ties by (block, row, column)."""

    def __init__(self, table: SparseTable) -> None:
        """The sample is spent: the table watches nothing after."""
        held = table.watched
        assert held is not None, "nothing was sampled"
        table.watch(None)
        self.shape = table.shape
        self.sampled = int(self.shape.total(len(held.positions)))
        cuts = held.bounds[1:-1]
        self.positions, self.gradient = np.split(held.positions, cuts), np.split(np.abs(held.gradient), cuts)
        self.widths = [width for _, width in table.shape.blocks]

    @property
    def recorded(self) -> dict[str, int]:
        return {"sampled": self.sampled}

    def offer(self, table: SparseTable, active: np.ndarray) -> tuple[int, int]:
        edge = table.shape.n_users
        here = sum(int(np.searchsorted(one, edge * width)) for one, width in zip(self.positions, self.widths))
        users = int(self.shape.total(here))
        return users, self.sampled - users

    def take(self, rows: tuple[int, int], count: int) -> list[np.ndarray]:
        inside = [
            slice(*np.searchsorted(one, [rows[0] * width, rows[1] * width]))
            for one, width in zip(self.positions, self.widths)
        ]
        scores = np.concatenate([one[part] for one, part in zip(self.gradient, inside)])
        chosen = mark_largest(scores, count, self.shape)
        cuts = np.cumsum([part.stop - part.start for part in inside])[:-1]
        marks = np.split(chosen, cuts)
        return [one[part][mark] for one, part, mark in zip(self.positions, inside, marks)]

    def release(self) -> None:
        self.positions = self.gradient = []


@compiled(parallel=True)
def _exclude(
    positions: np.ndarray, active: np.ndarray, place: np.ndarray, width: int, scores: np.ndarray
) -> None:
    for e in prange(len(positions)):
        index = place[positions[e] // width]
        if index >= 0 and active[e]:
            scores[index, positions[e] % width] = np.float32(-1.0)


@compiled()
def _count_eligible(scores: np.ndarray) -> int:
    count = 0
    for index in range(scores.shape[0]):
        for column in range(scores.shape[1]):
            count += scores[index, column] >= 0
    return count
