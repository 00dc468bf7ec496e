"""A step of base `history` on a table that is handed out dense: softmax over items, a chunk of items at a time.

Two passes, because a user's softmax must be summed before it can be sent back; scores are computed in both rather than
kept. Beside the table's rows and their gradient only one (users, chunk) matrix lives at a time. As in the sparse step,
every chunk of rows makes its part of what is known of users, and parts are gathered and added up in their order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from sparserec.recommenders.history.batch import HistoryBatch
from sparserec.table import EntryDropout, Shape, Table

ITEMS_AT_ONCE = 4096
HEADROOM = 40.0
"""A user's scores are taken relative to this much above the best of their own items: sums neither vanish nor overflow.
"""


def dense_gradient(table: Table, batch: HistoryBatch) -> tuple[float, torch.Tensor]:
    """Loss of the batch, and its gradient on the rows held here, shape (rows, dim)."""
    lengths = torch.from_numpy(batch.lengths[table.shape.rows])
    rows, scales = scaled_rows(table, lengths)
    items, weights = held_pairs(batch, table.shape)
    own = weights * lengths[items].square() * (scales[items, 0] > 0)
    value, gradient, _ = softmax_gradient(rows, table.shape, own, float(batch.lengths.max()), batch)
    # What own shares add lies along the rows.
    along = (gradient * rows).sum(1, keepdim=True) / lengths.square()[:, None]
    return value, gradient.addcmul_(along, rows, value=-1.0).mul_(scales)


def plain_gradient(rows: torch.Tensor, batch: HistoryBatch) -> tuple[float, torch.Tensor]:
    """The same for all rows of a table that count as they are, of whatever length."""
    n_items, dim = rows.shape
    shape = Shape(0, n_items, dim, dim)
    items, weights = held_pairs(batch, shape)
    squares = rows.square().sum(1)
    longest = float(squares.max().sqrt())
    value, gradient, slopes = softmax_gradient(rows, shape, weights * squares[items], longest, batch)
    return value, gradient.index_add_(0, items, (-2.0 * slopes * weights)[:, None] * rows[items])


def softmax_gradient(
    rows: torch.Tensor, shape: Shape, own: torch.Tensor, longest: float, batch: HistoryBatch
) -> tuple[float, torch.Tensor, torch.Tensor]:
    """Loss, its gradient on the rows held here with the pairs' own shares taken as constants, and its slopes by the
    scores of their pairs.

    No row is longer than `longest`.
    """
    chunks = [Chunk(batch, shape, own, index) for index in range(len(shape.parts))]
    parts = torch.zeros(len(chunks), len(batch.users), shape.dim)
    for part, chunk in zip(parts, chunks):
        part.index_add_(0, chunk.owners, rows[chunk.items] * chunk.weights[:, None])
    users = _total(shape, parts)
    best = torch.full((len(chunks), len(batch.users)), -torch.inf)
    known = torch.zeros(len(chunks), len(batch.users) + 1, dtype=torch.float64)
    for chunk, top, sums in zip(chunks, best, known):
        scores = (users[chunk.owners] * rows[chunk.items]).sum(1) - chunk.own
        top.scatter_reduce_(0, chunk.owners, scores, "amax")
        sums[-1] = (chunk.targets * scores).double().sum()
    tops = top_scores(users.norm(dim=1) * longest, torch.from_numpy(shape.gather(best.numpy())))
    for part, chunk, sums in zip(parts.zero_(), chunks, known):
        for _, some, shares in chunk.shares(rows, users, tops):
            sums[:-1] += shares.sum(1)
            part.addmm_(shares, some)
    sums, of_users = _total(shape, known), torch.from_numpy(batch.users)
    value = float((of_users * (sums[:-1].log() + tops)).sum() - sums[-1])
    scales = (of_users / sums[:-1]).float()
    for part, chunk in zip(parts.mul_(scales[:, None]), chunks):
        part.index_add_(0, chunk.owners, rows[chunk.items] * -chunk.targets[:, None])
    slopes = _total(shape, parts)
    gradient, of_pairs = torch.zeros_like(rows), torch.empty_like(own)
    for chunk in chunks:
        for (places, pairs), _, shares in chunk.shares(rows, users, tops):
            shares.mul_(scales[:, None])
            at = chunk.owners[pairs], chunk.columns(places, pairs)
            shares[at] -= chunk.targets[pairs]
            of_pairs[chunk.here][pairs] = shares[at]
            gradient[chunk.softmax[places]] = shares.T @ users
        gradient.index_add_(0, chunk.items, slopes[chunk.owners] * chunk.weights[:, None])
    return value, gradient, of_pairs


def held_pairs(batch: HistoryBatch, shape: Shape) -> tuple[torch.Tensor, torch.Tensor]:
    """Items, numbered as the rows held here, and weights of the pairs whose items are."""
    here = shape.held_of(batch.items)
    items = torch.from_numpy(batch.items[here] - np.int32(shape.rows.start)).long()
    return items, torch.from_numpy(batch.weights[here])


def scaled_rows(table: Table, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(rows held here scaled to these lengths, what scaled them); a row of zeros stays so."""
    here = table.shape.rows
    rows = torch.empty((here.stop - here.start, table.shape.dim))
    table.fill(0, rows, EntryDropout())
    found = rows.norm(dim=1)
    scales = torch.where(found > 0, lengths / found, 0.0)[:, None]
    return rows.mul_(scales), scales


def top_scores(lengths: torch.Tensor, best: torch.Tensor) -> torch.Tensor:
    """What is taken off a user's scores before the exponential, from every chunk's best score of the user's own items;
    no score exceeds the user's `lengths`.
    """
    return torch.minimum(lengths, best.amax(0) + HEADROOM)


def _total(shape: Shape, parts: torch.Tensor) -> torch.Tensor:
    """The sum over all chunks, in their order."""
    return torch.from_numpy(shape.gather(parts.numpy()).sum(axis=0))


class Chunk:
    """What a batch has to do with one chunk of the rows held here; items are numbered as those rows are."""

    def __init__(self, batch: HistoryBatch, shape: Shape, own: torch.Tensor, index: int) -> None:
        pair_edges, softmax_edges = batch.chunks(shape)
        pairs, places = (slice(*edges[index : index + 2].tolist()) for edges in (pair_edges, softmax_edges))
        self.items = torch.from_numpy(batch.items[pairs] - np.int32(shape.rows.start)).long()
        self.owners = torch.from_numpy(batch.owners[pairs]).long()
        self.weights = torch.from_numpy(batch.weights[pairs])
        self.targets = torch.from_numpy(batch.targets[pairs])
        self.softmax = torch.from_numpy(batch.softmax[places] - np.int32(shape.rows.start)).long()
        self.odds = torch.from_numpy(batch.odds[places])
        self.here = slice(pairs.start - int(pair_edges[0]), pairs.stop - int(pair_edges[0]))
        """Which of the pairs held here are the chunk's."""
        self.own = own[self.here]

    def shares(
        self, rows: torch.Tensor, users: torch.Tensor, tops: torch.Tensor
    ) -> Iterator[tuple[tuple[slice, slice], torch.Tensor, torch.Tensor]]:
        """Per stretch of the chunk's softmax: its (places, pairs), its rows, and the exponentials, shape (users,
        places).
        """
        for first in range(0, len(self.softmax), ITEMS_AT_ONCE):
            places = slice(first, min(first + ITEMS_AT_ONCE, len(self.softmax)))
            ends = self.softmax[[places.start, places.stop - 1]] + torch.tensor([0, 1])
            pairs = slice(*torch.searchsorted(self.items, ends).tolist())
            some = rows[self.softmax[places]]
            scores = torch.mm(users, some.T)
            scores[self.owners[pairs], self.columns(places, pairs)] -= self.own[pairs]
            scores.sub_(tops[:, None]).clamp_(max=80.0).exp_().mul_(self.odds[places])
            yield (places, pairs), some, scores

    def columns(self, places: slice, pairs: slice) -> torch.Tensor:
        """Where the items of some pairs lie in their stretch."""
        return torch.searchsorted(self.softmax[places], self.items[pairs])
