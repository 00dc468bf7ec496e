"""The one place where a configuration is completed: from what was asked for, the sizes of the data and the machine to
what will be trained, with a sentence about everything that is not as people might expect.

What was said stands. Defaults that depend on the base stand beside the settings of a method (`item_starts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from sparserec.data import Source, find_named, own_protocol
from sparserec.distributed import ALONE, Processes
from sparserec.errors import SettingError
from sparserec.methods import METHODS, make_method
from sparserec.planning.budget import Choice, Target, choose
from sparserec.planning.estimate import Estimate, estimate_run, fits, refuse_if_too_big
from sparserec.planning.memory_plan import Sizes
from sparserec.planning.timing import StandIn, make_stand_in
from sparserec.process import check_threads, usable_bytes
from sparserec.recommenders import RECOMMENDERS, make_recommender
from sparserec.training import RunConfig, default_rate
from sparserec.units import parse_size, show_bytes

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
    """Bytes of memory left; None: enough."""
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
    choice: Choice | None = None
    """What a budget was spent on."""


Change = tuple[RunConfig, str | None]


def settle_config(config: RunConfig, sizes: Sizes | None, machine: Machine | None = None) -> Settled:
    """The configuration with everything written out that was left open; without sizes what does not depend on them."""
    machine = machine or Machine()
    config, note = settle_start(config, sizes, machine)
    notes = [note]
    if sizes is not None:
        for rule in (settle_batches, limit_nmf):
            config, note = rule(config, sizes, machine)
            notes.append(note)
    return Settled(config, tuple(note for note in notes if note))


def settle_start(config: RunConfig, sizes: Sizes | None, machine: Machine) -> Change:
    """The first start that this machine can take; the last one is for those that cannot take any other.

    Who names `init` gets that and nothing beside it, and with rows for users the method's own default stands.
    """
    starts = make_method(config.method, config.method_settings).item_starts
    user_rows = make_recommender(config.base, config.base_settings).user_rows
    if not starts or "init" in config.method_settings or user_rows:
        return config, None
    best, last = (
        config.model_copy(update={"method_settings": {**one, **config.method_settings}})
        for one in (starts[0], starts[-1])
    )
    if machine.goes_on:
        return last, None
    if machine.processes > 1:
        return last, "several processes share the table: it starts from a factorisation"
    if sizes is None or machine.usable is None:
        return best, None
    needed = estimate_run(best, sizes, timed=False)
    if fits(needed, machine.usable):
        return best, None
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
    if not wanted or "nmf_iterations" in config.method_settings or not limit:
        return config, None
    work = sizes.factorised_nodes * config.dim**2 / 1e9
    iterations = max(FEWEST_ITERATIONS, int(limit / work))
    if iterations >= wanted:
        return config, None
    settings = {**config.method_settings, "nmf_iterations": iterations}
    note = (
        f"factorising {sizes.nodes:,} users and items at rank {config.dim} is long: {iterations} iterations instead of "
        f"{wanted} (`method_settings.nmf_iterations={wanted}` makes all)"
    )
    return config.model_copy(update={"method_settings": settings}), note


# Between reading the data and training: what the data's size decides about a run, and whether it can run at all.

SMALL_RUN, SMALL_BYTES = 2**20, 10**9
"""Nodes times columns, and interactions, that take no gigabyte whatever the method: the largest takes .3 (XSimGCL with
DHE), so that nothing has to be worked out."""


@dataclass(frozen=True)
class PlanOptions:
    """What a user asked for that the size of the data decides."""

    budget: int | None = None
    """Bytes of the file that will be shipped."""
    mode: Target = "items"
    """What the file will be made for."""
    most_nmf_work: float = MOST_NMF_WORK
    force: bool = False
    """Go on even where the run will not fit into memory."""
    threads: int | None = None
    """None: one for a small log, else all cores."""
    processes: Processes = ALONE
    """Who share the training."""

    @classmethod
    def of(
        cls,
        budget: str | int | None,
        mode: str,
        most_nmf_work: float | None,
        force: bool,
        threads: int | None = None,
        processes: Processes = ALONE,
    ) -> PlanOptions:
        """Options as people write them; a mistake is told before any data is read."""
        if mode not in get_args(Target):
            raise SettingError(f"mode {mode!r}: a file to ship is one of {' or '.join(get_args(Target))}")
        if most_nmf_work is not None and most_nmf_work < 0:
            raise SettingError(f"most-nmf-work {most_nmf_work:g}: must not be negative; 0 is no limit")
        try:
            size = None if budget is None else parse_size(str(budget))
        except SettingError as error:
            raise SettingError(f"budget: {error}") from None
        if threads is not None:
            check_threads(threads)
        work = MOST_NMF_WORK if most_nmf_work is None else most_nmf_work
        return cls(size, cast(Target, mode), work, force, threads, processes)


def plan_run(
    config: RunConfig,
    source: Source,
    options: PlanOptions,
    usable: int | None = None,
    factorises: bool = True,
) -> Settled:
    """Choose for the budget, settle what is left open, refuse what cannot fit in memory.

    `usable` is the memory left; None asks the system. A warm start factorises nothing.
    """
    left = usable_bytes() if usable is None else usable
    config, notes = own_files(config, source)
    choice = None
    if options.budget is not None:
        config, choice, chosen = _choose(config, source, options.mode, options.budget)
        notes += chosen
    sizes = Sizes.of_source(source, config.protocol, config.held_out_users)
    small = left >= SMALL_BYTES and sizes.nodes * config.dim + sizes.interactions <= SMALL_RUN
    usable = None if small else left
    machine = Machine(usable, options.processes.count, not factorises, options.most_nmf_work)
    settled = settle_config(config, sizes, machine)
    if usable is not None and not options.force:
        found = estimate_run(settled.config, sizes, timed=False, factorises=factorises)
        refuse_if_too_big(found, usable)
    return Settled(settled.config, (*notes, *settled.notes), choice)


def own_files(config: RunConfig, source: Source) -> tuple[RunConfig, list[str]]:
    """Who brings a test file and names no protocol means that file; published sets are split as the paper does."""
    if "protocol" in config.model_fields_set or own_protocol(source) == config.protocol:
        return config, []
    if find_named(config.data) is not None and not Path(config.data).exists():
        return config, []
    valid = "its own files" if source.valid is not None else "an eighth of each user's train for validation"
    note = f"protocol files: the test file is the test set, with {valid}; `protocol` names another split"
    return config.model_copy(update={"protocol": "files"}), [note]


def _choose(
    config: RunConfig, source: Source, target: Target, budget: int
) -> tuple[RunConfig, Choice, list[str]]:
    """Dimension and density for a budget; what the user gave, in whatever way, stands and is notes to."""
    given = config.model_fields_set & {"dim", "density"}
    choice = choose(source, target, budget, config.protocol, config.dim if "dim" in given else None)
    chosen = {"dim": choice.dim, "density": choice.density}
    notes = choice.lines() + [
        f"  {name} {getattr(config, name):g} was given and stands" for name in sorted(given, reverse=True)
    ]
    update = {name: value for name, value in chosen.items() if name not in given}
    return config.model_copy(update=update), choice, notes


# Estimates side by side: every method on one base, one method on every base.


def estimate_all(config: RunConfig, sizes: Sizes, timed: bool = True) -> list[Estimate]:
    """Every method on the run's base, then the run's method on every other base; other settings are defaults."""
    pairs = [(config.base, method) for method in dict.fromkeys([*METHODS, config.method])]
    pairs += [(base, config.method) for base in RECOMMENDERS if base != config.base]
    stand_ins: dict[str, StandIn] = {}
    found = []
    for base, method in pairs:
        own: dict[str, Any] = {} if base == config.base else {"base": base, "base_settings": {}}
        own |= {} if method == config.method else {"method": method, "method_settings": {}}
        one = settle_config(config.model_copy(update=own), sizes).config
        if timed and base not in stand_ins:
            stand_ins[base] = make_stand_in(sizes, make_recommender(base, one.base_settings))
        found.append(estimate_run(one, sizes, timed, stand_ins.get(base)))
    return found
