"""How long and how fast to train: the recipe every method shares, and the paper's own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from sparserec.settings import Settings, Times


class Recipe(Settings):
    epochs: int = Field(30, ge=1)
    """Length of a full training; schedules end here."""
    least_steps: int = Field(0, ge=0)
    """Updates that a training has at least: on a small log batches of edges are smaller, then epochs are more."""
    batch_size: int = Field(8000, ge=1)
    """Train edges per step."""
    batches: Literal["edges", "users"] = "edges"
    """Every train edge once per epoch, or users drawn uniformly."""
    learning_rate: Annotated[float, Times(0.125, 8)] = Field(0.08, gt=0)
    """Learning rate of the first epoch. A search over trainings of tens of epochs chose it (docs/log.md)."""
    final_learning_rate: Annotated[float | None, Times(0.1, 10)] = Field(8e-4, gt=0)
    """Reached in the last epoch; None: use rate_falls_by or rate_decay instead."""
    rate_falls_by: Annotated[float | None, Times(0.25, 8)] = Field(None, ge=1)
    """The last learning rate is the first divided by this, whatever that is; None: use rate_decay instead."""
    rate_fall: Literal["geometric", "linear", "cosine"] = "geometric"
    """Form of the way from the first learning rate to the last."""
    rate_falls: Literal["epochs", "steps"] = "epochs"
    """Whether the learning rate changes between epochs only, or with every step: trainings of few epochs want that."""
    rate_decay: float = Field(1.0, gt=0, le=1)
    """Factor per epoch when final_learning_rate and rate_falls_by are None."""
    rate_floor: float = Field(0.0, ge=0)
    """rate_decay never goes below this."""
    validate_every: int = Field(5, ge=1)
    """Epochs between validations."""
    patience: int = Field(5, ge=1)
    """Validations without a new best that end training."""
    patience_from: float = Field(0.6, ge=0, le=1)
    """Share of the epochs after which patience begins to count."""

    explorations: int = Field(20, ge=1)
    """How often methods that explore do so in one training, spread evenly over its steps whatever its length."""
    explore_every: int | None = Field(None, ge=1)
    """Epochs between explorations, as papers count them, instead of a number of explorations."""
    weight_decay: float = Field(0.0, ge=0)
    """Adam's own (coupled) weight decay on every table entry, the paper's words taken literally; bases decay the rows
    of the batch instead, which base_settings.decay=0 turns off. At the paper's 1e-4 nothing is learnt
    (docs/log.md)."""

    def length(self, steps_per_epoch: int) -> int:
        """Epochs of a full training on data of which an epoch has so many steps."""
        return max(self.epochs, -(-self.least_steps // steps_per_epoch))

    def rate_at(self, step: int, steps_per_epoch: int, epochs: int, first: float | None = None) -> float:
        """Learning rate of an update (0 is the first) in a training of `epochs` that starts at `first`."""
        if self.rate_falls == "epochs":
            return self.rate(step // steps_per_epoch + 1, epochs, first)
        return self.rate(step + 1, epochs * steps_per_epoch, first)

    def rate(self, epoch: int, epochs: int, first: float | None = None) -> float:
        """Learning rate of an epoch (1 is the first) in a training of `epochs` that starts at `first`."""
        first = self.learning_rate if first is None else first
        last = self._last_rate(first)
        if last is None:
            return max(first * self.rate_decay ** (epoch - 1), min(first, self.rate_floor))
        share = (epoch - 1) / max(epochs - 1, 1)
        if self.rate_fall == "linear":
            return first + (last - first) * share
        if self.rate_fall == "cosine":
            return last + (first - last) * (1 + math.cos(math.pi * share)) / 2
        return float(first * (last / first) ** share)

    def _last_rate(self, first: float) -> float | None:
        if self.final_learning_rate is not None:
            return min(first, self.final_learning_rate)
        return None if self.rate_falls_by is None else first / self.rate_falls_by

    def validates_after(self, epoch: int, epochs: int) -> bool:
        """Whether a validation follows this epoch; the last one always has one."""
        return epoch % self.validate_every == 0 or epoch == epochs


_PAPER = {
    "epochs": 500, "batch_size": 8000, "learning_rate": 0.01, "final_learning_rate": None, "rate_decay": 0.995,
    "rate_floor": 5e-4, "explore_every": 5,
}  # fmt: skip
_GRAPH = {
    "epochs": 30, "least_steps": 300, "batch_size": 32000, "learning_rate": 0.12, "final_learning_rate": None,
    "rate_falls_by": 4,
}  # fmt: skip
_HISTORY = {
    "epochs": 8, "least_steps": 800, "learning_rate": 0.02, "final_learning_rate": 2e-4, "rate_falls": "steps",
    "validate_every": 1,
}  # fmt: skip
RECIPES: dict[str, dict[str, Any]] = {
    "default": _GRAPH,
    "fall-100": {"least_steps": 300},
    "plain": {"final_learning_rate": None},
    "history": _HISTORY,
    "paper-rate": {"learning_rate": 0.01},
    "paper": _PAPER,
    "paper-yelp-lightgcn": {**_PAPER, "rate_decay": 0.99},
}
"""`default`: large batches, whose steps cost little more than small ones, and a rate that never gets too small to
move anything (docs/log.md). `fall-100`: the default before, batches of 8,000 and a rate that falls by 100; stored
results name it. `plain`: one rate for all epochs, nothing else set; what `config show` prints begins with it.
`paper`: 500 epochs with the stated decays (.99 for LightGCN on Yelp2018), early stopping from epoch 300.
`paper-rate`: its first learning rate in a training of any length. `history`: a softmax over all items learns from an
epoch what takes a pairwise loss tens of them."""
RATE_OF_BASE: dict[str, float] = {"mgdcf": 0.24}
"""First learning rate of the recipe `default` where it is not its own."""
RECIPE_OF_BASE: dict[str, str] = {"history": "history"}
"""The recipe of a base where none is named; of all others it is `default`."""


def default_rate(base: str) -> float:
    """First learning rate of the recipe `default` on a base."""
    return RATE_OF_BASE.get(base, float(RECIPES["default"]["learning_rate"]))


@dataclass
class EarlyStop:
    """Counts validations without a new best once patience has begun."""

    best_score: float | None = None
    best_epoch: int = 0
    waited: int = 0
    parameters: int = 0  # of the best table

    def see(self, epoch: int, score: float, counts: bool, parameters: int = 0) -> bool:
        """Take a validation score; True when it is a new best.

        A best found while the table was still on its way to its budget, from below or above, counts no more once its
        size has changed.
        """
        if self.best_score is None or score > self.best_score or parameters != self.parameters:
            self.best_score, self.best_epoch, self.waited, self.parameters = score, epoch, 0, parameters
            return True
        if counts:
            self.waited += 1
        return False
