"""Pairwise scores and their gradients on gathered rows, shared by the recommenders' losses; and the loss every base can
be trained with, BPR plus L2 on the layer-0 rows of the batch.

That is LightGCN's own loss, matrix factorisation's, and what "loss = bpr" means for the others: their propagation,
noise and dropout stay, their own loss and regulariser do not.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from sparserec.compiled import compiled
from sparserec.recommenders.base import Loss
from sparserec.recommenders.rows import Gather, RowBatch, all_at_hand

COLUMNS_PER_TASK = 64
"""Rows are far apart: wide pieces of them cost less, narrow ones keep more threads busy."""
TASKS = 64
"""Pieces of about as many occurrences of rows each that threads share."""
LANES = 16
"""float32 of a cache line, and of the widest registers."""


def pair_scores(
    vectors: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    width: int | None = None,
    gather: Gather = all_at_hand,
) -> np.ndarray:
    """Dot products of rows left[b] and right[b]: summed over each block of `width` columns, then in block order.

    So the same bits come out wherever the blocks live. None is one block of all columns.
    """
    first, *others = gather(block_scores(vectors, width or vectors.shape[1], left, right))
    scores = first.copy()
    for part in others:
        scores += part
    return scores


@compiled(parallel=True, fastmath={"contract", "reassoc"})
def block_scores(vectors: np.ndarray, width: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """What every block of columns adds to the scores, (blocks, pairs); a row is fetched once for all of them."""
    dim = vectors.shape[1]
    scores = np.empty(((dim + width - 1) // width, len(left)), vectors.dtype)
    for b in prange(len(left)):
        one, other = vectors[left[b]], vectors[right[b]]
        for block in range(scores.shape[0]):
            first, last = block * width, min((block + 1) * width, dim)
            even = last - (last - first) % LANES
            total = vectors[0, 0] * 0
            for start in range(first, even, LANES):
                for lane in range(LANES):  # of a length the compiler knows: one register
                    total += one[start + lane] * other[start + lane]
            for column in range(even, last):
                total += one[column] * other[column]
            scores[block, b] = total
    return scores


@compiled(parallel=True)
def _add_rows(index: np.ndarray, values: np.ndarray, out: np.ndarray) -> None:
    dim = out.shape[1]
    for task in prange((dim + COLUMNS_PER_TASK - 1) // COLUMNS_PER_TASK):
        first, last = task * COLUMNS_PER_TASK, min(dim, (task + 1) * COLUMNS_PER_TASK)
        for position in range(len(index)):
            for column in range(first, last):
                out[index[position], column] += values[position, column]


def add_rows(index: np.ndarray, values: np.ndarray, out: np.ndarray) -> None:
    """out[index] += values with repeated rows summed, in order whatever the thread count; index of any shape."""
    _add_rows(index.reshape(-1), values.reshape(-1, out.shape[1]), out)


@compiled(parallel=True)
def add_weighted(vectors: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """out += each row times its weight."""
    for row in prange(vectors.shape[0]):
        for column in range(vectors.shape[1]):
            out[row, column] += weights[row] * vectors[row, column]


@compiled()
def _occurrences(
    users: np.ndarray, positives: np.ndarray, negatives: np.ndarray, n_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Where each row stands in the triples, in their order: starts (rows + 1,), and 3 * triple + its place there."""
    starts = np.zeros(n_rows + 1, np.int32)
    for b in range(len(users)):
        for row in (users[b], positives[b], negatives[b]):
            starts[row + 1] += 1
    for row in range(n_rows):
        starts[row + 1] += starts[row]
    places, free = np.empty(3 * len(users), np.int32), starts[:-1].copy()
    for b in range(len(users)):
        for place, row in enumerate((users[b], positives[b], negatives[b])):
            places[free[row]] = 3 * b + place
            free[row] += 1
    return starts, places


@compiled(parallel=True)
def _sum_by_row(
    vectors: np.ndarray,
    users: np.ndarray,
    positives: np.ndarray,
    negatives: np.ndarray,
    slope: np.ndarray,
    starts: np.ndarray,
    places: np.ndarray,
    out: np.ndarray,
) -> None:
    dim = vectors.shape[1]
    edges = np.searchsorted(starts, np.arange(TASKS + 1) * starts[-1] // TASKS)
    edges[TASKS] = len(out)  # rows behind the last that occurs are zero too
    for task in prange(TASKS):
        for row in range(edges[task], edges[task + 1]):
            total = out[row]
            total[:] = 0
            for index in range(starts[row], starts[row + 1]):
                b, place = divmod(places[index], 3)
                weight = slope[b]
                if place == 0:
                    liked, other = vectors[positives[b]], vectors[negatives[b]]
                    for column in range(dim):
                        total[column] += weight * (other[column] - liked[column])
                else:
                    user = vectors[users[b]]
                    weight = weight if place == 2 else -weight
                    for column in range(dim):
                        total[column] += weight * user[column]


def triple_gradients(
    vectors: np.ndarray,
    users: np.ndarray,
    positives: np.ndarray,
    negatives: np.ndarray,
    slope: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the gradient on the rows of a loss of the gaps, score of the negative minus that of the positive.

    `slope` is its derivative by each gap. A row is summed in the order of its triples, by one thread, and written once.
    """
    starts, places = _occurrences(users, positives, negatives, len(vectors))
    _sum_by_row(vectors, users, positives, negatives, slope, starts, places, out)


def bpr(
    vectors: np.ndarray,
    users: np.ndarray,
    positives: np.ndarray,
    negatives: np.ndarray,
    width: int | None = None,
    gather: Gather = all_at_hand,
    out: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """mean softplus(score of negative - score of positive), and its gradient on the rows, in `out` if there is one.

    Scores are summed block by block of `width` columns (`pair_scores`).
    """
    over = pair_scores(vectors, users, positives, width, gather)
    gap = pair_scores(vectors, users, negatives, width, gather) - over
    value = float(np.logaddexp(0.0, gap.astype(np.float64)).mean())
    slope = (np.exp(-np.logaddexp(0.0, -gap)) / len(gap)).astype(vectors.dtype)
    gradient = np.empty_like(vectors) if out is None else out
    triple_gradients(vectors, users, positives, negatives, slope, gradient)
    return value, gradient


def plain_bpr(vectors: np.ndarray, rows: RowBatch, decay: float) -> Loss:
    """mean softplus(z_u.z_n - z_u.z_p) + decay/(2B) * sum |e|^2 over the rows of every triple."""
    triples = rows.users, rows.positives, rows.negatives[:, 0]
    value, gradient = bpr(vectors, *triples, rows.width, rows.gather, rows.gradient(vectors))
    return Loss(value, [gradient], ego_decay=decay / len(rows))
