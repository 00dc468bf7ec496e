"""A step of base `history` on a sparse table, from its active entries alone.

Nothing of (items, users) or (items, columns) is made: user vectors and their slopes are (columns, users), everything
else is as long as the table's entries or rows. Candidates' gradients are whole rows, as expensive as a dense table's,
so a step takes those of some candidates only, in turn: as many as keep their cost below that of the active entries.
"""

from __future__ import annotations

import numpy as np
import torch
from numba import njit, prange

from sparserec.table import SparseTable
from sparserec.training.history_batch import HistoryBatch
from sparserec.training.history_dense import top_scores
from sparserec.training.history_kernels import CHUNKS, entry_gradients, row_scales, softmax_sums

CANDIDATE_COST = 0.5
"""Entries of candidates looked at in a step, as a share of the active entries."""


class SparseHistory:
    """Scratch of the sparse step, and where each row's entries begin; follows the table's support."""

    def __init__(self, table: SparseTable) -> None:
        self.table = table
        self._positions = np.empty(0, np.int32)
        self.starts = np.empty(0, np.int32)
        self.scales = np.empty(table.shape.n_rows, np.float32)
        self.slopes = np.empty(0, np.float32)

    def run(self, batch: HistoryBatch, step: int) -> tuple[float, np.ndarray]:
        """Loss of the batch and its gradient on the active entries; candidates take theirs on the way."""
        table, dim = self.table, self.table.shape.dim
        self._follow_support()
        row_scales(self.starts, table.values, batch.lengths, self.scales)
        entries = self.starts, table.positions, table.values, self.scales
        vectors = np.zeros((dim, batch.n_users), np.float32)
        scores, squares = np.empty(len(batch.items), np.float32), batch.lengths**2
        own = batch.weights * squares[batch.items] * (self.scales[batch.items] > 0)
        _make_users(batch.items, batch.owners, batch.weights, *entries, vectors)
        _score_pairs(batch.items, batch.owners, own, *entries, vectors, scores)
        tops = _tops(vectors, batch.lengths.max(), scores, batch.owners)
        pairs = batch.softmax, batch.odds, batch.starts, batch.owners, own
        sums, slopes = self._sum(batch, pairs, entries, vectors, tops)
        value = float(batch.users @ (np.log(sums) + tops) - np.sum(batch.targets * scores, dtype=np.float64))
        shares = (batch.users / sums).astype(np.float32)
        slopes *= shares
        _make_users(batch.items, batch.owners, -batch.targets, *entries, slopes)
        gradient = np.zeros(len(table.values), np.float32)
        chosen, kept_at, kept = self._candidates(batch, step)
        entry_gradients(*pairs, batch.targets, *entries, vectors, tops, shares, gradient, kept_at, kept)  # type: ignore[call-arg]
        bounds = np.searchsorted(batch.items, np.arange(table.shape.n_rows + 1)).astype(np.int32)
        toward = bounds, batch.owners, batch.weights, slopes, squares
        if len(chosen):
            held = table.candidates
            assert held is not None
            rows = held.rows[chosen]
            dense = torch.mm(torch.from_numpy(kept), torch.from_numpy(vectors).T).numpy()
            _finish_rows(rows, *toward, *entries, dense)
            table.accumulate(chosen, dense)
        _finish_entries(*toward, *entries, gradient)
        return value, gradient

    def _follow_support(self) -> None:
        table = self.table
        if table.positions is not self._positions:
            edges = np.arange(table.shape.n_rows + 1, dtype=np.int64) * table.shape.dim
            self.starts = np.searchsorted(table.positions, edges).astype(np.int32)
            self._positions = table.positions

    def _sum(
        self, batch: HistoryBatch, pairs: tuple, entries: tuple, vectors: np.ndarray, tops: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sum of every user's exponentials and their sum times the vectors of items, over chunks in their order."""
        if self.slopes.shape != (CHUNKS, *vectors.shape):
            self.slopes = np.empty((CHUNKS, *vectors.shape), np.float32)
        sums = np.empty((CHUNKS, batch.n_users), np.float32)
        softmax_sums(*pairs, *entries, vectors, tops, sums, self.slopes)  # type: ignore[call-arg]
        return sums.sum(axis=0, dtype=np.float64), self.slopes.sum(axis=0)

    def _candidates(self, batch: HistoryBatch, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """This step's candidates, where each item of the softmax keeps its slopes (-1: nowhere), and room for them."""
        held, kept_at = self.table.candidates, np.full(len(batch.softmax), -1, np.int32)
        if held is None:
            return np.empty(0, np.int64), kept_at, np.empty((0, batch.n_users), np.float32)
        budget = max(1.0, CANDIDATE_COST * len(self.table.values))
        turns = max(1, -(-held.accumulated.size // int(budget)))
        chosen = np.arange(step % turns, len(held.rows), turns)
        places = np.searchsorted(batch.softmax, held.rows[chosen])
        inside = batch.softmax[np.minimum(places, len(batch.softmax) - 1)] == held.rows[chosen]
        chosen, places = chosen[inside], places[inside]
        kept_at[places] = np.arange(len(chosen), dtype=np.int32)
        return chosen, kept_at, np.empty((len(chosen), batch.n_users), np.float32)


def _tops(vectors: np.ndarray, longest: float, scores: np.ndarray, owners: np.ndarray) -> np.ndarray:
    bounds = torch.from_numpy(vectors).norm(dim=0) * longest
    return top_scores(bounds, torch.from_numpy(scores), torch.from_numpy(owners).long()).numpy()


@njit(cache=True)
def _make_users(
    items: np.ndarray,
    owners: np.ndarray,
    weights: np.ndarray,
    starts: np.ndarray,
    positions: np.ndarray,
    values: np.ndarray,
    scales: np.ndarray,
    vectors: np.ndarray,  # (dim, users) added to
) -> None:
    """Add the weighted vectors of every user's items to the user's column."""
    dim = vectors.shape[0]
    for pair in range(len(items)):
        row, user = items[pair], owners[pair]
        scale = weights[pair] * scales[row]
        for e in range(starts[row], starts[row + 1]):
            vectors[positions[e] - row * dim, user] += scale * values[e]


@njit(cache=True)
def _score_pairs(
    items: np.ndarray,
    owners: np.ndarray,
    own: np.ndarray,  # the item's own share in the score of its user
    starts: np.ndarray,
    positions: np.ndarray,
    values: np.ndarray,
    scales: np.ndarray,
    vectors: np.ndarray,
    scores: np.ndarray,  # out: the score of every pair without that share
) -> None:
    dim = vectors.shape[0]
    for pair in range(len(items)):
        row, user = items[pair], owners[pair]
        product = np.float32(0.0)
        for e in range(starts[row], starts[row + 1]):
            product += values[e] * vectors[positions[e] - row * dim, user]
        scores[pair] = product * scales[row] - own[pair]


@njit(cache=True, parallel=True)
def _finish_entries(
    bounds: np.ndarray,  # int32 (rows + 1,) pairs of each row
    owners: np.ndarray,
    weights: np.ndarray,
    slopes: np.ndarray,  # (dim, users) gradient of the user vectors
    squares: np.ndarray,  # (rows,) squared lengths of the rows' vectors
    starts: np.ndarray,
    positions: np.ndarray,
    values: np.ndarray,
    scales: np.ndarray,
    gradient: np.ndarray,  # (entries,) of the rows' vectors in, of the table's values out
) -> None:
    """Add what comes through the users that an item is part of, then go back through the scaling."""
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


@njit(cache=True, parallel=True)
def _finish_rows(
    rows: np.ndarray,
    bounds: np.ndarray,
    owners: np.ndarray,
    weights: np.ndarray,
    slopes: np.ndarray,
    squares: np.ndarray,
    starts: np.ndarray,
    positions: np.ndarray,
    values: np.ndarray,
    scales: np.ndarray,
    gradient: np.ndarray,  # (len(rows), dim) as above, of whole rows
) -> None:
    dim = slopes.shape[0]
    for index in prange(len(rows)):
        row, line = rows[index], gradient[index]
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
