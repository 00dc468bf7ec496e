"""Learning what is shipped: codes of an encoding, a few steps with base history's loss on what the file will hold.

A file makes users from its rows of items whatever trained them: they are a sum over their items. So rows of the graph
bases are learnt by the same loss, with their own lengths and the weights that their file gives to items. History's
temperature was chosen for its training; theirs is chosen here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sparserec.data import Interactions
from sparserec.encodings import EncodedVectors, Encoding, Learnt, Material
from sparserec.graph import Adjacency, build_histories
from sparserec.progress import progress
from sparserec.recommenders import MoreSteps, Recommender, Vectors, make_recommender

TEMPERATURES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Tried for rows of the graph bases, times the mean score that a user gives to an item that they have."""
TRIAL = Encoding(4, 16, "shared", "gaps", learnt=True)
"""What a temperature is tried with."""
GRAPH_STEPS = 30
"""Of learning rows of the graph bases; more made them worse (docs/log.md)."""
GRAPH_EXPONENT = 0.5
"""Of the weight that an item has in a history of the graph bases: its number of users to minus this."""


@dataclass(frozen=True)
class Lesson:
    """What rows are learnt from: histories whose users are sums of the rows, and a base with the loss."""

    base: Recommender
    graph: Adjacency
    train: Interactions
    temperature: float | None = None
    """Where it was chosen for the rows; None: the base's own."""

    def steps(self, count: int) -> MoreSteps:
        return self.base.more_steps(self.graph, self.train, count)

    def with_temperature(self, value: float) -> Lesson:
        return replace(self, base=_of_histories(value), temperature=value)


def lesson_of(base: Recommender, vectors: Vectors, train: Interactions) -> Lesson:
    """That of the training where its base has one; else base history's, whose temperature is still to be chosen."""
    if base.learns_codes:
        return Lesson(base, vectors.graph, train)
    lengths = np.linalg.norm(vectors.items, axis=1)
    lengths = np.maximum(lengths, 1e-3 * lengths.mean()).astype(np.float32)  # a row of zeros has no direction
    graph = replace(build_histories(train, GRAPH_EXPONENT), item_lengths=lengths)
    return Lesson(_of_histories(None), graph, train)


def _of_histories(temperature: float | None) -> Recommender:
    return make_recommender("history", {"item_exponent": GRAPH_EXPONENT, "temperature": temperature})


def possible_temperatures(lesson: Lesson, vectors: Vectors) -> list[float]:
    """In the units of the setting, which is multiplied with the mean length of the rows.

    Scores of a graph base have whatever size its training gave them; the mean score of what people have says which.
    """
    users = vectors.folding.users()
    own = np.einsum("pd,pd->p", users[lesson.train.users], vectors.items[lesson.train.items])
    unit = float(np.abs(own).mean()) / float(np.linalg.norm(vectors.items, axis=1).mean())
    return [share * max(unit, 1e-6) for share in TEMPERATURES]


def choose_lesson(lesson: Lesson, vectors: Vectors, score: Callable[[EncodedVectors], float]) -> Lesson:
    """The lesson at the temperature whose short learning scores best; the first of equal ones."""
    everything = np.arange(len(vectors.items))

    def tried(value: float) -> float:
        return score(learn_encoding(vectors, TRIAL, lesson.with_temperature(value), True)(everything))

    return lesson.with_temperature(max(possible_temperatures(lesson, vectors), key=tried))


def learn_encoding(vectors: Vectors, encoding: Encoding, lesson: Lesson, quiet: bool) -> Learnt:
    """What makes a file's tables, learnt on all items."""
    count = encoding.of.steps if lesson.temperature is None else GRAPH_STEPS
    with progress(f"learning {encoding.label}", count, quiet) as bar:
        return encoding.of.learn(encoding, Material(vectors, lesson.train), lesson.steps(count), bar)
