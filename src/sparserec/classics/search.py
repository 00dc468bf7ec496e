"""Settings of a classic chosen by a score, one setting after another until none improves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sparserec.classics.base import ClassicSettings


@dataclass(frozen=True)
class Tried:
    """One point of a search."""

    settings: ClassicSettings
    score: float


def search(start: ClassicSettings, score: Callable[[ClassicSettings], float]) -> list[Tried]:
    """Everything tried, the best first; of equal scores the one tried earlier. Nothing is scored twice."""
    best = Tried(start, score(start))
    tried = [best]
    improved = True
    while improved:
        improved = False
        for name, values in start.choices.items():
            for value in values:
                point = best.settings.with_value(name, value)
                if all(one.settings != point for one in tried):
                    tried.append(Tried(point, score(point)))
            now = max(tried, key=lambda one: one.score)  # the first of equal ones
            improved, best = improved or now.score > best.score, now
    return sorted(tried, key=lambda one: -one.score)
