"""Softmax over items from active entries alone: compiled loops over (item, entry, user), users innermost.

User vectors of a batch lie transposed, (columns, users), so that one active entry of an item meets all users at once as
one stretch of memory. Items are taken in the chunks of rows that processes share a table by; each chunk sums by itself
and sums of chunks are added in their order: results do not depend on how many threads or processes work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from sparserec.compiled import FAST, compiled, fast_exp


class ActiveRows(NamedTuple):
    """The active entries of a table of one block, by row."""

    starts: np.ndarray  # int32 (rows + 1,) where the entries of each row begin
    positions: np.ndarray
    values: np.ndarray
    scales: np.ndarray  # float32 (rows,) what makes each row as long as it should be


class Softmax(NamedTuple):
    """The items that the softmax of a batch runs over, and the pairs of each of them."""

    chunks: np.ndarray  # (chunks + 1,) where the items of each chunk of rows begin
    items: np.ndarray  # int32 (n,) ascending
    odds: np.ndarray  # float32 (n,) how many items each of them stands for
    starts: np.ndarray  # int32 (n + 1,) where the pairs of each of these items begin
    owners: np.ndarray  # int32 (pairs,) whose pair it is
    own: np.ndarray  # float32 (pairs,) the item's own share in its score
    targets: np.ndarray  # float32 (pairs,) share of the pair in the loss


@compiled(inline="always", fastmath=FAST)
def _score(index, softmax, rows, vectors, scores):  # type: ignore[no-untyped-def]
    """Scores of one item for all users but for its own share, four entries at a time: a store for every four."""
    row, positions, values = softmax.items[index], rows.positions, rows.values
    first, last, origin, scale = rows.starts[row], rows.starts[row + 1], row * len(vectors), rows.scales[row]
    scores[:] = np.float32(0.0)
    e = first
    while e + 4 <= last:
        a, b = vectors[positions[e] - origin], vectors[positions[e + 1] - origin]
        c, d = vectors[positions[e + 2] - origin], vectors[positions[e + 3] - origin]
        va, vb = scale * values[e], scale * values[e + 1]
        vc, vd = scale * values[e + 2], scale * values[e + 3]
        for u in range(len(scores)):
            scores[u] += va * a[u] + vb * b[u] + vc * c[u] + vd * d[u]
        e += 4
    while e < last:
        a, va = vectors[positions[e] - origin], scale * values[e]
        for u in range(len(scores)):
            scores[u] += va * a[u]
        e += 1
    for pair in range(softmax.starts[index], softmax.starts[index + 1]):
        scores[softmax.owners[pair]] -= softmax.own[pair]


@compiled(inline="always", fastmath=FAST)
def _spread(row, rows, shares, slopes):  # type: ignore[no-untyped-def]
    """slopes[column] += value * shares for every entry of one item."""
    positions, values, origin, scale = rows.positions, rows.values, row * len(slopes), rows.scales[row]
    e, last = rows.starts[row], rows.starts[row + 1]
    while e + 2 <= last:
        a, b = slopes[positions[e] - origin], slopes[positions[e + 1] - origin]
        va, vb = scale * values[e], scale * values[e + 1]
        for u in range(len(shares)):
            a[u] += va * shares[u]
            b[u] += vb * shares[u]
        e += 2
    if e < last:
        a, va = slopes[positions[e] - origin], scale * values[e]
        for u in range(len(shares)):
            a[u] += va * shares[u]


@compiled(inline="always", fastmath=FAST)
def _gather(row, rows, vectors, shares, gradient):  # type: ignore[no-untyped-def]
    """gradient[entry] += shares . vectors[column], four entries at a time."""
    positions, origin = rows.positions, row * len(vectors)
    e, last = rows.starts[row], rows.starts[row + 1]
    while e + 4 <= last:
        a, b = vectors[positions[e] - origin], vectors[positions[e + 1] - origin]
        c, d = vectors[positions[e + 2] - origin], vectors[positions[e + 3] - origin]
        ga = gb = gc = gd = np.float32(0.0)
        for u in range(len(shares)):
            share = shares[u]
            ga += share * a[u]
            gb += share * b[u]
            gc += share * c[u]
            gd += share * d[u]
        gradient[e] += ga
        gradient[e + 1] += gb
        gradient[e + 2] += gc
        gradient[e + 3] += gd
        e += 4
    while e < last:
        a, ga = vectors[positions[e] - origin], np.float32(0.0)
        for u in range(len(shares)):
            ga += shares[u] * a[u]
        gradient[e] += ga
        e += 1


@compiled(parallel=True, fastmath=FAST)
def softmax_sums(
    softmax: Softmax,
    rows: ActiveRows,
    vectors: np.ndarray,  # float32 (dim, users)
    tops: np.ndarray,  # float32 (users,) taken off every score
    sums: np.ndarray,  # float32 (chunks, users) out: sum of the exponentials
    slopes: np.ndarray,  # float32 (chunks, dim, users) out: sum of the exponentials times the item's vector
) -> None:
    """First pass: what every user's softmax is divided by, and the mean item vector under it, undivided."""
    users = vectors.shape[1]
    for chunk in prange(len(softmax.chunks) - 1):
        scores = np.empty(users, np.float32)
        sums[chunk], slopes[chunk] = np.float32(0.0), np.float32(0.0)
        for index in range(softmax.chunks[chunk], softmax.chunks[chunk + 1]):
            _score(index, softmax, rows, vectors, scores)
            odd, total = softmax.odds[index], sums[chunk]
            for u in range(users):
                scores[u] = odd * fast_exp(scores[u] - tops[u])
                total[u] += scores[u]
            _spread(softmax.items[index], rows, scores, slopes[chunk])


@compiled(parallel=True, fastmath=FAST)
def entry_gradients(
    softmax: Softmax,
    rows: ActiveRows,
    vectors: np.ndarray,
    tops: np.ndarray,
    shares: np.ndarray,  # float32 (users,) the user's part of the loss over the sum of exponentials
    kept_at: np.ndarray,  # int32 (n,) row of `kept` that takes the item's slopes, -1 for none
    gradient: np.ndarray,  # float32 (entries,) added to: gradient of the scaled rows' active entries
    kept: np.ndarray,  # float32 (rows, users) out: slope of every user's score, for candidates
) -> None:
    """Second pass: scores again, turned into slopes of the loss, and from those the gradient of every active entry."""
    users = vectors.shape[1]
    for chunk in prange(len(softmax.chunks) - 1):
        scores = np.empty(users, np.float32)
        for index in range(softmax.chunks[chunk], softmax.chunks[chunk + 1]):
            _score(index, softmax, rows, vectors, scores)
            odd = softmax.odds[index]
            for u in range(users):
                scores[u] = odd * shares[u] * fast_exp(scores[u] - tops[u])
            for pair in range(softmax.starts[index], softmax.starts[index + 1]):
                scores[softmax.owners[pair]] -= softmax.targets[pair]
            _gather(softmax.items[index], rows, vectors, scores, gradient)
            if kept_at[index] >= 0:
                kept[kept_at[index]] = scores


@compiled(parallel=True)
def row_scales(starts: np.ndarray, values: np.ndarray, lengths: np.ndarray, scales: np.ndarray) -> None:
    """What makes every row as long as it should be; 0 for a row without any length."""
    for row in prange(len(scales)):
        square = np.float32(0.0)
        for e in range(starts[row], starts[row + 1]):
            square += values[e] * values[e]
        scales[row] = lengths[row] / np.sqrt(square) if square > 0.0 else np.float32(0.0)
