"""A number for each item that is added to its score, whoever asks (format 1.2): how popular it is, say.

Where a log is small a history says little, and what many people chose is a good guess beside it. The numbers are
levels, of half a byte to a byte; where they follow from the degrees, and those are levels too, they take no byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import errors
from .container import Container
from .fold_in import ItemWeights
from .levels import level_tensors, nearest_levels, read_levels, read_values
from .memory_limit import LEVEL_BYTES

LARGEST_TERM = 1e6
PLAIN_COEFFICIENTS, COEFFICIENTS = "filter.weight", "filter.coefficient"
"""Of the filter: under the second name where there is a term. A reader that would not add it then refuses the file."""


@dataclass(frozen=True)
class ItemTerm:
    """What is added to the score of each item, as a writer is told it."""

    weight: float = 0.0
    """term_i = weight * log(degree_i), unless `term` is given."""
    term: Sequence[float] | np.ndarray | None = None
    """A number for each item."""
    levels: int = 16
    """How many different terms a file may hold where they do not share the levels of the degrees: 16 cost half a byte
    an item.
    """

    def of(self, degree: np.ndarray) -> np.ndarray:
        """Of each item, before it is rounded to levels: (items,) float64."""
        if self.term is None:
            return self.weight * np.log(np.maximum(np.asarray(degree, np.float64), 1.0))
        return np.asarray(self.term, np.float64)

    def tensors(self, degree: np.ndarray, degree_values: np.ndarray | None) -> dict[str, np.ndarray]:
        """As they go into a file; `degree_values` are the levels of the degrees, where the file has such."""
        wanted = self.of(degree)
        if wanted.shape != np.shape(degree) or not (np.abs(wanted) <= LARGEST_TERM).all():
            raise errors.CannotWrite(
                f"each of {len(degree)} items needs a term of at most {LARGEST_TERM:g} in size"
            )
        if self.term is None and degree_values is not None:
            return {"item.term.value": self.of(degree_values).astype(np.float32)}
        if not 2 <= self.levels <= 256:
            raise errors.CannotWrite(f"a term has 2 to 256 levels, not {self.levels}")
        steps = np.unique(wanted.astype(np.float32))
        if len(steps) > self.levels:
            steps = np.linspace(steps[0], steps[-1], self.levels).astype(np.float32)
        return level_tensors("item.term", nearest_levels(wanted, steps), steps)


@dataclass(frozen=True)
class Terms:
    """The same as a reader has it."""

    value: np.ndarray  # (levels,) float64
    level: np.ndarray  # (items,) uint8

    def __getitem__(self, item: int) -> float:
        return float(self.value[self.level[item]])

    def add_to(self, scores: np.ndarray) -> np.ndarray:
        """Scores of all items with their terms."""
        return scores + self.value[self.level]


def coefficients_name(container: Container) -> str:
    """Under what name the filter's coefficients are stored: not under both."""
    if "item.term.value" not in container:
        return PLAIN_COEFFICIENTS
    if PLAIN_COEFFICIENTS in container:
        raise errors.AmbiguousEncoding(
            f"a file with terms of items holds {COEFFICIENTS!r}, and this one {PLAIN_COEFFICIENTS!r} as well"
        )
    return COEFFICIENTS


def read_terms(container: Container, items: int, weights: ItemWeights | None) -> Terms | None:
    """Terms of all items, where the file has them."""
    if "item.term.value" not in container:
        return None
    values = read_values(container, "item.term", ("F32",))
    if not (np.abs(values) <= LARGEST_TERM).all():
        raise errors.BadTerm(f"tensor 'item.term.value': a term is not finite or beyond {LARGEST_TERM:g}")
    if weights is None or "item.term.level" in container:
        container.limit.take(LEVEL_BYTES * items, f"terms of {items:,} items")
        return Terms(values.astype(np.float64), read_levels(container, "item.term", items, len(values)))
    if len(values) != weights.degrees:
        raise errors.WrongCount(f"{len(values)} terms for {weights.degrees} levels of degrees")
    return Terms(values.astype(np.float64), weights.degree_level)
