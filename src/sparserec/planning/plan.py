"""Between reading the data and training: what the data's size decides about a run, and whether it can run at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from sparserec.data import Source, find_named, own_protocol
from sparserec.errors import SettingError
from sparserec.planning.budget import Choice, Target, choose
from sparserec.planning.estimate import estimate_run, refuse_if_too_big, usable_bytes
from sparserec.planning.settle import MOST_NMF_WORK, Machine, settle_config
from sparserec.planning.sizes import Sizes
from sparserec.process import check_threads
from sparserec.training import RunConfig
from sparserec.units import parse_size


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

    @classmethod
    def of(
        cls,
        budget: str | int | None,
        mode: str,
        most_nmf_work: float | None,
        force: bool,
        threads: int | None = None,
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
        work = MOST_NMF_WORK if most_nmf_work is None else most_nmf_work
        return cls(size, cast(Target, mode), work, force, check_threads(threads))


@dataclass(frozen=True)
class Plan:
    """The configuration to train, and what to tell the user about it."""

    config: RunConfig
    notes: tuple[str, ...]
    choice: Choice | None = None


def plan_run(
    config: RunConfig,
    source: Source,
    options: PlanOptions,
    usable: int | None = None,
    factorises: bool = True,
    processes: int = 1,
) -> Plan:
    """Choose for the budget, settle what is left open, refuse what cannot fit in memory.

    `usable` is the memory left; None asks the system. A warm start factorises nothing.
    """
    usable = usable_bytes() if usable is None else usable
    config, notes = own_files(config, source)
    choice = None
    if options.budget is not None:
        config, choice, chosen = _choose(config, source, options.mode, options.budget)
        notes += chosen
    sizes = Sizes.of_source(source, config.protocol, config.held_out_users)
    machine = Machine(usable, processes, not factorises, options.most_nmf_work)
    settled = settle_config(config, sizes, machine)
    if not options.force:
        found = estimate_run(settled.config, sizes, timed=False, factorises=factorises)
        refuse_if_too_big(found, usable)
    return Plan(settled.config, (*notes, *settled.notes), choice)


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
