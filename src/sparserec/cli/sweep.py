"""sparserec sweep and sparserec table: the queue of long trainings and the tables made from its results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from sparserec.cli.options import DataDir, Threads


def sweep(
    queues: Annotated[list[Path], typer.Argument(help="Queue files (TOML); several make one queue.")],
    data_dir: DataDir = None,
    threads: Threads = None,
    only: Annotated[Optional[str], typer.Option(help="Only runs whose name contains this.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--list", help="Show what is done and what waits, train nothing.")
    ] = False,
) -> None:
    """Train the runs of a queue, one at a time by priority, and append their results."""
    from sparserec.experiments import read_queues, run_queue, unrecorded

    if dry_run:
        runs = read_queues(queues, only=only)
        waiting = unrecorded(runs)
        for run in runs:
            state = "done" if run not in waiting else "begun" if run.folder.exists() else "waits"
            print(f"{run.priority:4d}  {state:6s} {run.name}")
        return
    raise typer.Exit(1 if run_queue(queues, str(data_dir) if data_dir else None, threads, only) else 0)


def table(
    results: Annotated[list[Path], typer.Argument(help="Result files (JSON lines).")],
    columns: Annotated[Optional[str], typer.Option(help="Columns, separated by commas.")] = None,
    only: Annotated[Optional[str], typer.Option(help="Only runs whose name contains this.")] = None,
    out: Annotated[Optional[Path], typer.Option(help="Write the table here instead of printing it.")] = None,
    figure: Annotated[
        Optional[Path],
        typer.Option(help="Also draw bytes against NDCG@20 here (PNG); needs opened test sets."),
    ] = None,
) -> None:
    """Render a Markdown table from recorded results."""
    from sparserec.errors import SettingError
    from sparserec.experiments import COLUMNS, draw_sizes, markdown_table, read_runs
    from sparserec.files import write_text

    rows = [row for path in results for row in read_runs(path) if only is None or only in row["name"]]
    chosen = [name.strip() for name in columns.split(",")] if columns else None
    unknown = [name for name in chosen or [] if name not in COLUMNS]
    if unknown:
        raise SettingError(f"unknown column {unknown[0]!r}; known: {', '.join(COLUMNS)}")
    text = markdown_table(rows, chosen)
    write_text(out, text) if out else print(text, end="")
    if figure:
        draw_sizes(rows, figure)
