"""From external ids to numbers; an id that is not there is answered with those that look most like it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sparserec.serving.questions import UnknownItemError, UnknownUserError

if TYPE_CHECKING:
    from sparserec.data import IdMap

LARGEST_SEARCH = 20_000
"""More ids than this are not all compared: only those near in sorted order are."""


def user_number(ids: IdMap, user: Any) -> int:
    """The number of a user, or an UnknownUserError with the nearest ids."""
    found = int(ids.index_of([user])[0])
    if found < 0:
        raise UnknownUserError(
            f"no user {str(user)!r} among the {len(ids):,} of this model{hint(ids.external(), user)}; "
            "for somebody new give a history of items instead"
        )
    return found


def item_number(ids: IdMap, item: Any) -> int:
    """The number of an item, or an UnknownItemError with the nearest ids."""
    found = int(ids.index_of([item])[0])
    if found < 0:
        raise no_item(ids.external(), item)
    return found


def no_item(ids: np.ndarray, item: Any) -> UnknownItemError:
    """The error for an item that is not there."""
    return UnknownItemError(f"no item {str(item)!r} among the {len(ids):,} of this model{hint(ids, item)}")


def item_numbers(ids: IdMap, items: Iterable[Any], some_known: bool = True) -> tuple[np.ndarray, list[Any]]:
    """Numbers of the known items, first occurrence of each, in the order given; and the ids that are not known.

    A log moves on while a model stays, so some unknown ids are normal; with `some_known`, none known is a mistake.
    """
    given = list(items)
    if not given:
        return np.zeros(0, np.int32), []
    numbers = numbers_of(ids, given)
    unknown = [item for item, number in zip(given, numbers) if number < 0]
    if some_known and len(unknown) == len(given):
        raise no_item(ids.external(), given[0])
    known = numbers[numbers >= 0]
    first = np.sort(np.unique(known, return_index=True)[1])
    return known[first].astype(np.int32), unknown


def numbers_of(ids: IdMap, items: Sequence[Any]) -> np.ndarray:
    """The number of each id, -1 where it is not known; one by one, because "7" and 7 may stand in one list."""
    return np.concatenate([ids.index_of([item]) for item in items])


def hint(ids: np.ndarray, wanted: Any) -> str:
    """`; nearest: a, b, c`, or nothing."""
    near = nearest(ids, wanted)
    return f"; nearest: {', '.join(near)}" if near else ""


def nearest(ids: np.ndarray, wanted: Any, count: int = 3) -> list[str]:
    """The ids that look most like `wanted`: numerically for numbers, else by letters."""
    if len(ids) == 0:
        return []
    if ids.dtype.kind in "iu":
        return _nearest_numbers(ids, wanted, count)
    texts: Sequence[str] = ids.tolist()
    if len(texts) > LARGEST_SEARCH:
        in_order = np.sort(ids)
        place = int(np.searchsorted(in_order, str(wanted)))
        texts = in_order[max(place - 100, 0) : place + 100].tolist()
    by_plain: dict[str, str] = {_plain(text): text for text in reversed(texts)}
    close = difflib.get_close_matches(_plain(str(wanted)), list(by_plain), n=count, cutoff=0.5)
    return [by_plain[plain] for plain in close]


def _plain(text: str) -> str:
    """Without what people get wrong most: capital letters and leading zeros."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", text.casefold())


def _nearest_numbers(ids: np.ndarray, wanted: Any, count: int) -> list[str]:
    try:
        number = int(wanted)
    except (TypeError, ValueError):
        return [str(one) for one in np.sort(ids)[:count].tolist()]
    distances = np.abs(ids.astype(np.float64) - number)
    return [str(one) for one in ids[np.lexsort((ids, distances))[:count]].tolist()]
