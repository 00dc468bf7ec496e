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
        for block in range(scores.shape[0]):
            total = vectors[0, 0] * 0
            for column in range(block * width, min((block + 1) * width, dim)):
                total += vectors[left[b], column] * vectors[right[b], column]
            scores[block, b] = total
    return scores


@compiled(parallel=True)
def add_pair_gradients(
    vectors: np.ndarray,  # (rows, dim)
    left: np.ndarray,
    right: np.ndarray,
    slope: np.ndarray,  # (pairs,) derivative of the loss by each score
    out: np.ndarray,  # (rows, dim), added to
) -> None:
    """Gradient of scores by rows. Tasks own columns, so sums are in pair order whatever the thread count."""
    dim = vectors.shape[1]
    for task in prange((dim + COLUMNS_PER_TASK - 1) // COLUMNS_PER_TASK):
        first, last = task * COLUMNS_PER_TASK, min(dim, (task + 1) * COLUMNS_PER_TASK)
        for b in range(len(left)):
            for column in range(first, last):
                out[left[b], column] += slope[b] * vectors[right[b], column]
                out[right[b], column] += slope[b] * vectors[left[b], column]


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


@compiled(parallel=True, fastmath={"contract", "reassoc"})
def squared_lengths(vectors: np.ndarray) -> np.ndarray:
    """Of every row, float64; no array of squares."""
    lengths = np.empty(vectors.shape[0])
    for row in prange(vectors.shape[0]):
        total = vectors[0, 0] * 0
        for column in range(vectors.shape[1]):
            total += vectors[row, column] * vectors[row, column]
        lengths[row] = total
    return lengths


@compiled(parallel=True)
def add_weighted(vectors: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """out += each row times its weight."""
    for row in prange(vectors.shape[0]):
        for column in range(vectors.shape[1]):
            out[row, column] += weights[row] * vectors[row, column]


@compiled(parallel=True)
def _triple_gradients(
    vectors: np.ndarray, users: np.ndarray, positives: np.ndarray, negatives: np.ndarray, slope: np.ndarray
) -> None:
    """Replace the rows by their gradient, a task's columns at a time, so that only those exist twice."""
    dim = vectors.shape[1]
    for task in prange((dim + COLUMNS_PER_TASK - 1) // COLUMNS_PER_TASK):
        first, last = task * COLUMNS_PER_TASK, min(dim, (task + 1) * COLUMNS_PER_TASK)
        before = vectors[:, first:last].copy()
        vectors[:, first:last] = 0
        for b in range(len(users)):
            user, positive, negative = users[b], positives[b], negatives[b]
            for column in range(last - first):  # a slice of columns would not be vectorised
                gap = before[negative, column] - before[positive, column]
                step = slope[b] * before[user, column]
                vectors[user, first + column] += slope[b] * gap
                vectors[positive, first + column] -= step
                vectors[negative, first + column] += step


def bpr(
    vectors: np.ndarray,
    users: np.ndarray,
    positives: np.ndarray,
    negatives: np.ndarray,
    width: int | None = None,
    gather: Gather = all_at_hand,
) -> tuple[float, np.ndarray]:
    """mean softplus(score of negative - score of positive), and its gradient on the rows.

    Scores are summed block by block of `width` columns (`pair_scores`).
    The gradient takes the place of the vectors: both together would be the largest arrays of a step.
    """
    over = pair_scores(vectors, users, positives, width, gather)
    gap = pair_scores(vectors, users, negatives, width, gather) - over
    value = float(np.logaddexp(0.0, gap.astype(np.float64)).mean())
    slope = (np.exp(-np.logaddexp(0.0, -gap)) / len(gap)).astype(vectors.dtype)
    _triple_gradients(vectors, users, positives, negatives, slope)
    return value, vectors


def plain_bpr(vectors: np.ndarray, rows: RowBatch, decay: float) -> Loss:
    """mean softplus(z_u.z_n - z_u.z_p) + decay/(2B) * sum |e|^2 over the rows of every triple."""
    triples = rows.users, rows.positives, rows.negatives[:, 0]
    value, gradient = bpr(vectors, *triples, rows.width, rows.gather)
    return Loss(value, [gradient], ego_decay=decay / len(rows))
