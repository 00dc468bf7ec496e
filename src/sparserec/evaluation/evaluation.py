"""From vectors and a split to metrics: rank all items, compare with what was held out, keep every user's result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sparserec.data import Interactions
from sparserec.distributed import ALONE, Processes
from sparserec.errors import DataError, SettingError
from sparserec.evaluation.metrics import Listed, per_user, summarise
from sparserec.evaluation.ranking import Listing, Scorer, UserVectors, top_items, top_scored
from sparserec.progress import Progress


@dataclass(frozen=True)
class Evaluation:
    """What one evaluation found. Per-user results are kept so that two runs can be compared user by user."""

    metrics: dict[str, float]
    """Averages by name; `metrics.summarise` says which."""
    per_user: dict[str, np.ndarray]
    """`recall@20` and so on, one number per user, aligned with `users`."""
    users: np.ndarray
    """The users measured: all who have held-out items, ascending."""


def evaluate(
    user_vectors: UserVectors,
    item_vectors: torch.Tensor,  # (n_items, dim)
    train: Listed,
    truth: Listed,
    also_seen: Sequence[Listed] = (),
    ks: Sequence[int] = (20,),
    scratch_bytes: int = 32 << 20,
    progress: Progress | None = None,
    width: int | None = None,
    processes: Processes = ALONE,
) -> Evaluation:
    """Rank all items but those of `train` and `also_seen` for every user of `truth` and measure the lists.

    Scores are summed block by block of `width` columns, as training sums them; None is one block. Several processes
    share the users, and all get the result.
    """
    _check(train, truth, also_seen, ks)
    if len(item_vectors) != train.n_items:
        raise DataError(f"{len(item_vectors)} item vectors for {train.n_items} items")

    def ranked(users: np.ndarray, k: int, seen: Sequence[Listing]) -> np.ndarray:
        return top_items(
            user_vectors, item_vectors, users, k, seen, scratch_bytes, progress, width, processes
        )

    return _measure(ranked, train, truth, also_seen, ks)


def evaluate_scorer(
    scorer: Scorer, train: Listed, truth: Listed, also_seen: Sequence[Listed] = (), ks: Sequence[int] = (20,)
) -> Evaluation:
    """The same for a recommender that has no vectors, only scores."""
    _check(train, truth, also_seen, ks)

    def ranked(users: np.ndarray, k: int, seen: Sequence[Listing]) -> np.ndarray:
        return top_scored(scorer, train.n_items, users, k, seen)

    return _measure(ranked, train, truth, also_seen, ks)


def _measure(
    ranked: Callable[[np.ndarray, int, Sequence[Listing]], np.ndarray],
    train: Listed,
    truth: Listed,
    also_seen: Sequence[Listed],
    ks: Sequence[int],
) -> Evaluation:
    """Metrics of the lists that `ranked` makes for users, a length and what is hidden."""
    users = np.flatnonzero(np.diff(truth.offsets())).astype(np.int32)
    top = ranked(users, max(ks), [(known.offsets(), known.items) for known in (train, *also_seen)])
    per = {
        f"{name}@{k}": values
        for k in ks
        for name, values in per_user(top, truth.offsets(), truth.items, users, k).items()
    }
    return Evaluation(summarise(per, top, users, train, truth, ks), per, users)


def _check(train: Listed, truth: Listed, also_seen: Sequence[Listed], ks: Sequence[int]) -> None:
    if len(truth.items) == 0:
        raise DataError("there is nothing to evaluate on: the held-out part of the split is empty")
    sizes = {(part.n_users, part.n_items) for part in (train, truth, *also_seen)}
    if len(sizes) > 1:
        raise DataError(f"the parts of the split differ in (users, items): {sorted(sizes)}")
    if not ks or min(ks) < 1 or max(ks) > train.n_items:
        raise SettingError(
            f"ks = {list(ks)}: list lengths must be between 1 and the number of items, {train.n_items}"
        )


def some_users(part: Interactions, count: int, seed: int = 0) -> Interactions:
    """The interactions of at most `count` users drawn at random: enough to choose by, a fraction of the time."""
    users = np.unique(part.users)
    if len(users) <= count:
        return part
    chosen = np.zeros(part.n_users, bool)
    chosen[np.random.default_rng(seed).choice(users, count, replace=False)] = True
    return part.select(chosen[part.users])
