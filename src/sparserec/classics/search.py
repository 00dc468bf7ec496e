"""Settings of a classic chosen by a score, one setting after another until none improves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sparserec.classics.base import ClassicSettings

Chosen = TypeVar("Chosen", bound=ClassicSettings)


@dataclass(frozen=True)
class Tried(Generic[Chosen]):
    """One point of a search."""

    settings: Chosen
    score: float


def search(
    start: Chosen, score: Callable[[Chosen], float], choices: Mapping[str, Sequence[float]] | None = None
) -> list[Tried[Chosen]]:
    """Everything tried, the best first; of equal scores the one tried earlier. Nothing is scored twice.

    `choices` stand in for the values that the classic itself offers.
    """
    best = Tried(start, score(start))
    tried = [best]
    improved = True
    while improved:
        improved = False
        for name, values in (start.choices if choices is None else choices).items():
            for value in values:
                point = best.settings.with_value(name, value)
                if all(one.settings != point for one in tried):
                    tried.append(Tried(point, score(point)))
            now = max(tried, key=lambda one: one.score)  # the first of equal ones
            improved, best = improved or now.score > best.score, now
    return sorted(tried, key=lambda one: -one.score)
