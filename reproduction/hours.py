"""How long trainings would take on this machine, with few measurements.

`planning` times a training by a few steps of it. Hundreds of cells are of few kinds: every method is timed once on each
base, with the data set and batches met first, and every other data set and size of batches once on each base, with the
dense table; a cell takes its method's time times what these cost more. Bases are not multiplied: a network or
thresholds cost a step the same whatever the base adds to it, a narrow table makes the base itself cheaper. It is timed
on a training that is a quarter as large in all respects. Right within a factor of two or three, which is what planning
days of training needs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reproduction.jobs import Job
from sparserec.data import resolve
from sparserec.errors import SparserecError
from sparserec.planning import Sizes, estimate_run
from sparserec.progress import progress
from sparserec.recommenders import make_recommender
from sparserec.training import RunConfig

TIMED_EPOCHS = 10
TIMED_DENSITY = 0.125
SHRINK = 4
"""Users, items, interactions and batches are divided by this for the timing: as many steps, each so much shorter."""


@dataclass(frozen=True)
class Times:
    """Seconds of a training of `TIMED_EPOCHS` epochs."""

    nmf: float
    rest: float


@dataclass
class Stopwatch:
    """Measures each kind of training once."""

    data_dir: Path | None = None
    first: dict[str, RunConfig] = field(default_factory=dict)
    """By base, the place where methods are timed."""
    known: dict[str, Times] = field(default_factory=dict)
    factorised: set[str] = field(default_factory=set)

    def seconds(self, config: RunConfig) -> float:
        """Seconds of a whole training; a factorisation counts for the first training that needs it."""
        first = self.first.setdefault(config.base, config)
        own = self._timed(_at(config, first))
        here = there = 1.0
        if _steps(config) != _steps(first):
            here, there = (self._timed(_dense(place)).rest for place in (config, first))
        length = config.recipe.epochs / TIMED_EPOCHS
        nmf = own.nmf if _place(config) not in self.factorised else 0.0
        if own.nmf:
            self.factorised.add(_place(config))
        return nmf + own.rest * here / there * length

    def _timed(self, config: RunConfig) -> Times:
        key = json.dumps(config.model_dump(mode="json"), sort_keys=True)
        if key not in self.known:
            found = estimate_run(_smaller_batches(config), _smaller(self._sizes(config))).seconds or {}
            # Ranking costs users times items. So do steps whose batches hold a number of users.
            base = make_recommender(config.base, config.base_settings)
            steps = SHRINK if base.draws_edges else SHRINK**2
            rest = found["train"] * steps + found["evaluate"] * SHRINK**2
            self.known[key] = Times(found["nmf"] * SHRINK, rest)
        return self.known[key]

    def _sizes(self, config: RunConfig) -> Sizes:
        named = None if config.read else Sizes.of_named(config.data, config.protocol)
        return named or Sizes.of_source(
            resolve(config.data, data_dir=self.data_dir, **config.read), config.protocol
        )


def _smaller(sizes: Sizes) -> Sizes:
    parts = {name: max(2, getattr(sizes, name) // SHRINK) for name in ("users", "items", "train", "held_out")}
    ranked = sizes.held_out_users
    return replace(sizes, **parts, held_out_users=None if ranked is None else max(1, ranked // SHRINK))


def _smaller_batches(config: RunConfig) -> RunConfig:
    size = max(1, config.recipe.batch_size // SHRINK)
    return config.model_copy(update={"recipe": config.recipe.model_copy(update={"batch_size": size})})


def _place(config: RunConfig) -> str:
    return f"{config.data} {config.protocol} {config.base} {config.dim}"


def _steps(config: RunConfig) -> str:
    """What decides how many steps an epoch has and what the base adds to each."""
    return f"{_place(config)} {config.recipe.batch_size} {config.recipe.batches}"


def _kind(config: RunConfig) -> RunConfig:
    """The training without what hardly changes its speed."""
    given = config.recipe
    recipe = type(given)(epochs=TIMED_EPOCHS, batch_size=given.batch_size, batches=given.batches)
    return config.model_copy(
        update={"recipe": recipe, "density": TIMED_DENSITY, "seed": 0, "test_epochs": ()}
    )


def _at(config: RunConfig, place: RunConfig) -> RunConfig:
    """The method of a training at another one's place and recipe; how many rows are candidates is all the same."""
    settings = {name: value for name, value in config.method_settings.items() if name != "candidate_ratio"}
    return _kind(place).model_copy(update={"method": config.method, "method_settings": settings})


def _dense(place: RunConfig) -> RunConfig:
    return _kind(place).model_copy(update={"method": "dense", "method_settings": {}})


def with_hours(jobs: Sequence[Job], stopwatch: Stopwatch, quiet: bool = True) -> list[Job]:
    """Jobs with what they would still take; those that cannot be built, or timed, stay without."""
    timed = []
    with progress("timing kinds of trainings", len(jobs), quiet) as bar:
        for job in jobs:
            timed.append(replace(job, seconds=_left(job, stopwatch)))
            bar.advance(1, job.name)
    return timed


def _left(job: Job, stopwatch: Stopwatch) -> float | None:
    if job.state == "done":
        return 0.0
    if job.config is None:
        return None
    try:
        whole = stopwatch.seconds(job.config)
    except SparserecError:
        return None
    epochs = job.lengths * job.config.recipe.epochs
    return whole * job.lengths * max(0.0, 1.0 - job.epochs_done / epochs)
