"""How much each item of a history adds to the vector of a new user, since format 1.1: a weight of its own.

1.0 knows the weights of the graph's normalisation alone, degree^-1/2 (`scorers.insertion_weights`). Weights are stored,
not computed from an exponent: powers differ in their last bit from one language to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import errors
from .container import Container
from .levels import (
    MOST_LEVELS,
    count_levels,
    level_tensors,
    nearest_levels,
    ratio_levels,
    read_levels,
    read_values,
)

SIZE_POWERS = (0.0, 0.5, 1.0)
LARGEST_WEIGHT = 1e6
COUNTS = ("U8", "U16", "U32")


@dataclass(frozen=True)
class FoldInWeights:
    """user vector = |history|^-size_power * sum of weight_i * row_i, as a writer is told it."""

    exponent: float = 0.5
    """weight_i = degree_i^-exponent, unless `weight` is given."""
    size_power: float = 0.5
    """0, .5 or 1. It scales all scores of a user alike, so without terms of items it changes no ranking."""
    weight: Sequence[float] | np.ndarray | None = None
    """A weight for each item, not negative."""
    levels: int = MOST_LEVELS
    """How many different weights, and degrees, a file may hold: 256 cost a byte an item, 16 half a byte."""

    def tensors(self, degree: np.ndarray) -> dict[str, np.ndarray]:
        """Degrees and weights as they go into a file. Weights that follow from the degree share its levels."""
        if self.size_power not in SIZE_POWERS or not 2 <= self.levels <= MOST_LEVELS:
            raise errors.CannotWrite(
                f"fold-in: size_power must be 0, .5 or 1 and levels 2 to {MOST_LEVELS}: {self}"
            )
        values = count_levels(np.asarray(degree), self.levels)
        tensors = level_tensors("item.degree", _nearest_counts(degree, values), values.astype(np.uint32))
        if self.weight is None:
            powers = np.maximum(values, 1).astype(np.float64) ** -self.exponent
            return tensors | {"item.weight.value": powers.astype(np.float32)}
        weight = np.asarray(self.weight, np.float64)
        if weight.shape != np.shape(degree) or not ((weight >= 0) & (weight <= LARGEST_WEIGHT)).all():
            raise errors.CannotWrite(
                f"fold-in: each of {len(degree)} items needs a weight from 0 to {LARGEST_WEIGHT:g}"
            )
        steps = ratio_levels(weight, self.levels)
        return tensors | level_tensors("item.weight", nearest_levels(weight, steps), steps)

    def weights(self, degree: np.ndarray) -> np.ndarray:
        """The weight of each item as a reader sees it: (items,) float64."""
        tensors = self.tensors(degree)
        values = tensors["item.weight.value"].astype(np.float64)
        if self.weight is None:
            return values[_nearest_counts(degree, tensors["item.degree.value"])]
        return values[nearest_levels(np.asarray(self.weight, np.float64), tensors["item.weight.value"])]


@dataclass(frozen=True)
class ItemWeights:
    """The same as a reader has it."""

    value: np.ndarray  # (levels,) float64
    level: np.ndarray  # (items,) uint8
    size_power: float
    degrees: int  # how many levels of degrees there are
    degree_level: np.ndarray  # (items,) uint8

    def edges(self, items: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """What the row of each item of a history is multiplied with."""
        size = float(len(items))
        share = {0.0: 1.0, 0.5: 1.0 / np.sqrt(size), 1.0: 1.0 / size}[self.size_power]
        return weights * (self.value[self.level[items]] * share)


def read_fold_in(container: Container, items: int, size_power: float) -> tuple[ItemWeights, np.ndarray]:
    """Weights and degrees of all items."""
    if "item.degree" in container:
        raise errors.AmbiguousEncoding(
            "a file with fold-in weights holds its degrees as levels, and this one both ways"
        )
    degrees = read_values(container, "item.degree", COUNTS, least=2)
    level = read_levels(container, "item.degree", items, len(degrees))
    weight = read_values(container, "item.weight", ("F32",))
    if not ((weight >= 0) & (weight <= LARGEST_WEIGHT)).all():
        raise errors.BadWeight(
            f"tensor 'item.weight.value': a weight is not between 0 and {LARGEST_WEIGHT:g}"
        )
    own = level
    if "item.weight.level" in container:
        own = read_levels(container, "item.weight", items, len(weight))
    elif len(weight) != len(degrees):
        raise errors.WrongCount(f"{len(weight)} weights for {len(degrees)} levels of degrees")
    return ItemWeights(weight.astype(np.float64), own, size_power, len(degrees), level), degrees[level]


def _nearest_counts(counts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Nearest by ratio: what a weight of a power of the degree is least wrong with."""
    return nearest_levels(np.log1p(np.asarray(counts, np.float64)), np.log1p(values.astype(np.float64)))
