"""Which encodings are tried and measured for a file, on validation, and which is taken: the smallest that is surely
within 1 % of the best that fits.

Surely: by the upper end of a paired interval over the users that choose, so that a difference too small for so few
users to show is settled for the larger file. A larger budget never takes a file with a lower score than a smaller one.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from sparserec.data import Interactions, Split
from sparserec.encodings import (
    Chosen,
    Encoded,
    Encoding,
    FileQuality,
    Material,
    PerUser,
    all_encodings,
    encode,
    find_encoding,
    learnable,
)
from sparserec.errors import SettingError
from sparserec.evaluation import paired
from sparserec.progress import progress
from sparserec.recommenders import Vectors

PLAIN = ("int", "gaps")
"""Kinds that a file without a budget may have: axes, codes and lists are for tight ones."""
LIST_USERS = 3
"""People who must have both items of an entry of a co-occurrence list, or else it tells who they are."""
MOST_LEARNT = 1.25
"""What learning multiplies a score with at most: encodings that would stay behind even then are not learnt."""
LARGEST_SHARE = 1.3
"""Of the budget: encodings whose size is foreseen above are not measured."""
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


def possible_encodings(
    vectors: Vectors, personal: bool = False, kinds: Iterable[str] | None = None
) -> list[Encoding]:
    """All encodings worth trying with these vectors, of some kinds or of all; fold-in tables of their own where they
    are not the scoring table. Lists have no vector for the one user of a personal file.
    """
    known = all_encodings() if kinds is None else {name: find_encoding(name) for name in kinds}
    folds = ("shared",) if vectors.fold[0] is vectors.items else ("shared", "own")
    return [
        Encoding(bits, keep, fold, name)  # type: ignore[arg-type]
        for fold in folds
        for name, kind in known.items()
        if not kind.lists or (fold == "shared" and not personal)
        for bits, keep in kind.candidates(vectors)
    ]


@dataclass(frozen=True, eq=False)
class Measure:
    """Points of encodings, all on the same validation users."""

    vectors: Vectors
    split: Split
    overhead: int
    """Bytes of a file beside its tables."""
    share: float = 1.0
    """Of the items that are in the file: what is measured holds all of them."""

    @cached_property
    def truth(self) -> Interactions:
        return Chosen(self.split).truth

    @cached_property
    def float_users(self) -> np.ndarray:
        """NDCG@20 of every user that chooses, by the float vectors."""
        return FileQuality(self.vectors, self.split).users(self.truth)["ndcg@20"]

    def foreseen(self, encoding: Encoding) -> float:
        """About how many bytes the file will take; what is measured in the end is the file."""
        tables = 1 if encoding.fold == "shared" else 1 + len(self.vectors.fold)
        return self.share * (tables * encoding.of.bytes(encoding, *self.vectors.items.shape)) + self.overhead

    def point(self, encoding: Encoding, encoded: Encoded) -> Point:
        size = round(self.share * encoded.nbytes) + self.overhead
        return Point(encoding, size, FileQuality(self.vectors, self.split, encoded).users(self.truth))


@dataclass
class TimeLimit:
    """How long encodings are tried; None: until all are."""

    seconds: float | None = None
    began: float = field(default_factory=time.monotonic)
    left_out: int = 0
    """Encodings that there was no time for."""

    def allows_one_more(self) -> bool:
        over = self.seconds is not None and time.monotonic() - self.began > self.seconds
        self.left_out += over
        return not over


def measured_within(
    measure: Measure, material: Material, budget: int, limit: TimeLimit, quiet: bool, personal: bool = False
) -> list[Point]:
    """All encodings up to about the budget: a larger one sees all that a smaller one saw, so it cannot choose worse."""
    options = in_order(measure, possible_encodings(measure.vectors, personal), budget)
    points: list[Point] = []
    with progress("measuring encodings", len(options), quiet) as bar:
        for one in options:
            if not points or limit.allows_one_more():
                points.append(measure.point(one, one.of.encode(one, material)))
            bar.advance(1, one.label)
    return points


def in_order(measure: Measure, encodings: list[Encoding], budget: int) -> list[Encoding]:
    """Those up to about the budget, one of every kind in turn, since the time may end: the largest that fit first, in 4
    bits and with one table before other bits and two.
    """
    families: dict[tuple[Any, ...], list[Encoding]] = {}
    for one in encodings:
        if measure.foreseen(one) <= LARGEST_SHARE * budget:
            families.setdefault((one.kind, one.bits, one.fold), []).append(one)
    ranked: dict[str, list[tuple[Any, ...]]] = {one.kind: [] for one in encodings}
    for (kind, bits, fold), family in families.items():
        family.sort(key=lambda one: (measure.foreseen(one) > budget, -measure.foreseen(one)))
        ranked[kind] += [
            (turn, fold != "shared", abs(bits - 4), bits, one) for turn, one in enumerate(family)
        ]
    kinds = [[row[-1] for row in sorted(rows, key=lambda row: row[:-1])] for rows in ranked.values()]
    return [one for turn in zip_longest(*kinds) for one in turn if one is not None]


def worth_learning(points: list[Point], budget: int) -> list[Encoding]:
    """Encodings to be tried once more with learnt codes: of each kind that can be learnt those that are better than all
    smaller ones, unless learning could not bring them near the best that fits.
    """
    found = []
    for kind in learnable():
        front: list[Point] = []
        for point in sorted(points, key=lambda one: (one.bytes, -one.score)):
            one = point.encoding
            fits = one.kind == kind and one.fold == "shared" and point.bytes <= budget
            if fits and (not front or point.score > front[-1].score):
                front.append(point)
        found += [
            replace(point.encoding, learnt=True)
            for point in front
            if MOST_LEARNT * point.score >= front[-1].score
        ]
    return found


def smallest_good(measure: Measure, quiet: bool) -> list[Point]:
    """Points among which the smallest is that loses next to nothing of the float vectors: in each family of encodings,
    more entries are taken to be better.

    So the fewest that are good enough are found by halving, and what is larger than a good one already found is not
    measured.
    """
    families: dict[tuple[Any, ...], list[Encoding]] = {}
    for one in possible_encodings(measure.vectors, kinds=PLAIN):
        families.setdefault((one.kind, one.bits, one.fold), []).append(one)
    points: list[Point] = []
    good_sizes: list[int] = []

    def good(encoding: Encoding) -> bool:
        if good_sizes and measure.foreseen(encoding) >= LARGEST_SHARE * min(good_sizes):
            return True  # too large to be wanted: look at fewer entries
        points.append(measure.point(encoding, encode(measure.vectors, encoding)))
        if surely_near(points[-1].ndcg, measure.float_users):
            good_sizes.append(points[-1].bytes)
            return True
        return False

    with progress("measuring encodings", len(families), quiet) as bar:
        for name, family in families.items():
            bisect_left(family, True, key=good)
            bar.advance(1, " ".join(map(str, name)))
    return points


def choose_good(points: list[Point], measure: Measure) -> Point:
    """The smallest that is surely within 1 % of the float vectors; where none is, the best."""
    near = smallest_near(points, measure.float_users)
    return near or max(points, key=lambda point: (point.score, -point.bytes))


class NothingFitsError(SettingError):
    """No encoding is small enough for a budget."""


def nothing_fits(budget: int, overhead: int, smallest: int, titled: bool) -> NothingFitsError:
    """Says what the least is, what takes the room, and what can be done about it."""
    advice = ", leave titles and tags out (`titles=false`)" if titled else ""
    return NothingFitsError(
        f"no encoding fits in {budget:,} bytes: the smallest file has {smallest:,}, of which {overhead:,} are ids, "
        f"titles, degrees and header; raise the `budget`{advice}, or leave rare items out with `min_users`"
    )
