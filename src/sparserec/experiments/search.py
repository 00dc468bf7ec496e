"""Rates by halving: short trainings of every rate, the best two and more in full, the winner measured on the test set.

A `[[search]]` of a queue file has a `name`, `rates`, optional `short_epochs` (3), `finish` (2) and `priority`, and the
settings of a run. It unfolds into runs as their results come in, so a stopped queue goes on where it was:

    NAME@RATE-short   every rate, whole trainings of `short_epochs`; while the best is the smallest or the largest rate,
                      half or twice that rate is tried too
    NAME@RATE         the best `finish` of them at the recipe's length, test set closed; while the best of these is the
                      smallest or the largest of them, the next rate too: short trainings like larger rates
    NAME=RATE         the best of these by validation, its test set opened: trained again only if its folder is gone
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field

from sparserec.settings import Settings

MOST_RATES, MOST_WHOLE = 8, 5
"""A search whose edge still wins after so many rates, short or in full, ends there."""


Keys = TypeVar("Keys", bound=Settings)


def take_keys(kind: type[Keys], entry: dict[str, Any], where: str) -> Keys:
    """Takes the keys of this kind out of a table of a queue file; what is left in it are settings of runs."""
    return kind.parse({name: entry.pop(name) for name in kind.model_fields if name in entry}, where)


class SearchKeys(Settings):
    """What a `[[search]]` says of itself."""

    model_config = ConfigDict(strict=True)  # TOML has numbers: a text in place of one is a mistake

    name: str = Field(min_length=1)
    rates: list[Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(min_length=2)
    short_epochs: int = Field(3, ge=1)
    finish: int = Field(2, ge=1)


@dataclass(frozen=True)
class Search:
    """Which rates to try, and how."""

    name: str
    rates: tuple[float, ...]
    short_epochs: int
    finish: int

    @classmethod
    def parse(cls, entry: dict[str, Any], where: str) -> Search:
        """Takes its own keys out of a `[[search]]`; what is left are settings of its runs."""
        keys = take_keys(SearchKeys, entry, where)
        return cls(keys.name, tuple(sorted(set(keys.rates))), keys.short_epochs, keys.finish)

    def owns(self, run: str) -> bool:
        """Whether a run of this name is one of its own, or may become one: which, only its results will say."""
        return re.fullmatch(rf"{re.escape(self.name)}[@=]\d[\d.e+-]*(-short)?", run) is not None


@dataclass(frozen=True)
class Step:
    """One run of a search."""

    name: str
    changes: dict[str, Any]
    """What it has that the search's settings have not."""
    opens: str | None = None
    """Nothing is trained: the test set of this finished run is opened."""


def unfold(search: Search, scores: dict[str, float | None]) -> list[Step]:
    """The runs known so far. `scores` are validation scores of finished runs by name, None of failed ones."""
    rates = list(search.rates)
    while _finished(search, rates, scores, short=True) and len(rates) < MOST_RATES:
        best = _ranked(search, rates, scores, short=True)[0]
        if best == rates[-1]:
            rates.append(2 * best)
        elif best == rates[0]:
            rates.insert(0, best / 2)
        else:
            break
    steps = [_short(search, rate) for rate in rates]
    if not _finished(search, rates, scores, short=True):
        return steps
    chosen = _in_full(search, rates, scores)
    steps += [_full(search, rate) for rate in chosen]
    if _finished(search, chosen, scores, short=False):
        winner = _ranked(search, chosen, scores, short=False)[0]
        if scores[_name(search, winner, short=False)] is not None:
            opened = _name(search, winner, short=False)
            rate = {"recipe": {"learning_rate": winner}}
            steps.append(Step(f"{search.name}={winner:g}", rate, opens=opened))
    return steps


def _in_full(search: Search, rates: list[float], scores: dict[str, float | None]) -> list[float]:
    """Rates to train at full length, as far as they are known."""
    chosen = _ranked(search, rates, scores, short=True)[: search.finish]
    while 1 < len(chosen) < MOST_WHOLE and _finished(search, chosen, scores, short=False):
        best = _ranked(search, chosen, scores, short=False)[0]
        if best == min(chosen):
            chosen.append(max((rate for rate in rates if rate < best), default=best / 2))
        elif best == max(chosen):
            chosen.append(min((rate for rate in rates if rate > best), default=best * 2))
        else:
            break
    return chosen


def _name(search: Search, rate: float, short: bool) -> str:
    return f"{search.name}@{rate:g}{'-short' if short else ''}"


def _short(search: Search, rate: float) -> Step:
    epochs = search.short_epochs
    recipe = {"learning_rate": rate, "epochs": epochs, "validate_every": epochs}
    return Step(_name(search, rate, short=True), {"recipe": recipe, "open_test": False})


def _full(search: Search, rate: float) -> Step:
    return Step(_name(search, rate, short=False), {"recipe": {"learning_rate": rate}, "open_test": False})


def _finished(search: Search, rates: list[float], scores: dict[str, float | None], short: bool) -> bool:
    return all(_name(search, rate, short) in scores for rate in rates)


def _ranked(search: Search, rates: list[float], scores: dict[str, float | None], short: bool) -> list[float]:
    """Best first; a rate whose training failed comes last, of equal ones the smaller rate first."""

    def key(rate: float) -> tuple[float, float]:
        score = scores[_name(search, rate, short)]
        return (float("-inf") if score is None else score, -rate)

    return sorted(rates, key=key, reverse=True)
