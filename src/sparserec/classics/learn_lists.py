"""Values of neighbour lists learnt from the log: which items stand in the lists stays as it is.

A user's score of an item is the sum of the user's lists at that item, over the root of the history's length; the loss
is a softmax over all items. Items in none of the user's lists have the score 0, so their share of the softmax is a
count, and a step looks at the entries of its users' lists alone: nothing of (users, items) is made, and no sample of
items either. Part of a history is left out at every step: an item must be found from some of the others, as new ones
will have to be. Values learnt longer fit the log and no longer what follows from it, so steps are few and small.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
import torch

from sparserec import streams
from sparserec.classics.base import histories
from sparserec.compiled import compiled
from sparserec.counter import Key, dropout_factor, key_of
from sparserec.data import Interactions, UserSampler

BATCH_USERS = 256
DROPOUT = 0.3
LARGEST_STEP = 0.0025
"""First learning rate, as a share of the mean value; it falls to 0 evenly."""
SHARPNESS = tuple(2.0 ** (power / 2) for power in range(0, 13))
"""Mean values to begin with; the one with the least loss is taken. Similarities are known up to a factor only."""
USERS_TO_CHOOSE_BY = 2_000

Rows = tuple[np.ndarray, np.ndarray]
"""Where each row starts, and the columns of all of them."""


def learn_values(
    lists: scipy.sparse.csr_matrix, train: Interactions, steps: int, seed: int = 0
) -> scipy.sparse.csr_matrix:
    """The lists with learnt values; entries that became negative or 0 are left out."""
    if steps == 0 or lists.nnz == 0 or not (train.user_counts() >= 2).any():
        return lists
    matrix, entries = histories(train), (lists.indptr.astype(np.int64), lists.indices)
    pairs = matrix.indptr, matrix.indices
    sampler = UserSampler(train, BATCH_USERS, seed)
    begin = _sharpened(lists.data, pairs, entries, sampler)
    values = torch.from_numpy(begin).requires_grad_()
    rate = LARGEST_STEP * float(np.abs(begin).mean())
    optimiser = torch.optim.Adam([values], lr=rate)
    falling = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 1.0 / steps, steps)
    for step in range(steps):
        users = sampler.batch(*divmod(step, sampler.steps_per_epoch))
        key = key_of(seed, streams.HISTORY_DROPOUT, step)
        gradient = np.zeros(len(begin), np.float32)
        _add_gradient(users, pairs, entries, values.detach().numpy(), key, DROPOUT, gradient)
        values.grad = torch.from_numpy(gradient)
        optimiser.step()
        falling.step()
    learnt = lists.copy()  # leaving entries out changes a matrix in place
    learnt.data = np.maximum(values.detach().numpy(), 0)
    learnt.eliminate_zeros()
    return learnt


def _sharpened(similarities: np.ndarray, pairs: Rows, entries: Rows, sampler: UserSampler) -> np.ndarray:
    """The similarities times the factor that explains the log best."""
    batches = min(sampler.steps_per_epoch, USERS_TO_CHOOSE_BY // BATCH_USERS)
    users = np.concatenate([sampler.batch(0, step) for step in range(batches)])
    unit = (similarities / similarities.mean()).astype(np.float32)
    key, unused = key_of(sampler.seed, streams.HISTORY_DROPOUT, 0), np.zeros(len(unit), np.float32)
    losses = [
        _add_gradient(users, pairs, entries, unit * np.float32(factor), key, DROPOUT, unused)
        for factor in SHARPNESS
    ]
    return unit * np.float32(SHARPNESS[int(np.argmin(losses))])


@compiled()
def _add_gradient(
    users: np.ndarray,
    pairs: Rows,  # items of every user
    entries: Rows,  # items in every list, and in `values` what they count
    values: np.ndarray,
    key: Key,
    dropout: float,
    gradient: np.ndarray,  # (entries,) added to
) -> float:
    """Loss of the users, weighed by the root of their history; its gradient is added."""
    (user_starts, user_items), (starts, columns) = pairs, entries
    n_items = len(starts) - 1
    scores = np.zeros(n_items)  # 0 for items that are not listed
    listed, reached = np.zeros(n_items, np.bool_), np.empty(n_items, np.int32)
    weights = np.sqrt((user_starts[users + 1] - user_starts[users]).astype(np.float64))
    weights /= weights.sum()
    loss = 0.0
    for place, user in enumerate(users):
        items = user_items[user_starts[user] : user_starts[user + 1]]
        kept = [item for item in items if dropout_factor(key, dropout, user, item) > 0]
        share = 1.0 / np.sqrt(max(len(kept), 1))
        count = 0
        for item in kept:
            for entry in range(starts[item], starts[item + 1]):
                other = columns[entry]
                if not listed[other]:
                    listed[other], reached[count] = True, other
                    count += 1
                scores[other] += share * values[entry]
        loss += _loss_to_slopes(items, reached[:count], listed, scores, weights[place])
        for item in kept:
            for entry in range(starts[item], starts[item + 1]):
                gradient[entry] += share * scores[columns[entry]]
        for other in reached[:count]:
            scores[other], listed[other] = 0.0, False
    return loss


@compiled()
def _loss_to_slopes(
    items: np.ndarray, reached: np.ndarray, listed: np.ndarray, scores: np.ndarray, weight: float
) -> float:
    """Softmax loss of a user's items; the scores of reached items become the loss's gradient by them."""
    top, total, own = 0.0, 0.0, 0.0
    for other in reached:
        top = max(top, scores[other])
    for item in items:
        own += scores[item] / len(items)
    for other in reached:
        scores[other] = np.exp(scores[other] - top)
        total += scores[other]
    total += (len(scores) - len(reached)) * np.exp(-top)
    for other in reached:
        scores[other] *= weight / total
    for item in items:
        if listed[item]:
            scores[item] -= weight / len(items)
    return weight * (top + np.log(total) - own)
