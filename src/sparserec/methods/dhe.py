"""dhe: no table; a network computes every row from hashes of its number (deep hash embedding, KDD 2021).

No official code is public. As in the paper and the public re-implementations: universal hash functions modulo a
million, scaled to -1..1; layers of equal width, each a matrix, batch normalisation and Mish, and a linear output. Ours:
one network for users and items, within the budget (the widest there is); no bias before a normalisation, which has its
own; normalisation over all rows, which a graph recommender asks for in every step anyway; rows begin with the spread of
the base's own. SparseRec's paper trains output sizes 8, 16, 32, 64 and 128 and reports the best: preset `published`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field

from sparserec import streams
from sparserec.errors import SettingError
from sparserec.methods.base import Context, Method, Phase, PhaseResult
from sparserec.settings import Settings, Times
from sparserec.table import ComputedTable, Hashes, Table, network_size

MOST_HASHES, FEWEST_HASHES = 1024, 8


class DHESettings(Settings):
    hashes: int | None = Field(None, ge=1)
    """Hash functions; None is the paper's 1024, halved until layers within the budget are at least half as wide."""
    buckets: int = Field(1_000_000, ge=2)
    """Values of a hash function."""
    hidden_layers: int = Field(3, ge=1)
    """Hidden layers; the public benchmark with LightGCN has 3, the paper's figure 5."""
    width: int | None = Field(None, ge=1)
    """Units of every hidden layer; None is as many as the budget allows. A given width is not held to the budget."""
    weights: int | None = Field(None, ge=1)
    """A smaller network than the budget allows: a step costs about 6 multiplications per weight and row."""
    output_dims: tuple[int, ...] = ()
    """Output sizes to train one after the other, the best by validation is kept; none: the run's own `dim`."""
    learning_rate: Annotated[float, Times(0.2, 5)] = Field(1e-3, gt=0)
    """Of the first epoch. Those of the recipe are for tables; networks want smaller ones."""


class DHE(Method):
    name = "dhe"
    settings_kind = DHESettings
    idea = "a network computes every row from hashes of its number"
    paper = "KDD 2021"
    memory = "network"

    def __init__(self, settings: DHESettings) -> None:
        super().__init__(settings)
        self.needs_validation = len(settings.output_dims) > 1

    def phases(self, context: Context) -> list[Phase]:
        """One training per output size, and the choice where there are several."""
        sizes, rate = self.settings.output_dims or (context.dim,), self.settings.learning_rate
        several = len(sizes) > 1
        phases = [
            Phase(
                f"output {dim}" if several else "train",
                context.epochs,
                learning_rate=rate,
                kept=several,
                holds=ComputedTable.held(
                    context.shape(dim), *self._network(context, dim), self.settings.hidden_layers
                ),
            )
            for dim in sizes
        ]
        return [*phases, Phase("choose", 0, scored_first=True, holds=phases[-1].holds)] if several else phases

    def next_phase(self, context: Context, done: list[PhaseResult]) -> Phase | None:
        phase = super().next_phase(context, done)
        if phase is None or phase.name != "choose":
            return phase
        best = max(range(len(done)), key=lambda number: done[number].best_score or 0.0)
        return replace(phase, starts_from=best)

    def _network(self, context: Context, dim: int) -> tuple[int, int]:
        budget = min(self.settings.weights or context.budget, context.budget)
        return fit_network(self.settings, budget, dim)

    def start(self, context: Context, phase: Phase, previous: Table | None) -> Table:
        if phase.name == "choose":
            assert previous is not None
            return previous
        settings = self.settings
        dim = context.dim if phase.name == "train" else int(phase.name.split()[1])
        hashes, width = self._network(context, dim)
        context.record("network", hashes=hashes, width=width, layers=settings.hidden_layers, output=dim)
        rng = np.random.default_rng([context.seed, streams.DHE_NETWORK, dim])
        functions = Hashes.draw(hashes, settings.buckets, rng)
        initial = context.initial(dim)
        spread = max(initial.user_scale, initial.item_scale) * (1.0 if initial.shape == "normal" else 3**-0.5)
        shape = context.shape(dim)
        return ComputedTable.create(shape, functions, width, settings.hidden_layers, spread, rng)


def fit_network(settings: DHESettings, budget: int, dim: int) -> tuple[int, int]:
    """(hash functions, width) of a network with no more weights than the budget, unless its width is given."""
    hashes = settings.hashes or MOST_HASHES
    if settings.width is not None:
        return hashes, settings.width
    width = widest(hashes, settings.hidden_layers, dim, budget)
    while settings.hashes is None and hashes > FEWEST_HASHES and 2 * width < hashes:
        hashes //= 2
        width = widest(hashes, settings.hidden_layers, dim, budget)
    if width < 1:
        raise SettingError(
            f"dhe: no network with {hashes} hash functions and {dim} outputs has {budget:,} weights or fewer; raise "
            "the density, or lower method_settings.hashes"
        )
    return hashes, width


def widest(hashes: int, layers: int, dim: int, budget: int) -> int:
    """Units per hidden layer of the largest network within the budget; 0 where there is none."""
    # network_size is square * w^2 + line * w + dim: solve for w, then put the rounding right.
    square, line = layers - 1, hashes + 2 * layers + dim
    left = max(budget - dim, 0)
    width = (
        int(left / line)
        if square == 0
        else int((math.sqrt(line**2 + 4 * square * left) - line) / (2 * square))
    )
    while network_size(hashes, width + 1, layers, dim) <= budget:
        width += 1
    while width > 0 and network_size(hashes, width, layers, dim) > budget:
        width -= 1
    return width
