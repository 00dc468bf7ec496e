"""Choosing an encoding for a byte budget by measured validation quality, and the whole curve."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from sparserec.data import Split
from sparserec.errors import SettingError
from sparserec.progress import progress
from sparserec.vectors import (
    EncodedLists,
    EncodedVectors,
    Encoding,
    Neighbours,
    Vectors,
    encode,
    made_quality,
    some_users,
)

KEEPS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
CODE_BYTES = (4, 8, 12, 16, 24, 32, 48)
LISTS = (5, 10, 20, 30, 50, 100, 200)
USERS_TO_CHOOSE_BY = 5000
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


def candidates(vectors: Vectors, personal: bool = False) -> list[Encoding]:
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
        found += [Encoding(8, size, fold, "codes") for size in CODE_BYTES if dim % size == 0]  # type: ignore[arg-type]
    if len(vectors.fold) == 1 and not personal:
        found += [Encoding(4, size, "shared", "neighbours") for size in LISTS if size < items]
    return found


def foreseen_bytes(vectors: Vectors, encoding: Encoding) -> float:
    """About how many bytes the vectors will take; what is measured in the end is the file."""
    items, dim = vectors.items.shape
    tables = 1 if encoding.fold == "shared" else 1 + len(vectors.fold)
    keep = min(encoding.keep, items if encoding.kind == "neighbours" else dim)
    if encoding.kind == "codes":
        return tables * (items * keep + 256 * (dim + keep))
    positions = 0.0
    if encoding.kind != "prefix" and keep < dim:
        columns = items if encoding.kind == "neighbours" else dim
        choices = math.lgamma(columns + 1) - math.lgamma(keep + 1) - math.lgamma(columns - keep + 1)
        entropy = choices / math.log(2)
        positions = min(8 * keep, dim) if encoding.kind == "int" else entropy
    return tables * items * (positions + keep * encoding.bits + 8) / 8


class Encoder:
    """Makes the tables of any encoding; neighbours are looked for once, for the longest lists."""

    def __init__(self, vectors: Vectors, longest: int = LISTS[-1]) -> None:
        self.vectors = vectors
        self.neighbours = Neighbours(vectors, longest)

    def __call__(self, encoding: Encoding) -> EncodedVectors | EncodedLists:
        if encoding.kind == "neighbours":
            return self.neighbours.encode(encoding.keep, encoding.bits)
        return encode(self.vectors, encoding)


def size_quality_curve(
    vectors: Vectors, split: Split, overhead: int, budget: int, quiet: bool, personal: bool = False
) -> list[Point]:
    """Size and validation quality of the encodings about as large as the budget; `overhead` is what else a
    file holds.
    """
    if len(split.valid) == 0:
        raise SettingError(
            "choosing by quality needs a validation part, and this run's split has none; name an encoding instead"
        )
    truth = some_users(split.valid, USERS_TO_CHOOSE_BY)
    options = [
        one
        for one in candidates(vectors, personal)
        if SMALLEST_SHARE * budget <= foreseen_bytes(vectors, one) + overhead <= LARGEST_SHARE * budget
    ]
    encoder = Encoder(vectors, max((one.keep for one in options if one.kind == "neighbours"), default=1))
    points = []
    with progress("measuring encodings", len(options), quiet) as bar:
        for encoding in options:
            made = encoder(encoding)
            points.append(Point(encoding, made.nbytes + overhead, made_quality(vectors, made, split, truth)))
            bar.advance(1, encoding.label)
    return points


def best_within(points: list[Point], budget: int, overhead: int, smallest: int) -> Point:
    """The best point; a budget below the smallest file says what the least is and what takes the room."""
    if not points:
        raise SettingError(
            f"no encoding fits in {budget:,} bytes: the smallest file has {smallest:,}, of which {overhead:,} are ids, "
            "titles, degrees and header; raise --budget, drop titles, or drop rare items with --min-users"
        )
    return max(points, key=lambda point: (point.score, -point.bytes))
