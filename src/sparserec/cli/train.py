"""sparserec train: from interactions to a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from sparserec.cli import options

if TYPE_CHECKING:
    from sparserec.planning import PlanOptions


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(train)


@options.with_settings
def train(
    context: typer.Context,
    run_dir: Annotated[
        Optional[Path],
        typer.Option("--run", "--run-dir", help="Folder of this run; default runs/<data>-<method>-<digest>."),
    ] = None,
    budget: Annotated[
        Optional[str],
        typer.Option(
            help="Size of the file to ship, such as 1MB: chooses --dim and --density, and the file's encoding."
        ),
    ] = None,
    mode: Annotated[str, typer.Option(help="With --budget, what will be shipped: items or full.")] = "items",
    warm: Annotated[
        Optional[Path], typer.Option("--from", help="A finished run to go on from when the log has grown.")
    ] = None,
    dense_run: Annotated[
        Optional[Path],
        typer.Option(help="A finished run of method dense: magnitude and lottery begin after it."),
    ] = None,
    final: options.Final = None,
    metadata: options.Metadata = None,
    most_nmf_work: options.MostNmfWork = None,
    force: Annotated[bool, typer.Option("--force", help="Train even if memory will not suffice.")] = False,
    data_dir: options.DataDir = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped run exactly.")] = False,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a recommender within a parameter budget and measure it."""
    from sparserec.cli.printing import print_record
    from sparserec.distributed import local_threads, started_processes
    from sparserec.errors import SettingError
    from sparserec.planning import PlanOptions
    from sparserec.process import use_threads
    from sparserec.runs import Input, RunFolder, open_dense_run, open_warm_start, train_run
    from sparserec.training import resolve_config

    with started_processes() as processes:
        wanted = PlanOptions.of(budget, mode, most_nmf_work, force)
        if warm is not None and dense_run is not None:
            raise SettingError("--from and --dense-run each say what to begin with: give one of them")
        old = open_warm_start(warm) if warm is not None else None
        inherited = (
            old.inherited(context.params["base"], context.params["method"], budget is not None)
            if old is not None
            else None
        )
        if resume and run_dir is not None and (RunFolder(run_dir).begun or not context.params["data"]):
            inherited = RunFolder(run_dir).read_config().model_dump(mode="json")
        dense = open_dense_run(dense_run) if dense_run is not None else None
        if dense is not None and inherited is None:
            inherited = {"base": dense.config.base}
        settings = resolve_config(*options.typed_settings(context), inherited, mode == "full")
        use_threads(threads or local_threads())
        given = Input(settings.data, data_dir, metadata)
        if "data" not in settings.model_fields_set and not as_json and processes.first:
            typer.echo("no data named: training on the built-in sample, a year of visits in a made-up city")
        finished = train_run(settings, run_dir, given, wanted, dense or old, resume, quiet, processes)
    if not processes.first:
        return
    shipped = _ship(finished.folder, wanted, quiet)
    print_record(RunFolder(finished.folder).read_record(), finished.folder, as_json)
    if budget is not None and not as_json:
        everyone = " --include-everyones-history" if mode == "full" else ""
        print(
            shipped or f"next: sparserec export {finished.folder} --mode {mode} --budget {budget}{everyone}"
        )


def _ship(folder: Path, wanted: PlanOptions, quiet: bool) -> str | None:
    """Write the file that a budget was given for; mode full waits for a word, because it holds everybody's history."""
    from sparserec.export import ship_run
    from sparserec.runs import RunFolder
    from sparserec.units import show_bytes

    if wanted.budget is None or wanted.mode != "items":
        return None
    report = ship_run(folder, wanted.budget, quiet)
    chosen = RunFolder(folder).read_record().shipped
    return f"{report.path}: {show_bytes(report.bytes)}, {chosen['why']}" if report and chosen else None
