"""Between reading the data and training: what the data's size decides about a run, and whether it can run at all."""

from __future__ import annotations

from dataclasses import dataclass

from sparserec.data import Source
from sparserec.planning.budget import Choice, Target, choose
from sparserec.planning.estimate import NMF_LIMIT, estimate, limit_nmf, refuse_if_too_big, usable_bytes
from sparserec.planning.sizes import Sizes
from sparserec.training.config import RunConfig


@dataclass(frozen=True)
class Wishes:
    """What a user asked for that depends on the data."""

    budget: int | None = None
    """Bytes of the file that will be shipped."""
    target: Target = "items"
    fixed_dim: int | None = None
    """A dimension the user gave, which a budget must respect."""
    fixed_density: float | None = None
    nmf_limit: float = NMF_LIMIT
    factorises: bool = True
    """False for a warm start, which makes no factorisation."""
    force: bool = False
    """Go on even where the run will not fit into memory."""


@dataclass(frozen=True)
class Plan:
    """The configuration to train, and what to tell the user about it."""

    config: RunConfig
    said: tuple[str, ...]
    choice: Choice | None = None


def plan_run(config: RunConfig, source: Source, wishes: Wishes, usable: int | None = None) -> Plan:
    """Choose for the budget, shorten a long factorisation, and refuse what cannot fit into memory.

    `usable` is the memory left; None asks the system.
    """
    said: list[str] = []
    choice = None
    if wishes.budget is not None:
        choice = choose(source, wishes.target, wishes.budget, config.protocol, wishes.fixed_dim)
        density = choice.density if wishes.fixed_density is None else wishes.fixed_density
        config = config.model_copy(update={"dim": choice.dim, "density": density})
        said += choice.lines()
    sizes = Sizes.of_source(source, config.protocol)
    if wishes.factorises:
        config, shortened = limit_nmf(config, sizes, wishes.nmf_limit)
        said += [shortened] if shortened else []
    if not wishes.force:
        found = estimate(config, sizes, timed=False)
        refuse_if_too_big(found, usable_bytes() if usable is None else usable)
    return Plan(config, tuple(said), choice)
