"""Which of the measured files is taken: the smallest that is surely within 1 % of the best that fits.

Surely: by the upper end of a paired interval over the users that choose, so that a difference too small for so few
users to show is settled for the larger file. A larger budget never takes a file with a lower score than a smaller one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparserec.encodings import Encoding
from sparserec.evaluation import paired
from sparserec.vectors import PerUser

SHARE_TO_LOSE = 0.01
"""Of the best file's NDCG@20, for a smaller one."""


@dataclass(frozen=True, eq=False)
class Point:
    """One encoding: its size, and its validation quality with every user made from their history."""

    encoding: Encoding
    bytes: int
    users: PerUser
    """Metrics of each user that chooses, the same users for all points that are compared."""

    @property
    def ndcg(self) -> np.ndarray:
        """What is compared: NDCG@20 of folded-in users, because that is what the device computes."""
        return self.users["ndcg@20"]

    @property
    def score(self) -> float:
        return float(self.ndcg.mean())

    def row(self) -> dict[str, Any]:
        means = {name: float(values.mean()) for name, values in self.users.items()}
        return {**asdict(self.encoding), "bytes": self.bytes, "quality": {"folded": means}}


def surely_near(other: np.ndarray, best: np.ndarray) -> bool:
    """Whether the first loses at most SHARE_TO_LOSE of the second, at the upper end of what chance over users leaves
    open; both hold a number per user.
    """
    lost = float(best.mean() - other.mean()) if len(best) < 2 else paired(best, other).high
    return lost <= SHARE_TO_LOSE * float(best.mean())


def smallest_near(points: Iterable[Point], best: np.ndarray) -> Point | None:
    """The smallest of the points that come near the best; of equal sizes the better one."""
    for point in sorted(points, key=lambda one: (one.bytes, -one.score)):
        if surely_near(point.ndcg, best):
            return point
    return None


def choose_point(points: Iterable[Point], budget: int) -> Point | None:
    """The smallest that is surely within 1 % of the best within the budget; None where nothing fits.

    Budgets are gone through from the smallest up, and what one of them chose is given up for a better score only:
    otherwise a file near the best of few could make room for a worse one that is near the best of more.
    """
    held: Point | None = None
    best: Point | None = None
    seen: list[Point] = []
    for point in sorted(points, key=lambda one: (one.bytes, -one.score)):
        if point.bytes > budget:
            break
        seen.append(point)
        best = point if best is None or point.score > best.score else best
        near = smallest_near(seen, best.ndcg)
        if near is not None and (held is None or near.score >= held.score):
            held = near
    return held
