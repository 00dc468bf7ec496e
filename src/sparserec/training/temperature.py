"""The temperature of base `history`, chosen on validation by short trainings of a narrow table before the run.

The best one depends on how many items there are and how long histories are (.2 on Gowalla, .3 on logs of a few thousand
users), and half a training already ranks temperatures as a whole one does (docs/log.md). Temperatures are tried
outwards from the usual one, in the better direction, until the score falls. Costs are bounded: steps, columns, and
items.
"""

from __future__ import annotations

import numpy as np
import torch

from sparserec.data import Split, UserSampler
from sparserec.evaluation import evaluate
from sparserec.graph import Adjacency
from sparserec.recommenders import TEMPERATURE, History
from sparserec.table import DenseTable, Shape
from sparserec.training.history_step import HistoryStepper
from sparserec.vectors import some_users, unit_rows, user_history

TEMPERATURES = (0.1, 0.15, 0.2, 0.3, 0.45, 0.7)
STEPS, COLUMNS, USERS, LARGEST_SOFTMAX, RANKED_USERS = 160, 32, 128, 4_000_000, 2000
RATE, LAST_RATE = 0.03, 0.002


def choose_temperature(base: History, split: Split, graph: Adjacency, seed: int) -> dict[str, float]:
    """Validation score (NDCG) of every temperature tried, by its name; the largest is the choice."""
    scores: dict[float, float] = {}

    def score(index: int) -> float:
        if not 0 <= index < len(TEMPERATURES):
            return -1.0
        one = TEMPERATURES[index]
        if one not in scores:
            scores[one] = short_training(base, one, split, graph, seed)
        return scores[one]

    at = TEMPERATURES.index(TEMPERATURE)
    direction = 1 if score(at + 1) > score(at) else -1
    while score(at + direction) > score(at):
        at += direction
    return {f"{one:g}": scores[one] for one in sorted(scores)}


def short_training(base: History, temperature: float, split: Split, graph: Adjacency, seed: int) -> float:
    """Validation NDCG of some users after a few steps."""
    changes = {"temperature": temperature, "users_per_batch": USERS, "largest_softmax": LARGEST_SOFTMAX}
    short = History(base.settings.model_copy(update=changes))
    shape = Shape(0, split.n_items, COLUMNS, COLUMNS)
    table = DenseTable.create(shape, short.initial(seed, split.n_users, split.n_items, COLUMNS))
    stepper, sampler = HistoryStepper(short, graph, table, seed), UserSampler(split.train, USERS, seed)
    for step in range(STEPS):
        epoch, index = divmod(step, sampler.steps_per_epoch)
        rate = RATE * (LAST_RATE / RATE) ** (step / (STEPS - 1))
        stepper.run(sampler.batch(epoch, index), step + 1, rate)
    items, history = unit_rows(table), user_history(graph)

    def user_vectors(ids: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(history[ids] @ items)

    k = min(20, split.n_items)
    truth = some_users(split.valid, RANKED_USERS)
    return evaluate(user_vectors, torch.from_numpy(items), split.train, truth, ks=(k,)).metrics[f"ndcg@{k}"]
