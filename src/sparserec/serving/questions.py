"""Whether a question makes sense: the same checks and named errors for a run folder and for an exported file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparserec.errors import SparserecError
from sparserec.serving.answers import Identifier

LARGEST_WEIGHT = 1e6
"""Of an item in a history, as in a device file."""


class UnknownUserError(SparserecError):
    """The model has no such user."""


class UnknownItemError(SparserecError):
    """The model has no such item."""


class QuestionError(SparserecError):
    """A question that makes no sense: a user and a history at once, or more items than there are."""


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
    return int(length)


def check_who(user: object, history: object, weights: object, alone: bool) -> None:
    """One of the two says who is asking; a file about one user (`alone`) knows it without being told."""
    if user is not None and weights is not None:
        raise QuestionError("weights go with a history; what a user of the log has counts as it was trained")
    if (user is None) == (history is None) and not (alone and user is None):
        raise QuestionError("give either a user or a history of items, and not both")


@dataclass(frozen=True)
class Past:
    """A history as it was asked about: ids, and what each counts for where that is said."""

    items: list[Identifier]
    weights: list[float] | None = None

    @classmethod
    def of(cls, history: Any, weights: Any = None) -> Past:
        """One history; a text is one id."""
        items = id_list(history, "history")
        return cls(items, None if weights is None else _weights(weights, len(items)))


@dataclass(frozen=True)
class Wanted:
    """Which items may be recommended: all, or those in `allow` and those with one of `tags`; none in `deny`, and none
    that the user has."""

    allow: list[Identifier] | None
    deny: list[Identifier]
    exclude_seen: bool
    tags: list[str] | None = None

    @classmethod
    def of(cls, allow: Any, deny: Any, exclude_seen: bool, tags: Any = None) -> Wanted:
        return cls(
            None if allow is None else id_list(allow, "allow"),
            [] if deny is None else id_list(deny, "deny"),
            exclude_seen,
            None if tags is None else [str(tag) for tag in id_list(tags, "tags")],
        )


def is_one(value: object) -> bool:
    """Whether this is a single id (a text, a number) and not some of them."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return True
    return isinstance(value, np.ndarray) and value.ndim == 0


def identifier(value: Any, what: str) -> Identifier:
    """One id as a plain text or whole number: numpy's numbers, and 3.0 from a column with gaps, are those."""
    plain = value.item() if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0 else value
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    if isinstance(plain, bool) or not isinstance(plain, int | str):
        raise QuestionError(f"{what}: {_shown(value)} is no id; ids are texts or whole numbers")
    return plain


def id_list(given: Any, what: str) -> list[Identifier]:
    """Ids of any iterable (list, array, series ..); one id alone is a list of it."""
    if given is None:
        return []
    if is_one(given):
        return [identifier(given, what)]
    _refuse_tables(given, what)
    return [identifier(one, what) for one in given]


def asks_for_many(value: Any) -> bool:
    """Whether users are asked for by the list."""
    return value is not None and not is_one(value)


def listed(given: Any) -> Any:
    """The same as a list, where it is a number of things: an iterator can be looked at once only."""
    if given is None or is_one(given):
        return given
    _refuse_tables(given, "history")
    return list(given)


def histories(given: Any) -> list[Any] | None:
    """The histories in a list of several; None where it is one history."""
    some = [not is_one(row) for row in given] if isinstance(given, list) else []
    if any(some) and not all(some):
        raise QuestionError(
            f"history: {_shown(given[some.index(False)])} stands beside lists of items; give one history or "
            "only lists"
        )
    return given if any(some) else None


def weights_of_each(weights: Any, count: int) -> list[Any]:
    """The weights of each of several histories."""
    if weights is None:
        return [None] * count
    rows = [] if is_one(weights) else list(weights)
    if len(rows) != count or any(row is not None and is_one(row) for row in rows):
        raise QuestionError(
            f"weights: {count} histories need as many lists of weights (None for a plain one)"
        )
    return rows


def no_vector() -> QuestionError:
    """A history with nothing that is liked is answered by popularity."""
    return QuestionError(
        "a history without a liked item has no vector; recommend answers it with what is popular"
    )


def _weights(given: Any, count: int) -> list[float]:
    try:
        values, truths = (
            np.asarray(list(given), np.float64),
            [isinstance(one, bool | np.bool_) for one in given],
        )
    except (TypeError, ValueError):
        raise QuestionError(f"weights: {_shown(given)} are not all numbers") from None
    if any(truths):
        raise QuestionError(f"weights: {_shown(given)} are not all numbers, a True or False is none")
    if values.shape != (count,):
        raise QuestionError(f"weights: {len(values)} for a history of {count}; give one for each item")
    if not (np.abs(values) <= LARGEST_WEIGHT).all():
        raise QuestionError(f"weights: numbers from -{LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}")
    return values.tolist()


def _refuse_tables(given: Any, what: str) -> None:
    """A data frame, and a dict, would be taken for their names of columns or keys."""
    if hasattr(given, "columns") or isinstance(given, Mapping):
        raise QuestionError(
            f"{what}: {type(given).__name__} is no list of ids; give a list, an array or one column (weights of "
            "a history go into `weights`)"
        )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
