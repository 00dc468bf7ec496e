"""Golden queries: made-up questions with the answers the writer got, so that every reader can test itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .container import is_count, parse_json
from .errors import BadGolden, SelfTestFailed
from .profile import Profile
from .scorers import LARGEST_WEIGHT

MOST = 64
TOLERANCE = 1e-6


@dataclass(frozen=True)
class GoldenQuery:
    """A user's index or a history of item indices, and the top that belongs to it."""

    user: int | None
    history: tuple[int, ...]
    weights: tuple[float, ...]
    items: tuple[int, ...]
    scores: tuple[float, ...]


def read_golden(metadata: dict[str, str], profile: Profile) -> list[GoldenQuery]:
    """Check the form of the golden queries; their answers are checked by the self-test."""
    if "golden" not in metadata:
        return []
    try:
        raw = parse_json(metadata["golden"])
    except (ValueError, RecursionError) as error:
        raise BadGolden(f"__metadata__.golden: {error}") from None
    if not isinstance(raw, list) or len(raw) > MOST:
        raise BadGolden(f"__metadata__.golden is not a list of at most {MOST} queries")
    return [_read_query(query, profile) for query in raw]


def _read_query(raw: Any, profile: Profile) -> GoldenQuery:
    if not isinstance(raw, dict) or ("user" in raw) == ("history" in raw):
        raise BadGolden("a golden query needs either a user or a history")
    items = _indices(raw.get("items"), profile.items)
    scores = _numbers(raw.get("scores"), len(items))
    if len(items) > MOST:
        raise BadGolden(f"a golden query lists more than {MOST} items")
    if "user" in raw:
        known = {"full": profile.users, "personal": 1}.get(profile.mode, 0)
        (user,) = _indices([raw["user"]], known)
        return GoldenQuery(user, (), (), items, scores)
    history = _indices(raw["history"], profile.items)
    weights = _numbers(raw["weights"], len(history)) if "weights" in raw else (1.0,) * len(history)
    if any(abs(weight) > LARGEST_WEIGHT for weight in weights):
        raise BadGolden(f"a golden query holds a weight beyond {LARGEST_WEIGHT:g}")
    return GoldenQuery(None, history, weights, items, scores)


def _indices(raw: Any, limit: int) -> tuple[int, ...]:
    if not isinstance(raw, list) or not all(is_count(index) and index < limit for index in raw):
        raise BadGolden("a golden query holds something else than indices, or one that is out of range")
    return tuple(raw)


def _numbers(raw: Any, length: int) -> tuple[float, ...]:
    if not isinstance(raw, list) or len(raw) != length:
        raise BadGolden("a golden query holds lists of different lengths")
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in raw):
        raise BadGolden("a golden query holds something else than numbers")
    if not all(math.isfinite(value) for value in raw):
        raise BadGolden("a golden query holds a number that is not finite")
    return tuple(map(float, raw))


def compare(query: str, expected: GoldenQuery, items: list[int], scores: np.ndarray) -> None:
    """The same scores place by place, and the same items except where scores are closer than the tolerance."""
    if len(items) != len(expected.items):
        raise SelfTestFailed(f"{query}: {len(items)} items, expected {len(expected.items)}")
    allowed = TOLERANCE * max((abs(score) for score in expected.scores), default=0.0)
    for place, (score, right) in enumerate(zip(scores, expected.scores)):
        if abs(score - right) > allowed:
            raise SelfTestFailed(f"{query}: score {score!r} in place {place}, expected {right!r}")
    for place, (item, right) in enumerate(zip(items, expected.items)):
        if item != right and not _tied(scores, place, allowed):
            raise SelfTestFailed(f"{query}: item {item} in place {place}, expected {right}")


def _tied(scores: np.ndarray, place: int, allowed: float) -> bool:
    """Whether a neighbour is too close to tell apart; the last place may tie with one that was cut off."""
    near = [
        abs(scores[place] - scores[other]) <= allowed
        for other in (place - 1, place + 1)
        if 0 <= other < len(scores)
    ]
    return any(near) or place == len(scores) - 1
