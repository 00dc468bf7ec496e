"""sparserec train: from interactions to a run folder."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from sparserec.cli import options

if TYPE_CHECKING:
    from sparserec.tracking import Tracker


@options.with_settings
def train(
    context: typer.Context,
    run_dir: Annotated[
        Optional[Path],
        typer.Option(
            "--run",
            "--run-dir",
            help="Folder of this run; default runs/<data>-<method>-<digest>. With torchrun: --run-dir.",
        ),
    ] = None,
    budget: Annotated[
        Optional[str],
        typer.Option(
            help="Size of the file to ship, such as 300kB: chooses --dim and --density too. Default: a file of 1MB."
        ),
    ] = None,
    file: Annotated[
        bool, typer.Option("--file/--no-file", help="Whether to choose and write the device file at the end.")
    ] = True,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="Also train XSimGCL, and ship its vectors where they are better."),
    ] = False,
    mode: Annotated[str, typer.Option(help="With --budget, what will be shipped: items or full.")] = "items",
    warm: Annotated[
        Optional[Path], typer.Option("--from", help="A finished run to go on from when the log has grown.")
    ] = None,
    dense_run: Annotated[
        Optional[Path],
        typer.Option(
            help="A finished run of method dense, after which methods that begin with a dense training begin "
            "(magnitude, lottery, bet, ciess)."
        ),
    ] = None,
    final: options.Final = None,
    metadata: options.Metadata = None,
    most_nmf_work: options.MostNmfWork = None,
    force: Annotated[bool, typer.Option("--force", help="Train even if memory will not suffice.")] = False,
    data_dir: options.DataDir = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped run exactly.")] = False,
    track: Annotated[
        Optional[list[str]],
        typer.Option(help="Tell mlflow or tensorboard of this run while it trains; repeatable."),
    ] = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a recommender within a parameter budget and measure it."""
    from sparserec.cli.printing import print_record
    from sparserec.distributed import local_threads, started_processes
    from sparserec.planning import PlanOptions
    from sparserec.runs import Input, RunFolder, open_dense_run, open_warm_start, train_run, watching
    from sparserec.training import resolve_config

    _check_together(warm, dense_run, thorough, file and mode == "items")
    with ExitStack() as stack:
        with started_processes() as processes:
            tracked = _trackers(track) if track and processes.first else []
            watched = stack.enter_context(watching(tracked)) if tracked else None
            cores = threads or local_threads()
            wanted = PlanOptions.of(budget, mode, most_nmf_work, force, cores, processes)
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
            given = Input(settings.data, data_dir, metadata)
            if "data" not in settings.model_fields_set:
                _without_data(warm, quiet=as_json or not processes.first)
            finished = train_run(settings, run_dir, given, wanted, dense or old, resume, quiet, watched)
        if not processes.first:
            return
        shipped = None
        if file and wanted.mode == "items":  # mode full waits for a word: it holds everybody's history
            from sparserec.export import ship_file

            shipped = ship_file(finished.folder, wanted.budget, quiet, given if thorough else None)
    record = RunFolder(finished.folder).read_record() if file else finished.record
    print_record(record, finished.folder, as_json)
    if as_json:
        return
    if shipped is not None:
        print(shipped)
    elif budget is not None:
        everyone = " --include-everyones-history" if mode == "full" else ""
        print(f"next: sparserec export {finished.folder} --mode {mode} --budget {budget}{everyone}")


def _check_together(warm: Path | None, dense_run: Path | None, thorough: bool, ships: bool) -> None:
    """Refuse options that say nothing together."""
    from sparserec.errors import SettingError

    if warm is not None and dense_run is not None:
        raise SettingError("--from and --dense-run each say what to begin with: give one of them")
    if thorough and not ships:
        raise SettingError(
            "--thorough trains more for the file at the end, which --no-file and mode full leave out"
        )


def _without_data(warm: Path | None, quiet: bool) -> None:
    """The built-in sample, unless a run is to be gone on from: its log has grown, and that must be named."""
    from sparserec.errors import SettingError

    if warm is not None:
        raise SettingError(
            f"--from {warm}: name the log that has grown, as in sparserec train log.csv --from {warm}"
        )
    if not quiet:
        typer.echo("no data named: training on the built-in sample, a year of visits in a made-up city")


def _trackers(names: list[str]) -> list[Tracker]:
    from sparserec.tracking import make_tracker

    return [make_tracker(name) for name in dict.fromkeys(names)]
