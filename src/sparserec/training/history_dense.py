"""A step of base `history` on a table that is handed out dense: softmax over items, a chunk of items at a time.

Two passes, because a user's softmax must be summed before it can be sent back; scores are computed in both rather than
kept. Beside the table's rows and their gradient only one (users, chunk) matrix lives at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from sparserec.table import EntryDropout, Table
from sparserec.training.history_batch import HistoryBatch

ITEMS_AT_ONCE = 4096
HEADROOM = 40.0
"""A user's scores are taken relative to this much above the best of their own items: sums neither vanish nor overflow.
"""


def scaled_rows(table: Table, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(rows scaled to these lengths, what scaled them); a row of zeros stays so."""
    rows = torch.empty((table.shape.n_rows, table.shape.dim))
    table.fill(0, rows, EntryDropout())
    found = rows.norm(dim=1)
    scales = torch.where(found > 0, lengths / found, 0.0)[:, None]
    return rows.mul_(scales), scales


def dense_gradient(table: Table, batch: HistoryBatch) -> tuple[float, torch.Tensor]:
    """Loss of the batch, and its gradient on all rows of the table, shape (items, dim)."""
    items, lengths = torch.from_numpy(batch.items).long(), torch.from_numpy(batch.lengths)
    rows, scales = scaled_rows(table, lengths)
    own = torch.from_numpy(batch.weights) * lengths[items].square() * (scales[items, 0] > 0)
    # What own shares add lies along the rows.
    value, gradient, _ = softmax_gradient(rows, own, float(lengths.max()), batch)
    along = (gradient * rows).sum(1, keepdim=True) / lengths.square()[:, None]
    return value, gradient.addcmul_(along, rows, value=-1.0).mul_(scales)


def plain_gradient(rows: torch.Tensor, batch: HistoryBatch) -> tuple[float, torch.Tensor]:
    """The same for rows that count as they are, of whatever length."""
    items, weights = torch.from_numpy(batch.items).long(), torch.from_numpy(batch.weights)
    squares = rows.square().sum(1)
    value, gradient, slopes = softmax_gradient(
        rows, weights * squares[items], float(squares.max().sqrt()), batch
    )
    return value, gradient.index_add_(0, items, (-2.0 * slopes * weights)[:, None] * rows[items])


def softmax_gradient(
    rows: torch.Tensor, own: torch.Tensor, longest: float, batch: HistoryBatch
) -> tuple[float, torch.Tensor, torch.Tensor]:
    """Loss, its gradient on the rows with the pairs' own shares taken as constants, and its slopes by their scores.

    No row is longer than `longest`.
    """
    items, owners = (torch.from_numpy(part).long() for part in (batch.items, batch.owners))
    weights, targets = torch.from_numpy(batch.weights), torch.from_numpy(batch.targets)
    liked = rows[items]
    users = torch.zeros(batch.n_users, rows.shape[1]).index_add_(0, owners, liked * weights[:, None])
    scores = (users[owners] * liked).sum(1) - own
    tops = top_scores(users.norm(dim=1) * longest, scores, owners)
    sums, slopes = torch.zeros(batch.n_users), torch.zeros_like(users)
    for _, part, shares in _shares(rows, users, batch, own, tops):
        sums += shares.sum(1)
        slopes.addmm_(shares, part)
    of_users = torch.from_numpy(batch.users)
    value = float((of_users * (sums.log() + tops)).double().sum() - (targets * scores).double().sum())
    parts = of_users / sums
    slopes.mul_(parts[:, None]).index_add_(0, owners, liked * -targets[:, None])
    gradient, of_pairs = torch.zeros_like(rows), torch.empty_like(weights)
    for (places, pairs), _, shares in _shares(rows, users, batch, own, tops):
        shares.mul_(parts[:, None])
        at = owners[pairs], pair_columns(batch, places, pairs)
        shares[at] -= targets[pairs]
        of_pairs[pairs] = shares[at]
        gradient[torch.from_numpy(batch.softmax[places]).long()] = shares.T @ users
    gradient.index_add_(0, items, slopes[owners] * weights[:, None])
    return value, gradient, of_pairs


def top_scores(bounds: torch.Tensor, scores: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
    """What is taken off a user's scores before the exponential; no score exceeds the user's bound."""
    best = torch.full_like(bounds, -torch.inf).scatter_reduce_(0, owners, scores, "amax")
    return torch.minimum(bounds, best + HEADROOM)


def pair_columns(batch: HistoryBatch, places: slice, pairs: slice) -> torch.Tensor:
    """Where the items of some pairs lie in their chunk."""
    return torch.from_numpy(np.searchsorted(batch.softmax[places], batch.items[pairs]))


def _shares(
    rows: torch.Tensor, users: torch.Tensor, batch: HistoryBatch, own: torch.Tensor, tops: torch.Tensor
) -> Iterator[tuple[tuple[slice, slice], torch.Tensor, torch.Tensor]]:
    """Per chunk of the softmax: its (places, pairs), its rows, and the exponentials, shape (users, chunk)."""
    owners = torch.from_numpy(batch.owners).long()
    every = len(batch.softmax) == len(rows)
    for first in range(0, len(batch.softmax), ITEMS_AT_ONCE):
        places = slice(first, min(first + ITEMS_AT_ONCE, len(batch.softmax)))
        pairs = slice(int(batch.starts[places.start]), int(batch.starts[places.stop]))
        part = rows[places] if every else rows[torch.from_numpy(batch.softmax[places]).long()]
        scores = torch.mm(users, part.T)
        scores[owners[pairs], pair_columns(batch, places, pairs)] -= own[pairs]
        scores.sub_(tops[:, None]).clamp_(max=80.0).exp_()
        if not every:
            scores.mul_(torch.from_numpy(batch.odds[places]))
        yield (places, pairs), part, scores
