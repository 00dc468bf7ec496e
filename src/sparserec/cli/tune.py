"""sparserec tune: the best settings by validation, out of several trainings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Optional

import typer

from sparserec.cli import options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(tune)


@options.with_settings
def tune(
    context: typer.Context,
    trials: Annotated[Optional[int], typer.Option(help="Trainings to try; default 20.")] = None,
    minutes: Annotated[
        Optional[float],
        typer.Option(help="No training begins after so many minutes, whatever --trials says."),
    ] = None,
    folder: Annotated[
        Optional[Path],
        typer.Option(
            "--run", help="Folder of this search; default runs/<data>-tune-<digest>. The same goes on."
        ),
    ] = None,
    budget: Annotated[
        Optional[str],
        typer.Option(help="Size of the file to ship, such as 300kB: chooses --dim and --density."),
    ] = None,
    file: Annotated[
        bool, typer.Option("--file/--no-file", help="Whether to write the winner's device file at the end.")
    ] = True,
    metadata: options.Metadata = None,
    data_dir: options.DataDir = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Search recipe, base and method settings on validation; the winner's test set is opened once."""
    from sparserec.cli.printing import print_record, print_table
    from sparserec.extras import extras_named
    from sparserec.planning import PlanOptions
    from sparserec.runs import Input, RunFolder
    from sparserec.training import flat_settings, resolve_config, said_values
    from sparserec.tuning import Effort, search_settings

    with extras_named("sparserec tune"):
        import optuna  # noqa: F401  (said before any data is read)
    effort, typed = Effort.of(trials, minutes), options.typed_settings(context)
    config, given = resolve_config(*typed), set(flat_settings(said_values(*typed)))
    wanted = PlanOptions.of(budget, "items", None, False, threads)
    source = Input(config.data, data_dir, metadata).read(config.read)
    outcome = search_settings(config, given, source, folder, effort, wanted, file, quiet)
    record = RunFolder(outcome.best_folder).read_record()
    if as_json:
        print(json.dumps(outcome.as_dict() | {"record": record.as_dict()}))
        return
    print_table(outcome.rows(), f"search in {outcome.folder}", left=["state"], notes=outcome.lines())
    print_record(record, outcome.best_folder, as_json=False)
    print(f"next: sparserec config show --run {outcome.best_folder} prints its settings for `train --config`")
