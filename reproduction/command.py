"""sparserec reproduce: the paper's tables and figures, ours beside the published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from sparserec.cli.options import AsJson, Assignments, DataDir, Threads

if TYPE_CHECKING:
    from reproduction.jobs import Job


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="table1, headline, ablation, intervals, sampling, sizes, memory, validity or all of them."
        ),
    ] = "all",
    small: Annotated[
        bool,
        typer.Option(
            "--small", help="Table 1 on 4,000 users of Gowalla: its shape in hours instead of days."
        ),
    ] = False,
    epochs: Annotated[Optional[int], typer.Option(help="Train every cell this long instead.")] = None,
    data: Annotated[Optional[str], typer.Option(help="This data set instead of the paper's two.")] = None,
    data_dir: DataDir = None,
    only: Annotated[
        Optional[list[str]],
        typer.Option(help="Only cells with all these words, such as 'lightgcn 0.125 sparserec'; repeatable."),
    ] = None,
    assignments: Assignments = None,
    folder: Annotated[Path, typer.Option(help="Where results/ and runs/ are.")] = Path("."),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what is there and what is missing.")
    ] = False,
    no_time: Annotated[bool, typer.Option("--no-time", help="Do not estimate how long it takes.")] = False,
    report: Annotated[
        Optional[Path],
        typer.Option(
            help="Write a report of what is asked for here, as .md and .html; after training the whole report is "
            "written beside the result file otherwise (reproduce-changed where settings were changed)."
        ),
    ] = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Train what is missing of the paper's tables and figures, and report ours beside the published values.

    Stop it at any time: the same command goes on. Cells that were recorded before are used, whatever their name.
    """
    from reproduction.cells import Overrides
    from reproduction.jobs import Place
    from reproduction.reproduce import Request, as_dicts
    from sparserec.process import use_threads

    place = Place(folder, "small") if small else Place(folder)
    request = Request.of(
        what,
        small,
        overrides=Overrides(data, epochs, tuple(assignments or ())),
        only=tuple(only or ()),
        place=place,
        data_dir=data_dir,
    )
    use_threads(threads)
    failed = 0 if dry_run else request.train(threads)
    jobs, files = request.jobs() if no_time else request.timed_jobs(quiet=as_json), []
    if report:
        files = request.report(jobs, report)
    elif not dry_run:
        whole = request.reported
        files = whole.report(jobs if whole == request else whole.jobs(), request.report_place)
    if as_json:
        typer.echo(
            json.dumps(
                {"trainings": as_dicts(jobs), "failed": failed, "report": [str(file) for file in files]}
            )
        )
    else:
        _print(jobs, [file for file in files if file.suffix in (".md", ".html")])
    raise typer.Exit(1 if failed else 0)


def _print(jobs: list[Job], files: list[Path]) -> None:
    from collections import Counter

    from sparserec.cli.printing import print_table
    from sparserec.units import show_seconds

    rows = [
        {
            "training": job.name,
            "for": ", ".join(dict.fromkeys(cell.grid for cell in job.cells)) or "rates",
            "state": f"{job.state}, epoch {job.epochs_done}" if job.epochs_done else job.state,
            "about": None if job.seconds is None or job.state == "done" else show_seconds(job.seconds),
            "recorded as, or why not": job.problem
            or (f"{job.found.file.stem}: {job.found.name}" if job.found else ""),
        }
        for job in jobs
    ]
    states = Counter(job.state for job in jobs)
    notes = [f"{len(jobs)} trainings: " + ", ".join(f"{count} {state}" for state, count in states.items())]
    left = sum(job.seconds or 0.0 for job in jobs if job.state != "done")
    if left:
        notes.append(
            f"left on this machine: about {show_seconds(left)}, right within a factor of two or three"
        )
    notes += [f"report: {file}" for file in files]
    print_table(rows, left=("training", "for", "state", "recorded as, or why not"), notes=notes)
