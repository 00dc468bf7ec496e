"""Temperature and lengths of base `history`, chosen on validation by short trainings of a narrow table before the run.

The best temperature depends on how often items occur (.2 on Gowalla, .3 to .5 on logs of a few thousand users, 2 where
most items have one user), and half a training already ranks temperatures as a whole one does. The smaller the log, the
more is won when items that many have are longer (docs/log.md). Values are tried outwards from the usual one, in the
better direction, until the score falls. Costs are bounded: steps, columns, and items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from sparserec.data import Split, UserSampler
from sparserec.evaluation import evaluate, some_users
from sparserec.progress import progress, say
from sparserec.recommenders.fold_in import user_history
from sparserec.recommenders.history.settings import TEMPERATURE
from sparserec.recommenders.propagate import scaled_rows
from sparserec.table import DenseTable, Shape

if TYPE_CHECKING:
    from sparserec.recommenders.history.base import History

TEMPERATURES = (0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.2, 2.2, 4.0)
LENGTH, LENGTHS = 0.1, (0.0, 0.1, 0.2, 0.3, 0.4)
STEPS, COLUMNS, USERS, LARGEST_SOFTMAX, RANKED_USERS = 160, 32, 128, 4_000_000, 2000
RATE, LAST_RATE = 0.03, 0.002


def choose_temperature(base: History, split: Split, seed: int, quiet: bool = True) -> dict[str, float]:
    """Validation score (NDCG) of every temperature tried, by its name; the largest is the choice."""
    lengths = base.settings.length_exponent
    known = base.changed(length_exponent=LENGTH if lengths is None else lengths)

    def score(value: float) -> float:
        return short_training(known.changed(temperature=value), split, seed)

    say("choosing the temperature: short trainings, compared on validation", quiet)
    with progress("choosing the temperature", len(TEMPERATURES), quiet) as bar:
        return outwards(TEMPERATURES, TEMPERATURE, score, bar.advance)


def choose_length(base: History, split: Split, seed: int, quiet: bool = True) -> dict[str, float]:
    """The same for the exponent of the items' lengths, at the temperature of the recommender."""

    def score(value: float) -> float:
        return short_training(base.changed(length_exponent=value), split, seed)

    say("choosing lengths of items in the same way", quiet)
    with progress("choosing lengths of items", len(LENGTHS), quiet) as bar:
        return outwards(LENGTHS, LENGTH, score, bar.advance)


def outwards(
    values: tuple[float, ...],
    first: float,
    score: Callable[[float], float],
    tried: Callable[[int, str], None] = lambda count, value: None,
) -> dict[str, float]:
    """Scores by value: of the first, then of those on its better side until one is worse; `tried` hears of each."""
    scores: dict[float, float] = {}

    def at(index: int) -> float:
        if not 0 <= index < len(values):
            return -1.0
        one = values[index]
        if one not in scores:
            scores[one] = score(one)
            tried(1, f"{one:g}")
        return scores[one]

    here = values.index(first)
    direction = 1 if at(here + 1) > at(here) else -1
    while at(here + direction) > at(here):
        here += direction
    return {f"{one:g}": scores[one] for one in sorted(scores)}


def short_training(base: History, split: Split, seed: int) -> float:
    """Validation NDCG of some users after a few steps."""
    short = base.changed(users_per_batch=USERS, largest_softmax=LARGEST_SOFTMAX)
    graph = short.graph(split.train)
    shape = Shape(0, split.n_items, COLUMNS, COLUMNS)
    table = DenseTable.create(shape, short.initial(seed, split.n_users, split.n_items, COLUMNS))
    stepper, sampler = short.stepper(graph, table, seed), UserSampler(split.train, USERS, seed)
    for step in range(STEPS):
        epoch, index = divmod(step, sampler.steps_per_epoch)
        rate = RATE * (LAST_RATE / RATE) ** (step / (STEPS - 1))
        stepper.run(sampler.batch(epoch, index), step + 1, rate)
    items, history = scaled_rows(table, graph), user_history(graph)

    def user_vectors(ids: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(history[ids] @ items)

    k = min(20, split.n_items)
    truth = some_users(split.valid, RANKED_USERS)
    return evaluate(user_vectors, torch.from_numpy(items), split.train, truth, ks=(k,)).metrics[f"ndcg@{k}"]
