"""How long trainings would take: few kinds are timed, and what other data and batches cost is counted once."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from reproduction.cells import Overrides
from reproduction.hours import Stopwatch, Times, with_hours
from reproduction.jobs import Place, list_jobs
from sparserec.training import RunConfig, build_config

PLACES = (("dsl", 0.125), ("dsl", 0.25), ("pep", 0.125))


def test_a_method_is_timed_on_every_base_once(tmp_path: Path) -> None:
    """A cell's time is that of its method on its base: what a base costs more is not multiplied into a method's own."""
    overrides = Overrides("world", 2, ("dim=8",))
    only = [f"{base} {density} {name}" for base in ("lightgcn", "mgdcf") for name, density in PLACES]
    jobs = list_jobs(["table1"], overrides, only, Place(tmp_path))
    stopwatch = Stopwatch()
    timed = [job for job in with_hours(jobs, stopwatch) if job.config is not None]
    kinds = {(values["base"], values["method"]) for values in map(json.loads, stopwatch.known)}
    assert kinds == set(product(("lightgcn", "mgdcf"), ("dsl", "pep"))) and len(stopwatch.known) == 4
    for job in timed:
        assert job.config is not None and job.seconds is not None
        own = next(
            times
            for key, times in stopwatch.known.items()
            if (job.config.base, job.config.method) == (json.loads(key)["base"], json.loads(key)["method"])
        )
        assert job.seconds == pytest.approx(own.rest * 2 / 10)
    half = with_hours([timed[0], timed[0].__class__(**{**vars(timed[0]), "epochs_done": 1})], stopwatch)
    assert half[1].seconds == pytest.approx((half[0].seconds or 0.0) / 2)


class Counted(Stopwatch):
    """Without a clock: a step of 1 s on `first` and of 3 s on any other data, an epoch of 64,000 pairs."""

    def _timed(self, config: RunConfig) -> Times:
        step = {"first": 1.0}.get(config.data, 3.0) * (2.0 if config.method == "pep" else 1.0)
        return Times(0.0, step * config.recipe.epochs * 64_000 / config.recipe.batch_size)


@pytest.mark.parametrize(
    ("data", "batch", "seconds"),
    [
        ("first", 32_000, 2 * 2 * 20.0),
        ("first", 2_000, 2 * 32 * 20.0),
        ("second", 32_000, 2 * 3 * 2 * 20.0),
        ("second", 2_000, 2 * 3 * 32 * 20.0),
    ],
)
def test_smaller_batches_and_other_data_count_once(data: str, batch: int, seconds: float) -> None:
    """PEP, twice a dense step, 20 epochs: of 2 steps with batches of 32,000 and of 32 with batches of 2,000."""

    def config(data: str, batch: int) -> RunConfig:
        recipe = {"epochs": 20, "batch_size": batch, "learning_rate": 0.1}
        return build_config({"data": data, "base": "lightgcn", "method": "pep", "recipe": recipe})

    stopwatch = Counted()
    assert stopwatch.seconds(config("first", 32_000)) == 80.0
    assert stopwatch.seconds(config(data, batch)) == pytest.approx(seconds)
