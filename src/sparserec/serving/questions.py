"""Whether a question makes sense: the same checks and named errors for a run folder and for an exported file."""

from __future__ import annotations

import numpy as np

from sparserec.errors import SparserecError


def check_length(k: int, n_items: int) -> None:
    """A list of k items must be possible at all."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise QuestionError(f"k = {k!r}: the number of items to recommend is a whole number from 1")
    if k > n_items:
        raise QuestionError(f"k = {k:,}: this model has only {n_items:,} items to recommend")


def wanted_length(k: int, N: int | None, n_items: int) -> int:
    """How many items are asked for; `N` is what `implicit` calls `k`."""
    length = k if N is None else N
    check_length(length, n_items)
    return length


def check_who(user: object, history: object, alone: bool = False) -> None:
    """One of the two says who is asking; a file about one user (`alone`) knows it without being told."""
    if (user is None) == (history is None) and not (alone and user is None):
        raise QuestionError("give either a user or a history of items, and not both")


def asks_for_many(user: object) -> bool:
    """Whether a list or array of users is asked for at once."""
    return user is not None and not isinstance(user, str) and np.ndim(user) > 0  # type: ignore[arg-type]


class UnknownUserError(SparserecError):
    """The model has no such user."""


class UnknownItemError(SparserecError):
    """The model has no such item."""


class QuestionError(SparserecError):
    """A question that makes no sense: a user and a history at once, or more items than there are."""
