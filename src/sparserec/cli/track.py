"""sparserec track: tell a tracker of a run that is there already."""

from __future__ import annotations

from typing import Annotated

import typer

from sparserec.cli import options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(track)


def track(
    run: options.RunFolder,
    to: Annotated[str, typer.Option(help="mlflow or tensorboard.")],
) -> None:
    """Tell MLflow or TensorBoard everything that a run folder says; `train --track` does so while it trains."""
    from sparserec.runs import RunFolder
    from sparserec.tracking import make_tracker, track_run

    track_run(RunFolder(run), make_tracker(to))
    typer.echo(f"{run}: told {to} {'what it found' if RunFolder(run).finished else 'how far it is'}")
