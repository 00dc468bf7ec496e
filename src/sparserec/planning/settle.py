"""The one place where a configuration is completed: from what was asked for, the sizes of the data and the machine to
what will be trained, with a sentence about everything that is not as people might expect.

What was said stands. Defaults that depend on the base stand beside the settings of a method (`item_starts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparserec.methods import make_method
from sparserec.planning.estimate import estimate_run, fits
from sparserec.planning.sizes import Sizes
from sparserec.recommenders import make_recommender
from sparserec.training import RunConfig, default_rate
from sparserec.units import show_bytes

MOST_NMF_WORK = 200.0
"""Largest factorisation, in billions of nodes * rank^2 * iterations: some ten minutes. Gowalla at rank 128 has 58."""
FEWEST_ITERATIONS = 3
"""Three already give the factors their density on Gowalla (.11); the order of magnitude of entries comes later."""
SMALLEST_BATCH = 1000
"""Edges of a step: no fewer were tried."""


@dataclass(frozen=True)
class Machine:
    """What a run may count on."""

    usable: int | None = None
    """Bytes of memory left; None: not known."""
    processes: int = 1
    goes_on: bool = False
    """Whether it goes on from another run, with that one's rows: nothing is factorised."""
    most_nmf_work: float = MOST_NMF_WORK
    """0: no limit."""


@dataclass(frozen=True)
class Settled:
    """The configuration to train, and what to tell the user about it."""

    config: RunConfig
    notes: tuple[str, ...] = ()


Change = tuple[RunConfig, str | None]


def settle_config(config: RunConfig, sizes: Sizes | None, machine: Machine | None = None) -> Settled:
    """The configuration with everything written out that was left open; without sizes what does not depend on them."""
    machine = machine or Machine()
    if sizes is None:
        return Settled(_with_start(config, starts_of(config)[:1]))
    notes = []
    for rule in (settle_start, settle_batches, limit_nmf):
        config, note = rule(config, sizes, machine)
        notes += [note] if note else []
    return Settled(config, tuple(notes))


def starts_of(config: RunConfig) -> tuple[dict[str, Any], ...]:
    """What a method that leaves its start open may start from, best first; who names `init` gets that and nothing
    beside it, and with rows for users the method's own default stands.
    """
    method = make_method(config.method, config.method_settings)
    named = "init" in config.method_settings or make_recommender(config.base, config.base_settings).user_rows
    return () if named else method.item_starts


def settle_start(config: RunConfig, sizes: Sizes, machine: Machine) -> Change:
    """The first start that this machine can take; the last one is for those that cannot take any other."""
    starts = starts_of(config)
    if not starts:
        return config, None
    best, last = _with_start(config, starts[:1]), _with_start(config, starts[-1:])
    if machine.goes_on:
        return last, None
    if machine.processes > 1:
        return last, "several processes share the table: it starts from a factorisation"
    needed = estimate_run(best, sizes, timed=False)
    if fits(needed, machine.usable):
        return best, None
    assert machine.usable is not None
    return last, (
        f"a dense table to start from would take {show_bytes(needed.peak)} of the {show_bytes(machine.usable)} that "
        "are free: the table starts from a factorisation (`method_settings.init=rotated` insists)"
    )


def settle_batches(config: RunConfig, sizes: Sizes, machine: Machine) -> Change:
    """Batches so small that the epochs have the least steps of the recipe: those come from smaller batches before they
    come from more epochs.

    On a log of 24,000 edges 300 steps of small batches were as good as 435 of large ones in more epochs, in a quarter
    of the time. The smaller the batch, the smaller the best rate, about as its root; a rate that somebody chose stays
    (docs/log.md). A base that draws users has a rule of its own.
    """
    recipe = config.recipe
    if not recipe.least_steps or not make_recommender(config.base, config.base_settings).draws_edges:
        return config, None
    wanted = max(SMALLEST_BATCH, sizes.train * recipe.epochs // recipe.least_steps)
    if wanted >= recipe.batch_size:
        return config, None
    note = (
        f"a small log: batches of {wanted:,} instead of {recipe.batch_size:,}, for {recipe.least_steps} steps at least "
        f"(`recipe.batch_size={recipe.batch_size}` keeps them)"
    )
    changes: dict[str, Any] = {"batch_size": wanted}
    if recipe.learning_rate == default_rate(config.base):
        changes["learning_rate"] = recipe.learning_rate * (wanted / recipe.batch_size) ** 0.5
        note += f", and a first rate of {changes['learning_rate']:.2g} instead of {recipe.learning_rate:g}"
    return config.model_copy(update={"recipe": recipe.model_copy(update=changes)}), note


def limit_nmf(config: RunConfig, sizes: Sizes, machine: Machine) -> Change:
    """Fewer NMF iterations where the wanted number is more work than the limit.

    Work, not seconds, is compared, so that the same data gives the same configuration on every machine. A number the
    user gave stands.
    """
    limit = 0.0 if machine.goes_on else machine.most_nmf_work
    wanted = make_method(config.method, config.method_settings).wants_factors
    work = sizes.factorised_nodes * config.dim**2 / 1e9
    if not wanted or "nmf_iterations" in config.method_settings or not limit or wanted * work <= limit:
        return config, None
    iterations = max(FEWEST_ITERATIONS, int(limit / work))
    if iterations >= wanted:
        return config, None
    settings = {**config.method_settings, "nmf_iterations": iterations}
    note = (
        f"factorising {sizes.nodes:,} users and items at rank {config.dim} is long: {iterations} iterations instead of "
        f"{wanted} (`method_settings.nmf_iterations={wanted}` makes all)"
    )
    return config.model_copy(update={"method_settings": settings}), note


def _with_start(config: RunConfig, starts: tuple[dict[str, Any], ...]) -> RunConfig:
    """What was given beside it wins."""
    if not starts:
        return config
    return config.model_copy(update={"method_settings": {**starts[0], **config.method_settings}})
