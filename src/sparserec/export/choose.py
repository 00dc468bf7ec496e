"""Choosing an encoding by validation quality: the smallest file that loses next to nothing, or the best that fits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sparserec.data import Split
from sparserec.device import gap_bytes, int_bytes, prefix_bytes, product_bytes
from sparserec.errors import SettingError
from sparserec.progress import progress
from sparserec.vectors import (
    LEARNABLE,
    EncodedLists,
    EncodedVectors,
    Encoding,
    ListsOfLog,
    Neighbours,
    Vectors,
    encode,
    encoded_quality,
    made_quality,
    some_users,
)

KEEPS = (8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256)
CODE_BYTES = (4, 8, 12, 16, 24, 32, 48, 64)
LISTS = (5, 10, 20, 30, 50, 100, 200)
AVERAGE_LISTS = (4, 6, 8, 12, 16, 24, 32, 48, 64, 100)
USERS_TO_CHOOSE_BY = 5000
LEARNT_OF_A_KIND = 2
"""Encodings whose codes are learnt for a budget."""
GOOD_ENOUGH = 0.99
"""Share of the float vectors' quality that a file keeps unless a budget forbids it."""
SMALLEST_SHARE, LARGEST_SHARE = 0.15, 1.3
"""Of the budget: encodings whose size is foreseen outside are not measured."""


@dataclass(frozen=True)
class Point:
    """One encoding: its size and its validation quality."""

    encoding: Encoding
    bytes: int
    quality: dict[str, dict[str, float]]

    @property
    def score(self) -> float:
        """What is compared: NDCG@20 of folded-in users, because that is what the device computes."""
        return self.quality["folded"]["ndcg@20"]

    def row(self) -> dict[str, Any]:
        return {**asdict(self.encoding), "bytes": self.bytes, "quality": self.quality}


def possible_encodings(vectors: Vectors, personal: bool = False) -> list[Encoding]:
    """All encodings worth trying with these vectors; fold-in tables of their own where they are not the
    scoring table.
    """
    dim, items = vectors.items.shape[1], len(vectors.items)
    keeps = [keep for keep in KEEPS if keep < dim] + [dim]
    folds = ("shared",) if vectors.fold[0] is vectors.items else ("shared", "own")
    found = []
    for fold in folds:
        found += [Encoding(bits, keep, fold) for keep in keeps for bits in (4, 8)]  # type: ignore[arg-type]
        found += [Encoding(bits, keep, fold, "gaps") for keep in keeps for bits in (2, 3, 4, 6)]  # type: ignore[arg-type]
        found += [Encoding(4, keep, fold, "prefix") for keep in keeps]  # type: ignore[arg-type]
        found += [Encoding(8, size, fold, "codes") for size in CODE_BYTES if size <= dim]  # type: ignore[arg-type]
    if len(vectors.fold) == 1 and not personal:
        found += [Encoding(4, size, "shared", "neighbours") for size in LISTS if size < items]
    if not personal:
        found += [
            Encoding(bits, size, "shared", "together")
            for size in AVERAGE_LISTS
            if size < items
            for bits in (3, 4)
        ]
    return found


def foreseen_bytes(vectors: Vectors, encoding: Encoding) -> float:
    """About how many bytes the vectors will take; what is measured in the end is the file."""
    items, dim = vectors.items.shape
    tables = 1 if encoding.fold == "shared" else 1 + len(vectors.fold)
    columns = items if encoding.lists else dim
    keep, bits = min(encoding.keep, columns), encoding.bits
    if encoding.kind == "codes":
        return tables * product_bytes(keep, items, dim)
    if encoding.kind == "int":
        return tables * int_bytes(items * keep, items, dim, bits, even=True)
    if encoding.kind == "prefix":
        return tables * prefix_bytes(keep, items, bits)
    return tables * gap_bytes(keep, items, columns, bits)


class Encoder:
    """Makes the tables of any encoding; neighbours are looked for once, for the longest lists.

    `log` is asked for only where lists of the log are wanted, since their settings take a search; `items` are the
    vectors' items as the log numbers them (None: all).
    """

    def __init__(
        self,
        vectors: Vectors,
        log: Callable[[], ListsOfLog],
        longest: int = LISTS[-1],
        items: np.ndarray | None = None,
    ) -> None:
        self.vectors, self.log, self.items = vectors, log, items
        self.neighbours = Neighbours(vectors, longest)

    def __call__(self, encoding: Encoding) -> EncodedVectors | EncodedLists:
        if encoding.kind == "together":
            return self.log().encode(encoding.keep, encoding.bits, self.items)
        if encoding.kind != "neighbours":
            return encode(self.vectors, encoding)
        if len(self.vectors.fold) > 1:
            raise SettingError(
                "neighbours cannot hold a recommender with self-loops: choose another encoding"
            )
        return self.neighbours.encode(encoding.keep, encoding.bits)


def size_quality_curve(
    vectors: Vectors,
    log: Callable[[], ListsOfLog],
    split: Split,
    overhead: int,
    budget: int,
    quiet: bool,
    personal: bool = False,
) -> list[Point]:
    """Size and validation quality of the encodings about as large as the budget; `overhead` is what else a
    file holds.
    """
    truth = some_users(split.valid, USERS_TO_CHOOSE_BY)
    options = [
        one
        for one in possible_encodings(vectors, personal)
        if SMALLEST_SHARE * budget <= foreseen_bytes(vectors, one) + overhead <= LARGEST_SHARE * budget
    ]
    encoder = Encoder(vectors, log, max((one.keep for one in options if one.kind == "neighbours"), default=1))
    points = []
    with progress("measuring encodings", len(options), quiet) as bar:
        for encoding in options:
            made = encoder(encoding)
            points.append(Point(encoding, made.nbytes + overhead, made_quality(vectors, made, split, truth)))
            bar.advance(1, encoding.label)
    return points


def worth_learning(points: list[Point], budget: int) -> list[Encoding]:
    """The best encodings that fit of each kind that can be learnt, to be tried once more with learnt codes."""
    found = []
    for kind in LEARNABLE:
        fit = [
            point
            for point in points
            if point.encoding.kind == kind and point.encoding.fold == "shared" and point.bytes <= budget
        ]
        fit.sort(key=lambda point: (-point.score, point.bytes))
        found += [replace(point.encoding, learnt=True) for point in fit[:LEARNT_OF_A_KIND]]
    return found


def good_score(vectors: Vectors, split: Split) -> float:
    """The score at which a file counts as good as the float vectors, of the users that choose."""
    found = encoded_quality(vectors, None, split, some_users(split.valid, USERS_TO_CHOOSE_BY))
    return GOOD_ENOUGH * found["folded"]["ndcg@20"]


def smallest_good(vectors: Vectors, split: Split, overhead: int, needed: float, quiet: bool) -> list[Point]:
    """Points among which the smallest good one is: in each family of encodings, more entries are taken to be better.

    So the fewest that are good enough are found by halving, and what is larger than a good one already found is not
    measured. Only entries, in their two ways to be written: axes, codes and neighbours are for tight budgets.
    """
    truth = some_users(split.valid, USERS_TO_CHOOSE_BY)
    families: dict[tuple[Any, ...], list[Encoding]] = {}
    for one in possible_encodings(vectors):
        if one.kind in ("int", "gaps"):
            families.setdefault((one.kind, one.bits, one.fold), []).append(one)
    points: list[Point] = []

    def good(encoding: Encoding) -> bool:
        best = min((point.bytes for point in points if point.score >= needed), default=None)
        if best is not None and foreseen_bytes(vectors, encoding) + overhead >= LARGEST_SHARE * best:
            return True  # too large to be wanted: look at fewer entries
        made = encode(vectors, encoding)
        points.append(Point(encoding, made.nbytes + overhead, made_quality(vectors, made, split, truth)))
        return points[-1].score >= needed

    with progress("measuring encodings", len(families), quiet) as bar:
        for name, family in families.items():
            bisect_left(family, True, key=good)
            bar.advance(1, " ".join(map(str, name)))
    return points


def by_preference(points: list[Point], needed: float, budget: int | None = None) -> list[Point]:
    """Those that are good enough, the smallest first; then the others, the best first.

    Where a file within a budget is better than the float vectors, good enough is what comes near that file.
    """
    fit = [point.score for point in points if budget is not None and point.bytes <= budget]
    needed = max([needed, *(GOOD_ENOUGH * score for score in fit)])
    good = sorted((point for point in points if point.score >= needed), key=lambda point: point.bytes)
    rest = (point for point in points if point.score < needed)
    return good + sorted(rest, key=lambda point: (-point.score, point.bytes))


def nothing_fits(budget: int, overhead: int, smallest: int, titled: bool) -> SettingError:
    """Says what the least is, what takes the room, and what can be done about it."""
    advice = ", leave titles and tags out (`titles=false`)" if titled else ""
    return SettingError(
        f"no encoding fits in {budget:,} bytes: the smallest file has {smallest:,}, of which {overhead:,} are ids, "
        f"titles, degrees and header; raise the `budget`{advice}, or leave rare items out with `min_users`"
    )
