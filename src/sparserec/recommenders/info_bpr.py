"""InfoBPR: one positive against many negatives of the edge's group, as a softmax over raw scores.

    loss = mean over edges of -log( e^s_p / (e^s_p + sum_j e^s_j) ),   s = dot products

Edges of a group share their negatives, so a group's scores are one small matrix product. Groups are worked through in
chunks: memory does not grow with the batch. One negative per edge gives BPR.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from sparserec.recommenders.losses import add_rows

CHUNK_BYTES = 8 << 20
LARGEST_PRODUCT = 512
"""Edges of a group that are scored at once; a larger group is taken in parts."""


def info_bpr(
    vectors: np.ndarray,  # (rows, dim)
    users: np.ndarray,  # (edges,)
    positives: np.ndarray,  # (edges,)
    negatives: np.ndarray,  # (groups, per edge)
    group_size: int,
    chunk_bytes: int = CHUNK_BYTES,
    out: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """Mean loss over the edges, and its gradient on the rows, in `out` if there is one."""
    gradient, total = np.empty_like(vectors) if out is None else out, 0.0
    gradient.fill(0)
    floats = chunk_bytes // vectors.itemsize
    for first, edges, groups in _chunks(len(users), group_size, negatives.shape[1], vectors.shape[1], floats):
        part, group = slice(first, first + edges * groups), first // group_size
        total += _add_chunk(
            vectors,
            users[part].reshape(groups, edges),
            positives[part].reshape(groups, edges),
            negatives[group : group + groups],
            1.0 / len(users),
            gradient,
        )
    return total / len(users), gradient


def _chunks(
    n_edges: int, group_size: int, per_edge: int, dim: int, floats: int
) -> Iterator[tuple[int, int, int]]:
    """(first edge, edges of each group, groups): equal groups together up to the memory allowed, a rest alone."""
    whole = n_edges // group_size if group_size <= LARGEST_PRODUCT else 0
    one = group_size * (5 * dim + per_edge) + 2 * per_edge * dim  # floats that one group needs
    at_once = max(1, floats // one)
    for group in range(0, whole, at_once):
        yield group * group_size, group_size, min(at_once, whole - group)
    first = whole * group_size
    while first < n_edges:
        end = min(n_edges, first - first % group_size + group_size, first + LARGEST_PRODUCT)
        yield first, end - first, 1
        first = end


def _add_chunk(
    vectors: np.ndarray,
    users: np.ndarray,  # (groups, edges)
    positives: np.ndarray,
    negatives: np.ndarray,  # (groups, per edge)
    weight: float,
    gradient: np.ndarray,
) -> float:
    """Sum of the losses of some groups; adds `weight` times their gradient."""
    user, liked, other = (_take(vectors, index) for index in (users, positives, negatives))
    positive = (user * liked).sum(-1)
    scores = torch.bmm(user, other.transpose(1, 2))
    top = torch.maximum(scores.amax(-1), positive)
    shares = scores.sub_(top.unsqueeze(-1)).exp_()
    own = (positive - top).exp()
    total = shares.sum(-1) + own
    value = float((total.log() + top - positive).double().sum())
    shares.mul_((weight / total).unsqueeze(-1))
    slope = ((own / total - 1.0) * weight).unsqueeze(-1)
    on_others = torch.bmm(shares.transpose(1, 2), user)
    on_users = torch.bmm(shares, other).addcmul_(slope, liked)
    # All of torch's work before the loops of ours: each keeps its threads awake a while, in the other's way.
    for index, slopes in ((negatives, on_others), (users, on_users), (positives, user.mul_(slope))):
        add_rows(index, slopes.numpy(), gradient)
    return value


def _take(vectors: np.ndarray, index: np.ndarray) -> torch.Tensor:
    rows = torch.from_numpy(vectors).index_select(
        0, torch.from_numpy(np.ascontiguousarray(index).reshape(-1))
    )
    return rows.view(*index.shape, vectors.shape[1])
