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
    protocol: Annotated[
        Optional[str], typer.Option(help="Split: resplit, public, public-full, temporal or files.")
    ] = None,
    seed: Annotated[Optional[int], typer.Option(help="Seed of everything but the split.")] = None,
    config: Annotated[Optional[Path], typer.Option(help="TOML file with settings.")] = None,
    assignments: Annotated[
        Optional[list[str]], typer.Option("--set", help="Any setting, as key=value; repeatable.")
    ] = None,
    data_dir: Annotated[Optional[str], typer.Option(help="Where named data sets already are.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped run exactly.")] = False,
    threads: Annotated[Optional[int], typer.Option(help="Threads; default all cores.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> None:
    """Train a recommender within a parameter budget and measure it."""
    from sparserec.cli.configure import configure
    from sparserec.cli.show import print_record
    from sparserec.training.run import train_run
    from sparserec.training.threads import use_threads

    options = {
        "data": data, "base": base, "method": method, "density": density, "dim": dim, "recipe.epochs": epochs,
        "recipe.preset": recipe, "protocol": protocol, "seed": seed,
    }  # fmt: skip
    settings = configure(config, options, assignments or [])
    folder = run_dir or Path("runs") / f"{Path(settings.data).stem}-{settings.method}-{settings.digest()[:8]}"
    use_threads(threads)
    finished = train_run(settings, folder, data_dir=data_dir, resume=resume, quiet=quiet)
    print_record(finished.record, folder, as_json)
