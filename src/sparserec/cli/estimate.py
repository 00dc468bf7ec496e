"""sparserec estimate: what a run will take, before it is started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from sparserec.cli import options
from sparserec.cli.typed import as_typed

if TYPE_CHECKING:
    from sparserec.planning import Estimate, Sizes
    from sparserec.training import RunConfig


@options.with_settings
def estimate(
    context: typer.Context,
    users: Annotated[Optional[int], typer.Option(min=1, help="Instead of data: how many users.")] = None,
    items: Annotated[Optional[int], typer.Option(min=1, help="Instead of data: how many items.")] = None,
    interactions: Annotated[
        Optional[int], typer.Option(min=1, help="Instead of data: how many interactions.")
    ] = None,
    processes: Annotated[
        int, typer.Option(min=1, help="Memory of each of so many processes; no time for more than one.")
    ] = 1,
    final: options.Final = None,
    every: Annotated[bool, typer.Option("--all", help="Every method, and every base.")] = False,
    no_time: Annotated[bool, typer.Option("--no-time", help="Memory only: nothing is measured.")] = False,
    most_nmf_work: options.MostNmfWork = None,
    data_dir: options.DataDir = None,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Say how much memory a run needs in each phase and about how long it takes on this machine."""
    from sparserec.errors import SettingError
    from sparserec.planning import (
        MOST_NMF_WORK,
        Machine,
        estimate_all,
        estimate_run,
        settle_config,
    )
    from sparserec.process import usable_bytes, use_threads
    from sparserec.training import resolve_config

    settings = resolve_config(*options.typed_settings(context))
    use_threads(threads)
    sizes = _sizes(settings, (users, items, interactions), data_dir)
    most = MOST_NMF_WORK if most_nmf_work is None else most_nmf_work
    settled = settle_config(settings, sizes, Machine(usable_bytes(), processes, most_nmf_work=most))
    settings, note = settled.config, "; ".join(settled.notes) or None
    if every and processes > 1:
        raise SettingError("--processes is for one configuration: leave out --all")
    found = (
        estimate_all(settings, sizes, not no_time)
        if every
        else [estimate_run(settings, sizes, not no_time, processes=processes)]
    )
    free = usable_bytes()
    if as_json:
        whole: Any = [one.as_dict() for one in found]
        typer.echo(json.dumps({"estimates": whole, "free_memory": free, "note": note}))
        return
    _print(sizes, found, note, free)


def _sizes(
    settings: RunConfig, given: tuple[int | None, int | None, int | None], data_dir: Path | None
) -> Sizes:
    """Sizes from numbers, from the catalogue, or from reading the data."""
    from sparserec.data import resolve
    from sparserec.errors import SettingError
    from sparserec.planning import Sizes

    users, items, interactions = given
    if users and items and interactions:
        measured = settings.held_out_users
        return Sizes.of_counts(users, items, {"train": interactions}, settings.protocol, measured=measured)
    if any(given):
        raise SettingError("give --users, --items and --interactions together, or the data")
    known = (
        None
        if Path(settings.data).exists() or settings.read
        else Sizes.of_named(settings.data, settings.protocol)
    )
    if known is not None:
        return known
    source = resolve(settings.data, data_dir=data_dir, **settings.read)
    return Sizes.of_source(source, settings.protocol, settings.held_out_users)


def _print(sizes: Sizes, found: list[Estimate], note: str | None, free: int) -> None:
    from sparserec.units import show_bytes, show_seconds

    typer.echo(f"{sizes.users:,} users, {sizes.items:,} items, {sizes.interactions:,} interactions")
    if note:
        typer.echo(f"note: {as_typed(note)}")
    if len(found) == 1:
        typer.echo("\n".join(found[0].lines()))
    else:
        typer.echo(f"{'base':9} {'method':12} {'memory':>9} {'largest':>9} {'time':>8}")
        for one in found:
            taken = "" if one.all_seconds is None else show_seconds(one.all_seconds)
            typer.echo(
                f"{one.base:9} {one.method:12} {show_bytes(one.peak):>9} {one.peak_phase:>9} {taken:>8}"
            )
    typer.echo(f"free memory here: {show_bytes(free)}")
