"""Choosing cut, bits and fold-in tables for a byte budget by measured validation quality, and the whole curve."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sparserec.data import Split
from sparserec.errors import SettingError
from sparserec.progress import progress
from sparserec.vectors.encoding import Encoding, encode
from sparserec.vectors.propagate import Vectors
from sparserec.vectors.quality import encoded_quality, some_users

KEEPS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
USERS_TO_CHOOSE_BY = 5000


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


def candidates(dim: int) -> list[Encoding]:
    """All encodings worth trying at this dimension, smallest tables first."""
    keeps = [keep for keep in KEEPS if keep < dim] + [dim]
    return [
        Encoding(bits, keep, fold)  # type: ignore[arg-type]
        for keep in keeps
        for bits in (4, 8)
        for fold in ("shared", "own")
    ]


def table_bytes(vectors: Vectors, encoding: Encoding) -> int:
    """Bytes of the vectors in the file."""
    score, fold = encode(vectors, encoding)
    return score.nbytes + sum(part.nbytes for part in fold)


def size_quality_curve(
    vectors: Vectors, split: Split, overhead: int, largest: int | None, quiet: bool
) -> list[Point]:
    """Size and validation quality of every encoding that fits; `overhead` is what the file holds besides vectors."""
    if len(split.valid) == 0:
        raise SettingError(
            "choosing by quality needs a validation part, and this run's split has none; name bits and keep instead"
        )
    truth = some_users(split.valid, USERS_TO_CHOOSE_BY)
    options = candidates(vectors.items.shape[1])
    points = []
    with progress("measuring encodings", len(options), quiet) as bar:
        for encoding in options:
            size = table_bytes(vectors, encoding) + overhead
            if largest is None or size <= largest:
                points.append(Point(encoding, size, encoded_quality(vectors, encoding, split, truth)))
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
