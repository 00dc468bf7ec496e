"""The sparse table: active positions and everything aligned with them, per column block.

Entries are sorted by (block, row, column): `positions` is row * width + column inside a block and `bounds` says
where each block begins. Values, Adam moments and ages are aligned with it; nothing else exists for an entry.
Candidates are sampled rows whose full gradient is accumulated, for the next exploration.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from itertools import pairwise

import numpy as np
import torch
from numba import prange

from sparserec.compiled import compiled
from sparserec.device import EncodedTable, SparseRows, encode_table, fake_quantise_flat, quantised_bytes_flat
from sparserec.graph import clear
from sparserec.table.adam import Active, BlockDropout, Cohorts, dropped, update_active
from sparserec.table.base import (
    Candidates,
    EntryDropout,
    Held,
    InitialValues,
    Ledger,
    Shape,
    State,
    Table,
    Update,
    Watched,
)

ALIGNED = ("positions", "values", "first", "second", "ages")
"""What a file holds of every entry."""


class SparseTable(Table):
    """A table of which only the support is stored and trained."""

    kind = "sparse"

    def __init__(self, shape: Shape, support: list[np.ndarray], values: np.ndarray) -> None:
        self.shape = shape
        self.bounds = np.cumsum([0] + [len(block) for block in support])
        self.positions = np.concatenate(support).astype(np.int32)
        self.values = values
        self.first = np.zeros_like(values)
        self.second = np.zeros_like(values)
        self.ages = np.zeros(len(values), np.uint8)
        self.cohorts = Cohorts()
        self.candidates: Candidates | None = None
        self.watched: Watched | None = None
        self.gradient: np.ndarray | None = None
        """Of the loss of the last batch by every active entry, before dropout and decay; see `keep_gradient`."""
        self.most_watched = 0  # entries of the largest sample so far: it is gone when the ledger is read
        self._counted: np.ndarray | None = None  # the positions that `_parameters` counts
        self._parameters = 0

    @classmethod
    def create(cls, shape: Shape, support: list[np.ndarray], initial: InitialValues) -> SparseTable:
        """Random values on a given support (sorted int32 positions of each block)."""
        values = [
            initial.at(positions // width, start + positions % width, shape.n_users)
            for positions, (start, width) in zip(support, shape.blocks)
        ]
        return cls(shape, support, np.concatenate(values))

    def block(self, index: int) -> slice:
        """Where a block's entries lie in the aligned arrays."""
        return slice(int(self.bounds[index]), int(self.bounds[index + 1]))

    def parts(self) -> list[slice]:
        """Where the entries of each part held here lie: of a block, or of a chunk of its rows."""
        if not self.shape.by_rows:
            return [self.block(index) for index in range(len(self.shape.blocks))]
        ends = np.searchsorted(self.positions, self.shape.held_edges * np.int32(self.shape.dim)).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]

    def fill(self, block: int, out: torch.Tensor, dropout: EntryDropout) -> None:
        """Scatter the active values into a zeroed block."""
        clear(out.numpy())
        part, (start, width) = self.block(block), self.shape.blocks[block]
        origin, flat = self.shape.rows.start * width, out.view(-1).numpy()
        _scatter(self.positions[part], self.values[part], width, origin, dropout.block(start), flat)

    def receive(self, block: int, gradient: torch.Tensor, update: Update) -> None:
        """Accumulate for the candidates, then one Adam step on the active entries."""
        assert self.shape.rows.start == 0, "gradients of whole rows are taken by a table that has all of them"
        part, (start, width) = self.block(block), self.shape.blocks[block]
        grad = gradient.numpy()
        if self.candidates is not None:
            c = self.candidates
            local = self.shape.local_blocks[block][0]
            _accumulate(grad, c.rows, c.cumulative, c.accumulated[:, local : local + width])
        if self.gradient is not None:
            np.take(grad.reshape(-1), self.positions[part], out=self._kept_gradient()[part])
        if (w := self.watched) is not None:
            inside = slice(int(w.bounds[block]), int(w.bounds[block + 1]))
            np.take(grad.reshape(-1), w.positions[inside], out=w.gradient[inside])
        self._adam(part, start, width, grad.reshape(-1), update)

    def _adam(self, part: slice, start: int, width: int, gradient: np.ndarray, update: Update) -> None:
        """One step on the active entries of a block."""
        steps = self.cohorts.step_sizes(update.step, update.learning_rate)
        active, dropout = Active(self.positions[part], width, self.ages[part]), update.dropout.block(start)
        arrays = self.values[part], self.first[part], self.second[part]
        update_active(active, gradient, update.row_decay, dropout, steps, *arrays)

    def receive_entries(self, gradient: np.ndarray, update: Update) -> None:
        """One Adam step from the gradient of the active entries alone; for tables of one block, and without dropout."""
        assert len(self.shape.blocks) == 1 and not update.dropout.rate
        if self.gradient is not None:
            self._kept_gradient()[:] = gradient
        self._adam(slice(None), 0, self.shape.dim, gradient, update)

    def ego_penalty(self, row_decay: np.ndarray) -> float:
        """sum over entries of decay[row] * value^2 / 2."""
        widths = [self.shape.blocks[block][1] for block, _ in self.shape.local_parts]
        return self.shape.sum_over_parts(
            [
                _weighted_squares(self.positions[part], self.values[part], width, row_decay)
                for part, width in zip(self.parts(), widths)
            ]
        )

    def set_candidates(self, rows: np.ndarray | None, cumulative: bool = True) -> None:
        """Start accumulating afresh for these rows; None stops accumulating."""
        self.candidates = None  # free the old accumulator before the new one is allocated
        if rows is not None:
            rows = rows.astype(np.int32)
            here = self.shape.held_of(rows)
            accumulated = np.zeros((here.stop - here.start, self.shape.columns), np.float32)
            self.candidates = Candidates(rows, here, accumulated, cumulative)

    def keep_gradient(self) -> None:
        """From now on `gradient` holds that of the active entries, 4 bytes each; zeros until the next step, and after
        every change of the support. It is in no checkpoint: a method asks for it in `start`.
        """
        self.gradient = np.zeros(len(self.values), np.float32)

    def _kept_gradient(self) -> np.ndarray:
        if self.gradient is None or len(self.gradient) != len(self.values):
            self.gradient = np.zeros(len(self.values), np.float32)
        return self.gradient

    def watch(self, positions: list[np.ndarray] | None) -> None:
        """Keep the gradient of these entries (ascending positions per block) in every batch; None stops it."""
        self.watched = None
        if positions is not None:
            flat = np.concatenate(positions).astype(np.int32)
            bounds = np.cumsum([0] + [len(block) for block in positions])
            self.watched = Watched(flat, bounds, np.zeros(len(flat), np.float32))
            self.most_watched = max(self.most_watched, int(self.shape.total(len(flat))))

    def change_support(
        self, keep: np.ndarray, grown: list[np.ndarray], step: int, values: np.ndarray | None = None
    ) -> None:
        """The one place where the support changes: drop entries where `keep` is False, insert `grown` positions.

        Grown entries start at 0 (or `values`, in (block, row, column) order) with zero moments and a new age.
        One aligned array is rebuilt at a time, so the extra memory is two arrays, not a second table.
        """
        kept = [int(np.count_nonzero(keep[self.block(index)])) for index in range(len(grown))]
        bounds = np.cumsum([0] + [count + len(new) for count, new in zip(kept, grown)])
        positions, source = np.empty(bounds[-1], np.int32), np.empty(bounds[-1], np.int32)
        for index, new in enumerate(grown):
            part, target = self.block(index), slice(int(bounds[index]), int(bounds[index + 1]))
            _merge(self.positions[part], keep[part], new.astype(np.int32, copy=False), part.start,
                   positions[target], source[target])  # fmt: skip
        self.positions, self.bounds = positions, bounds
        age = self.cohorts.new(step, self.ages)
        for name, start in (("values", 0.0), ("first", 0.0), ("second", 0.0), ("ages", age)):
            old = getattr(self, name)
            moved = np.empty(len(source), old.dtype)
            _move(old, source, old.dtype.type(start), moved)
            setattr(self, name, moved)
            del old
        if values is not None:
            self.values[source < 0] = values
        if self.gradient is not None:
            self.keep_gradient()

    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(rows, columns, values) in (block, row, column) order."""
        rows, columns = [], []
        for index, (start, width) in enumerate(self.shape.blocks):
            positions = self.positions[self.block(index)]
            rows.append(positions // width)
            columns.append(start + positions % width)
        return np.concatenate(rows), np.concatenate(columns), self.values

    def row_sizes(self) -> np.ndarray:
        """Active entries per row."""
        here = np.bincount(self.entries()[0], minlength=self.shape.n_rows)
        return self.shape.total(here)

    @property
    def wants_last_gradient(self) -> bool:
        """Whether the gradient of every candidate in every batch is asked for: then whole rows are made anyway."""
        return self.watched is not None or (self.candidates is not None and not self.candidates.cumulative)

    @property
    def changed_at(self) -> int:
        """The step after which the support last changed, 0 for the first one."""
        return self.cohorts.births[-1]

    def parameters(self) -> int:
        """Active entries, those held elsewhere too; counted once for every support."""
        if self._counted is not self.positions:
            self._counted = self.positions
            self._parameters = int(self.shape.total(len(self.values)))
        return self._parameters

    def state(self) -> State:
        state = {name: getattr(self, name) for name in ALIGNED}
        state |= {"bounds": self.bounds.astype(np.int64), "births": np.asarray(self.cohorts.births, np.int64)}
        if self.candidates is not None:
            state["candidates.rows"] = self.candidates.rows
            state["candidates.accumulated"] = self.candidates.accumulated
            state["candidates.cumulative"] = np.array([self.candidates.cumulative], np.uint8)
        if self.most_watched:
            state["most_watched"] = np.array([self.most_watched])
        if self.watched is not None:  # its gradient is written by the next step before anyone reads it
            state["candidates.watched"] = self.watched.positions
            state["candidates.bounds"] = self.watched.bounds
        return state

    def load(self, state: State) -> None:
        for name in (*ALIGNED, "bounds"):
            setattr(self, name, state[name].copy())
        self.cohorts = Cohorts([int(birth) for birth in state["births"]])
        self.candidates = self.watched = None
        self.most_watched = int(state.get("most_watched", [0])[0])
        if "candidates.watched" in state:
            self.watch(np.split(state["candidates.watched"], state["candidates.bounds"][1:-1]))
        if "candidates.rows" in state:
            rows, accumulated = state["candidates.rows"].copy(), state["candidates.accumulated"].copy()
            cumulative = bool(state["candidates.cumulative"][0])
            self.candidates = Candidates(rows, self.shape.held_of(rows), accumulated, cumulative)

    @classmethod
    def revive(cls, shape: Shape, state: State) -> SparseTable:
        table = cls(shape, [np.empty(0, np.int32) for _ in shape.blocks], np.empty(0, np.float32))
        table.load(state)
        return table

    @classmethod
    def held(cls, shape: Shape, entries: int, candidates: int = 0, watched: int = 0) -> Held:
        """With so many candidate rows, and inactive entries whose gradient is looked at."""
        parts = {"positions": 4, "values": 4, "moments": 8, "ages": 1}
        ledger = {role: size * entries for role, size in parts.items()}
        summed = 4 * candidates * (1 + shape.columns) + 8 * watched
        return Held("sparse", shape.dim, ledger | {"accumulated": summed})

    def ledger(self) -> Ledger:
        rows = 0 if self.candidates is None else len(self.candidates.accumulated)
        ledger = self.held(self.shape, len(self.values), rows, self.most_watched).ledger
        return ledger if self.gradient is None else ledger | {"kept gradient": self.gradient.nbytes}

    def counted_numbers(self) -> int:
        """Active entries, gradients of active or sampled entries (sampled rows count whole), and their sum where there
        is one: K + card(A u S) + card(S). A gradient of the last batch alone is not kept twice."""
        held = self.candidates
        if held is None:
            return 2 * self.parameters() + self.most_watched
        sizes = self.row_sizes()
        sizes[held.rows] = self.shape.dim
        summed = len(held.rows) * self.shape.dim if held.cumulative else 0
        return self.parameters() + int(sizes.sum()) + summed

    def encoded(self, order: np.ndarray, bits: int) -> EncodedTable:
        return encode_table(self.in_order(order), bits)

    def in_order(self, order: np.ndarray) -> SparseRows:
        """Entries by row, row j being row order[j] of the table."""
        rows, columns, values = self.entries()
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        rows = place[rows]
        by_row = np.lexsort((columns, rows))
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=self.shape.n_rows))])
        return SparseRows(values[by_row], columns[by_row], starts, self.shape.dim)

    def stored_bytes(self, bits: int) -> int:
        rows, _, values = self.entries()
        return quantised_bytes_flat(values, rows, self.shape.n_rows, self.shape.dim, bits)

    def quantised(self, bits: int) -> SparseTable:
        rows, _, values = self.entries()
        twin = copy.copy(self)
        twin.values = fake_quantise_flat(values, rows, self.shape.n_rows, bits, self.shape.largest)
        twin.candidates = twin.watched = None
        return twin


class SeenAsSparse(Table):
    """What tables have in common of which a device sees the active entries alone."""

    @abstractmethod
    def to_sparse(self) -> SparseTable:
        """The active entries as the model uses them, without moments."""

    def row_sizes(self) -> np.ndarray:
        return self.to_sparse().row_sizes()

    def encoded(self, order: np.ndarray, bits: int) -> EncodedTable:
        return self.to_sparse().encoded(order, bits)

    def stored_bytes(self, bits: int) -> int:
        return self.to_sparse().stored_bytes(bits)

    def quantised(self, bits: int) -> SparseTable:
        return self.to_sparse().quantised(bits)


@compiled(parallel=True)
def _scatter(
    positions: np.ndarray, values: np.ndarray, width: int, origin: int, dropout: BlockDropout, out: np.ndarray
) -> None:
    for e in prange(len(positions)):
        out[positions[e] - origin] = dropped(values[e], positions[e] // width, positions[e] % width, dropout)


@compiled(parallel=True)
def _accumulate(gradient: np.ndarray, rows: np.ndarray, cumulative: bool, out: np.ndarray) -> None:
    for index in prange(len(rows)):
        for column in range(gradient.shape[1]):
            before = out[index, column] if cumulative else np.float32(0.0)
            out[index, column] = before + gradient[rows[index], column]


@compiled()
def _weighted_squares(positions: np.ndarray, values: np.ndarray, width: int, row_decay: np.ndarray) -> float:
    total = 0.0
    for e in range(len(positions)):
        total += row_decay[positions[e] // width] * values[e] * values[e]
    return 0.5 * total


@compiled()
def _merge(
    positions: np.ndarray,
    keep: np.ndarray,
    grown: np.ndarray,
    shift: int,
    merged: np.ndarray,
    source: np.ndarray,
) -> None:
    """Merge kept and grown positions, both ascending; source is the old index of an entry, -1 for a grown one."""
    new = written = 0
    for old in range(len(positions)):
        if not keep[old]:
            continue
        while new < len(grown) and grown[new] < positions[old]:
            merged[written], source[written] = grown[new], -1
            new, written = new + 1, written + 1
        merged[written], source[written] = positions[old], old + shift
        written += 1
    while new < len(grown):
        merged[written], source[written] = grown[new], -1
        new, written = new + 1, written + 1


@compiled(parallel=True)
def _move(old: np.ndarray, source: np.ndarray, start: float, moved: np.ndarray) -> None:
    """moved[e] = old[source[e]], or `start` for a grown entry; numpy would widen the index to 8 bytes an entry."""
    for e in prange(len(source)):
        moved[e] = old[source[e]] if source[e] >= 0 else start
