"""sparserec train: from interactions to a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(train)


def train(
    data: Annotated[
        Optional[str], typer.Argument(help="A named data set (see `sparserec data list`) or a path.")
    ] = None,
    run_dir: Annotated[
        Optional[Path],
        typer.Option("--run", help="Folder of this run; default runs/<data>-<method>-<digest>."),
    ] = None,
    base: Annotated[Optional[str], typer.Option(help="Base recommender.")] = None,
    method: Annotated[Optional[str], typer.Option(help="How the parameter budget is spent.")] = None,
    density: Annotated[Optional[float], typer.Option(help="Share of the full table that is kept.")] = None,
    dim: Annotated[Optional[int], typer.Option(help="Columns of the full table.")] = None,
    epochs: Annotated[Optional[int], typer.Option(help="Length of a full training.")] = None,
    recipe: Annotated[Optional[str], typer.Option(help="Named recipe: default or paper.")] = None,
    preset: Annotated[
        Optional[str], typer.Option(help="Published settings of the base, such as published-gowalla.")
    ] = None,
    protocol: Annotated[
        Optional[str], typer.Option(help="Split: resplit, public, public-full, temporal, files or new-users.")
    ] = None,
    seed: Annotated[Optional[int], typer.Option(help="Seed of everything but the split.")] = None,
    config: Annotated[Optional[Path], typer.Option(help="TOML file with settings.")] = None,
    assignments: Annotated[
        Optional[list[str]], typer.Option("--set", help="Any setting, as key=value; repeatable.")
    ] = None,
    budget: Annotated[
        Optional[str],
        typer.Option(help="Size of the file to ship, such as 1MB: chooses --dim and --density."),
    ] = None,
    target: Annotated[str, typer.Option("--for", help="What will be shipped: items or full.")] = "items",
    warm: Annotated[
        Optional[Path], typer.Option("--from", help="A finished run to go on from when the log has grown.")
    ] = None,
    metadata: Annotated[Optional[Path], typer.Option(help="Table with item id, title and tags.")] = None,
    nmf_limit: Annotated[
        Optional[float],
        typer.Option(
            help="Largest factorisation, in billions of nodes * dim^2 * iterations; 0 for no limit."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Train even if memory will not suffice.")] = False,
    data_dir: Annotated[Optional[str], typer.Option(help="Where named data sets already are.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped run exactly.")] = False,
    threads: Annotated[Optional[int], typer.Option(help="Threads; default all cores.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> None:
    """Train a recommender within a parameter budget and measure it."""
    from sparserec.cli.show import print_record
    from sparserec.planning.plan import Wishes
    from sparserec.planning.planned_run import Input, plan_and_train
    from sparserec.training.configure import configure
    from sparserec.training.threads import use_threads
    from sparserec.training.warm_start import open_warm_start

    wishes = Wishes.of(budget, target, nmf_limit, force)
    options = {
        "data": data, "base": base, "method": method, "density": density, "dim": dim, "recipe.epochs": epochs,
        "recipe.preset": recipe, "preset": preset, "protocol": protocol, "seed": seed,
    }  # fmt: skip
    old = open_warm_start(warm) if warm is not None else None
    inherited = old.inherited(base, method, budget is not None) if old is not None else None
    settings = configure(config, options, assignments or [], inherited)
    use_threads(threads)
    given = Input(settings.data, data_dir, metadata)
    finished = plan_and_train(settings, given, wishes, run_dir, resume, quiet, old)
    print_record(finished.record, finished.folder, as_json)
    if budget is not None and not as_json:
        everyone = " --include-everyones-history" if target == "full" else ""
        print(f"next: sparserec export {finished.folder} --mode {target} --budget {budget}{everyone}")
