"""Lists of items chosen together, made for a size: long where they are asked often, and with values that were learnt.

The first lists are RP3beta's. Two things make them better in the same bytes:

- Entries are allocated over all lists at once. An item that many users have stands in many histories, so its list may
  be long: the largest users_i^frequency_exponent * similarity_ij of all items are kept, and a few of every item.
- Values are learnt, beginning with the similarities: see `learn_lists`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse
from pydantic import Field

from sparserec.classics.base import ClassicSettings
from sparserec.classics.learn_lists import learn_values
from sparserec.classics.neighbours import NeighbourLists, RP3beta
from sparserec.compiled import compiled
from sparserec.data import Interactions

FEWEST = 2
"""Entries that every item has, however rare it is."""


class Cooccurrence(ClassicSettings):
    neighbours: int = Field(16, ge=1)
    """Length of an item's list, on average."""
    longest: int = Field(200, ge=1)
    """Length of the lists that entries are chosen from."""
    walk_exponent: float = Field(0.8, ge=0)
    """alpha of RP3beta."""
    popularity_exponent: float = Field(0.2, ge=0)
    """beta of RP3beta."""
    frequency_exponent: float = Field(0.5, ge=0)
    """How much longer the lists of frequent items are; 0 chooses by similarity alone."""
    steps: int = Field(400, ge=0)
    """Of learning the values; 0 keeps the similarities."""
    least_users: int = Field(1, ge=1)
    """People who must have both items for one to stand in the other's list: files have 3 (docs/format.md)."""
    choices: ClassVar = {
        "popularity_exponent": (0.1, 0.2, 0.3, 0.4, 0.6),
        "walk_exponent": (0.4, 0.6, 0.8, 1.0),
        "frequency_exponent": (0.0, 0.25, 0.5, 0.75),
        "steps": (0, 200, 400, 800),
        "neighbours": (8, 16, 32, 64),
    }

    def fit(self, train: Interactions) -> NeighbourLists:
        return self.cut(self.whole(train), train)

    def whole(self, train: Interactions) -> NeighbourLists:
        """The lists that entries are chosen from: the same for every number of neighbours."""
        first = RP3beta(
            neighbours=max(self.longest, self.neighbours),
            walk_exponent=self.walk_exponent,
            popularity_exponent=self.popularity_exponent,
            least_users=self.least_users,
        )
        return first.fit(train)

    def cut(self, whole: NeighbourLists, train: Interactions) -> NeighbourLists:
        """Allocate the entries, then learn their values."""
        weight = np.maximum(train.item_counts(), 1.0) ** self.frequency_exponent
        kept = allocate(whole.lists, self.neighbours, weight)
        return NeighbourLists(learn_values(kept, train, self.steps))


def allocate(lists: scipy.sparse.csr_matrix, neighbours: int, weight: np.ndarray) -> scipy.sparse.csr_matrix:
    """The largest entries times the weight of their row, `neighbours` a row on average, at least FEWEST of every row.

    Of equal ones the earlier row and column.
    """
    n_rows, total = lists.shape[0], neighbours * lists.shape[0]
    if lists.nnz <= total:
        return lists
    rows = np.repeat(np.arange(n_rows, dtype=np.int32), np.diff(lists.indptr))
    size = weight[rows] * lists.data
    _raise_best(lists.indptr, size, min(FEWEST, neighbours))
    least = np.partition(size, lists.nnz - total)[lists.nnz - total]
    kept = size > least
    kept[np.flatnonzero(size == least)[: total - np.count_nonzero(kept)]] = True
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=n_rows))])
    return scipy.sparse.csr_matrix((lists.data[kept], lists.indices[kept], starts), shape=lists.shape)


@compiled()
def _raise_best(starts: np.ndarray, size: np.ndarray, count: int) -> None:
    """Make the `count` largest of every row larger than all others."""
    for row in range(len(starts) - 1):
        line = size[starts[row] : starts[row + 1]]
        for _ in range(min(count, len(line))):
            best = 0
            for place in range(len(line)):
                if not np.isinf(line[place]) and (np.isinf(line[best]) or line[place] > line[best]):
                    best = place
            line[best] = np.inf
