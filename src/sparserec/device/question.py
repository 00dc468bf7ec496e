"""What a caller may hand over as ids, weights and sizes: whatever Python calls a list of them, and one id alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .errors import BadQuery
from .fold_in import LARGEST_WEIGHT

Identifier = int | str


def identifier(value: Any) -> Identifier:
    """One id: a text, or a whole number of Python or numpy (3.0 from a column with gaps is one)."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    if isinstance(plain, bool) or not isinstance(plain, int | str):
        raise BadQuery(f"{value!r:.80} is no id: ids are texts or whole numbers")
    return plain


def identifiers(given: Any, what: str) -> list[Identifier]:
    """Ids of anything that can be gone through; one id alone is a list of it, not its letters."""
    if given is None:
        return []
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        return [identifier(given)]
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        raise BadQuery(
            f"{what}: {type(given).__name__} is no list of ids: give a list, an array or one column"
        )
    return [identifier(one) for one in given]


def weight_array(given: Any, count: int) -> np.ndarray:
    """A weight for each item of a history, 1 where none are given: (count,) float64."""
    if given is None:
        return np.ones(count)
    wrong = BadQuery(
        f"{count} items in the history need as many weights, numbers of at most {LARGEST_WEIGHT:g}: {given!r:.80}"
    )
    try:
        plain = given if isinstance(given, np.ndarray) else list(given)
        weights = np.asarray(plain)
    except (TypeError, ValueError):
        raise wrong from None
    if weights.shape != (count,) or (count and weights.dtype.kind not in "iuf"):
        raise wrong
    # beside numbers a boolean becomes one of them, so the array does not show it
    if any(isinstance(weight, bool | np.bool_) for weight in plain):
        raise wrong
    wide = weights.astype(np.float64)
    if not (np.abs(wide) <= LARGEST_WEIGHT).all():
        raise wrong
    return wide


def length(k: Any) -> int:
    """How many items are asked for."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise BadQuery(f"k is {k!r:.80}, expected a whole number from 1")
    return int(k)
