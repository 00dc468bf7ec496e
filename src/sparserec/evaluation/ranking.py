"""The k best items of each user out of all items, in a fixed amount of memory.

Scores exist only one tile (some users x some items) at a time. A tile is one matrix product; a compiled
scan then merges it into each user's running list. The scan looks up the items to hide only when a score
beats the worst of that list, so masking costs next to nothing and the tile is read once.

Ties: items are visited in ascending order and enter a list behind every score that is not smaller, so of
equal scores the lower item id always comes first. That is exact for the scores as computed; the last bit of
a score may depend on the tile's shape, as the matrix product sums in a different order.

A score of minus infinity keeps an item out of a list, however short that leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from sparserec.compiled import compiled
from sparserec.distributed import ALONE, Processes
from sparserec.errors import DataError, SettingError, TrainingError

UserVectors = Callable[[np.ndarray], torch.Tensor]
Scorer = Callable[[np.ndarray], np.ndarray]  # users to their scores of all items: float32 (users, n_items)
Listing = tuple[np.ndarray, np.ndarray]  # offsets over all users, and their items ascending

NO_ITEM = -1  # fills the list of a user for whom fewer than k items are left
_GROUP = 64  # scores compared at once: a few vector instructions instead of 64 branches
MOST_USERS, MOST_ITEMS = 512, 1024  # of a tile: its scores are still in the cache when they are scanned


def top_items(
    user_vectors: UserVectors,
    item_vectors: torch.Tensor,  # float32 (n_items, dim)
    users: np.ndarray,
    k: int,
    seen: Sequence[Listing],
    scratch_bytes: int = 32 << 20,
    processes: Processes = ALONE,
) -> np.ndarray:  # int32 (len(users), k), best first
    """Rank all items for `users`, leaving out those listed in `seen`; see the module for ties and memory.

    Besides the result and what the caller holds, memory stays below `scratch_bytes` and what `user_vectors`
    needs for one chunk of users, however many users and items there are. Several processes take chunks of users in
    turn, of the same size as one process would; all ask `user_vectors` for the chunks of one turn together, and all get
    all lists.
    """
    n_items, dim = item_vectors.shape
    if item_vectors.dtype != torch.float32:
        raise ValueError(f"item vectors are {item_vectors.dtype}; scores are compared as float32")
    rows, hidden = _plain(users), _hidden(seen, users, k, n_items)
    best_item = np.full((len(users), k), NO_ITEM, dtype=np.int32)
    chunk, block = tile_shape(len(users), n_items, dim, k, scratch_bytes)
    scratch = item_vectors.new_empty(chunk * block)
    best_score = np.empty((chunk, k), dtype=np.float32)
    for turn in range(0, len(users), chunk * processes.count):
        start = turn + chunk * processes.rank
        together = user_vectors(users[turn : turn + chunk * processes.count])
        vectors = together[start - turn : start - turn + chunk].to(item_vectors)
        some = users[start : start + chunk]
        filled = np.zeros(len(some), dtype=np.int32)
        for first in range(0, n_items, block):
            part = item_vectors[first : first + block]
            tile = scratch[: len(some) * len(part)].view(len(some), len(part))
            torch.mm(vectors, part.T, out=tile)
            scores = tile.cpu().numpy()
            if not _merge(scores, first, rows[start:], hidden, best_item[start:], best_score, filled):
                raise TrainingError("a score is not a number: the vectors to evaluate hold NaN or infinity")
    return processes.largest(best_item)


def top_scored(
    scorer: Scorer,
    n_items: int,
    users: np.ndarray,
    k: int,
    seen: Sequence[Listing],
    scratch_bytes: int = 32 << 20,
) -> np.ndarray:  # int32 (len(users), k), best first
    """The same for recommenders that have no vectors: as many users at a time as their scores fit `scratch_bytes`."""
    rows, hidden = _plain(users), _hidden(seen, users, k, n_items)
    best_item = np.full((len(users), k), NO_ITEM, dtype=np.int32)
    chunk = max(1, min(len(users), scratch_bytes // (4 * (n_items + k))))
    best_score = np.empty((chunk, k), dtype=np.float32)
    for start in range(0, len(users), chunk):
        scores = np.ascontiguousarray(scorer(users[start : start + chunk]), dtype=np.float32)
        filled = np.zeros(len(scores), dtype=np.int32)
        if not _merge(scores, 0, rows[start:], hidden, best_item[start:], best_score, filled):
            raise TrainingError("a score is not a number: the recommender to evaluate gives NaN")
    return best_item


def tile_shape(n_users: int, n_items: int, dim: int, k: int, scratch_bytes: int) -> tuple[int, int]:
    """How many users and how many items one tile holds so that all scratch fits in `scratch_bytes`.

    A quarter at most goes to the users' vectors and running lists, the rest to the scores.
    """
    per_user = 4 * (dim + k + 1)
    chunk = max(1, min(n_users, MOST_USERS, scratch_bytes // 4 // per_user))
    block = max(1, min(n_items, MOST_ITEMS, (scratch_bytes - chunk * per_user) // (4 * chunk)))
    return chunk, block


def _plain(array: np.ndarray) -> np.ndarray:
    """A contiguous read-only int32 view: one type for the compiled scan, whatever the caller's flags are."""
    view = np.ascontiguousarray(array, dtype=np.int32).view()
    view.flags.writeable = False
    return view


def _hidden(seen: Sequence[Listing], users: np.ndarray, k: int, n_items: int) -> tuple[Listing, ...]:
    """`seen` ready for the scan, which checks no bounds: users beyond a listing, and a wrong k, are refused here."""
    if not 0 < k <= n_items:
        raise SettingError(f"k = {k}: must be between 1 and the number of items, {n_items}")
    if users.min(initial=0) < 0:
        raise DataError(f"user {users.min()} to be ranked for: user numbers start at 0")
    n_users = int(users.max(initial=-1)) + 1
    for offsets, _ in seen:
        if len(offsets) <= n_users:
            raise DataError(f"user {n_users - 1} is not among the {len(offsets) - 1} users of the seen items")
    nothing = (np.zeros(n_users + 1), np.zeros(0))
    return tuple((_plain(offsets), _plain(items)) for offsets, items in seen or [nothing])


@compiled()
def _merge(scores, first, users, seen, best_item, best_score, filled):  # type: ignore[no-untyped-def]
    """Merge one tile into the running lists; False when a score that matters is NaN."""
    k = best_score.shape[1]
    width = scores.shape[1]
    for row in range(scores.shape[0]):
        line = scores[row]
        for start in range(0, width, _GROUP):
            group = line[start : start + _GROUP]
            if filled[row] == k and len(group) == _GROUP and not _any_above(group, best_score[row, k - 1]):
                continue
            for column in range(start, start + len(group)):
                score = line[column]
                if np.isnan(score):
                    return False
                if score == -np.inf or (filled[row] == k and score <= best_score[row, k - 1]):
                    continue
                item = first + column
                if _is_seen(seen, users[row], item):
                    continue
                filled[row] = _insert(best_item[row], best_score[row], filled[row], item, score)
    return True


@compiled(inline="always")
def _any_above(group, worst):  # type: ignore[no-untyped-def]
    """Whether any of `_GROUP` scores beats `worst` or is NaN; of fixed length and without branches, hence fast."""
    above = 0
    for place in range(_GROUP):
        above += not (group[place] <= worst)
    return above != 0


@compiled()
def _is_seen(seen, user, item):  # type: ignore[no-untyped-def]
    for offsets, items in seen:
        low, high = offsets[user], offsets[user + 1]
        while low < high:
            middle = (low + high) // 2
            if items[middle] < item:
                low = middle + 1
            else:
                high = middle
        if low < offsets[user + 1] and items[low] == item:
            return True
    return False


@compiled()
def _insert(items, scores, filled, item, score):  # type: ignore[no-untyped-def]
    """Insert behind all scores that are not smaller and return the new length; a full list loses its last."""
    place = min(filled, len(items) - 1)
    while place > 0 and scores[place - 1] < score:
        items[place], scores[place] = items[place - 1], scores[place - 1]
        place -= 1
    items[place], scores[place] = item, score
    return min(filled + 1, len(items))
