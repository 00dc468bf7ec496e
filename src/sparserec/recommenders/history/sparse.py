"""A step of base `history` on a sparse table, from its active entries alone.

Every chunk of rows makes its part of the users' vectors, of the sums of their softmax and of their slopes; parts are
gathered from all processes that hold chunks, and added up in the order of chunks. So a process needs its own rows only.

Nothing of (items, users) or (items, columns) is made: user vectors and their slopes are (columns, users), everything
else is as long as the table's entries or rows. Candidates' gradients are whole rows, as expensive as a dense table's,
so a step takes those of some candidates only, in turn: as many as keep their cost below that of the active entries.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numba import prange

from sparserec.compiled import compiled
from sparserec.recommenders.history.batch import HistoryBatch
from sparserec.recommenders.history.dense import top_scores
from sparserec.recommenders.history.kernels import (
    ActiveRows,
    Softmax,
    entry_gradients,
    row_scales,
    softmax_sums,
)
from sparserec.table import Shape, SparseTable


class SparseHistory:
    """Scratch of the sparse step, and where each row's entries begin; follows the table's support."""

    def __init__(self, table: SparseTable, candidate_cost: float = 0.5) -> None:
        self.table = table
        self.candidate_cost = candidate_cost
        self._positions = np.empty(0, np.int32)
        self.starts = np.empty(0, np.int32)
        self.scales = np.empty(table.shape.n_rows, np.float32)
        self._parts = np.empty((0, 0, 0), np.float32)

    def run(self, batch: HistoryBatch, step: int) -> tuple[float, np.ndarray]:
        """Loss of the batch and its gradient on the active entries; candidates take theirs on the way."""
        table, shape = self.table, self.table.shape
        if table.positions is not self._positions:
            edges = np.arange(shape.n_rows + 1, dtype=np.int32) * np.int32(shape.dim)
            self.starts, self._positions = (
                np.searchsorted(table.positions, edges).astype(np.int32),
                table.positions,
            )
        row_scales(self.starts, table.values, batch.lengths, self.scales)
        entries = ActiveRows(self.starts, table.positions, table.values, self.scales)
        squares = batch.lengths**2
        own = batch.weights * squares[batch.items] * (self.scales[batch.items] > 0)
        chunks, softmax_chunks = batch.chunks(shape)
        pairs = Pairs(chunks, batch.items, batch.owners)
        wanted = len(shape.parts), shape.dim, len(batch.users)
        if self._parts.shape != wanted:
            self._parts = np.empty(wanted, np.float32)
        parts = self._parts
        parts[:] = 0.0
        _add_rows(pairs, batch.weights, entries, parts)
        vectors = shape.gather(parts).sum(axis=0)
        best, liked = np.empty((len(parts), len(batch.users)), np.float32), np.empty(len(parts))
        _score_pairs(pairs, own, batch.targets, entries, vectors, best, liked)
        bound = torch.from_numpy(vectors).norm(dim=0) * float(batch.lengths.max())
        tops = top_scores(bound, torch.from_numpy(shape.gather(best))).numpy()
        over = batch.softmax, batch.odds, batch.starts, batch.owners, own, batch.targets
        softmax = Softmax(softmax_chunks, *over)
        sums = np.empty((len(parts), len(batch.users)), np.float32)
        softmax_sums(softmax, entries, vectors, tops, sums, parts)
        known = shape.gather(np.column_stack([sums, liked])).sum(axis=0)
        value = float(batch.users @ (np.log(known[:-1]) + tops) - known[-1])
        shares = (batch.users / known[:-1]).astype(np.float32)
        parts *= shares
        _add_rows(pairs, -batch.targets, entries, parts)
        slopes = shape.gather(parts).sum(axis=0)
        gradient = np.zeros(len(table.values), np.float32)
        chosen, kept_at, kept = self._candidates(batch, step)
        entry_gradients(softmax, entries, vectors, tops, shares, kept_at, gradient, kept)
        bounds = np.searchsorted(batch.items, np.arange(shape.n_rows + 1, dtype=np.int32)).astype(np.int32)
        through = ThroughUsers(bounds, batch.owners, batch.weights, slopes, squares)
        if len(chosen):
            held = table.candidates
            assert held is not None
            rows = held.rows[held.here][chosen]
            dense = _multiply_by_chunk(shape, rows, kept, vectors)
            _finish_rows(rows, through, entries, dense)
            held.accumulated[chosen] += dense
        _finish_entries(through, entries, gradient)
        return value, gradient

    def _candidates(self, batch: HistoryBatch, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """This step's candidates, where each item of the softmax keeps its slopes (-1: nowhere), and room for them.

        Whose turn it is does not depend on who holds them; candidates are named by their place among those held here.
        """
        held, kept_at = self.table.candidates, np.full(len(batch.softmax), -1, np.int32)
        if held is None:
            return np.empty(0, np.int64), kept_at, np.empty((0, len(batch.users)), np.float32)
        budget = max(1.0, self.candidate_cost * self.table.parameters())
        turns = max(1, -(-len(held.rows) * self.table.shape.dim // int(budget)))
        chosen = np.arange(step % turns, len(held.rows), turns)
        chosen = chosen[(chosen >= held.here.start) & (chosen < held.here.stop)]
        places = np.searchsorted(batch.softmax, held.rows[chosen])
        inside = batch.softmax[np.minimum(places, len(batch.softmax) - 1)] == held.rows[chosen]
        chosen, places = chosen[inside], places[inside]
        kept_at[places] = np.arange(len(chosen), dtype=np.int32)
        return chosen - held.here.start, kept_at, np.empty((len(chosen), len(batch.users)), np.float32)


def _multiply_by_chunk(shape: Shape, rows: np.ndarray, kept: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """kept @ vectors.T, a chunk of rows at a time: the last bits of a product depend on how many rows it has."""
    dense, by_column = torch.empty((len(kept), len(vectors))), torch.from_numpy(vectors).T
    ends = np.searchsorted(rows, shape.held_edges).tolist()
    for first, last in pairwise(ends):
        torch.mm(torch.from_numpy(kept[first:last]), by_column, out=dense[first:last])
    return dense.numpy()


class Pairs(NamedTuple):
    """Items of the batch's users, ascending."""

    chunks: np.ndarray  # (chunks + 1,) where the pairs of each chunk of rows begin
    items: np.ndarray
    owners: np.ndarray


class ThroughUsers(NamedTuple):
    """What items hear through the users that they are part of."""

    bounds: np.ndarray  # int32 (rows + 1,) pairs of each row
    owners: np.ndarray
    weights: np.ndarray
    slopes: np.ndarray  # (dim, users) gradient of the user vectors
    squares: np.ndarray  # (rows,) squared lengths of the rows' vectors


@compiled(parallel=True)
def _add_rows(
    pairs: Pairs,
    weights: np.ndarray,
    rows: ActiveRows,
    parts: np.ndarray,  # (chunks, dim, users) added to
) -> None:
    """Add the weighted vectors of every user's items to the user's column, every chunk's to its own part."""
    dim, (starts, positions, values, scales) = parts.shape[1], rows
    for chunk in prange(len(pairs.chunks) - 1):
        part = parts[chunk]
        for pair in range(pairs.chunks[chunk], pairs.chunks[chunk + 1]):
            row, user = pairs.items[pair], pairs.owners[pair]
            scale = weights[pair] * scales[row]
            for e in range(starts[row], starts[row + 1]):
                part[positions[e] - row * dim, user] += scale * values[e]


@compiled(parallel=True)
def _score_pairs(
    pairs: Pairs,
    own: np.ndarray,  # the item's own share in the score of its user
    targets: np.ndarray,
    rows: ActiveRows,
    vectors: np.ndarray,
    best: np.ndarray,  # (chunks, users) out
    liked: np.ndarray,  # float64 (chunks,) out
) -> None:
    """Of every chunk: each user's best score of their own items, own shares left out, and their part of the loss."""
    dim, (starts, positions, values, scales) = vectors.shape[0], rows
    for chunk in prange(len(pairs.chunks) - 1):
        best[chunk], liked[chunk] = -np.inf, 0.0
        for pair in range(pairs.chunks[chunk], pairs.chunks[chunk + 1]):
            row, user = pairs.items[pair], pairs.owners[pair]
            product = np.float32(0.0)
            for e in range(starts[row], starts[row + 1]):
                product += values[e] * vectors[positions[e] - row * dim, user]
            score = product * scales[row] - own[pair]
            best[chunk, user] = max(best[chunk, user], score)
            liked[chunk] += np.float64(targets[pair] * score)


@compiled(parallel=True)
def _finish_entries(
    through: ThroughUsers,
    rows: ActiveRows,
    gradient: np.ndarray,  # (entries,) of the rows' vectors in, of the table's values out
) -> None:
    """Add what comes through the users that an item is part of, then go back through the scaling."""
    bounds, owners, weights, slopes, squares = through
    starts, positions, values, scales = rows
    dim = slopes.shape[0]
    for row in prange(len(starts) - 1):
        along = np.float32(0.0)
        for e in range(starts[row], starts[row + 1]):
            for pair in range(bounds[row], bounds[row + 1]):
                gradient[e] += weights[pair] * slopes[positions[e] - row * dim, owners[pair]]
            along += gradient[e] * values[e] * scales[row]
        along /= squares[row]
        for e in range(starts[row], starts[row + 1]):
            gradient[e] = (gradient[e] - along * values[e] * scales[row]) * scales[row]


@compiled(parallel=True)
def _finish_rows(
    chosen: np.ndarray,
    through: ThroughUsers,
    rows: ActiveRows,
    gradient: np.ndarray,  # (len(chosen), dim) as above, of whole rows
) -> None:
    bounds, owners, weights, slopes, squares = through
    starts, positions, values, scales = rows
    dim = slopes.shape[0]
    for index in prange(len(chosen)):
        row, line = chosen[index], gradient[index]
        for pair in range(bounds[row], bounds[row + 1]):
            for column in range(dim):
                line[column] += weights[pair] * slopes[column, owners[pair]]
        along = np.float32(0.0)
        for e in range(starts[row], starts[row + 1]):
            along += line[positions[e] - row * dim] * values[e] * scales[row]
        along /= squares[row]
        for e in range(starts[row], starts[row + 1]):
            line[positions[e] - row * dim] -= along * values[e] * scales[row]
        for column in range(dim):
            line[column] *= scales[row]
