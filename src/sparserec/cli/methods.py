"""sparserec methods: every way to spend a parameter budget, a line each."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer

from sparserec.cli.options import AsJson


def methods(as_json: AsJson = False) -> None:
    """List the methods of `train --method`: idea, cost in plain trainings, memory while training, paper."""
    from sparserec.catalogue import METHOD_LINES, others
    from sparserec.cli.printing import print_table

    if as_json:
        typer.echo(json.dumps({name: asdict(line) for name, line in METHOD_LINES.items()}))
        return
    rows = [
        {
            "method": name,
            "idea": line.idea,
            "trainings": f"{line.trainings:g}",
            "memory": line.memory,
            "paper": line.paper,
        }
        for name, line in METHOD_LINES.items()
    ]
    brought = {"trainings": "", "memory": "", "paper": ""}
    rows += [
        {"method": name, "idea": f"from {where}", **brought} for name, where in others("methods").items()
    ]
    notes = [
        "trainings: all phases, at most, with default settings; `sparserec estimate` has time and memory of a run"
    ]
    print_table(rows, left=("method", "idea", "memory", "paper"), notes=notes)
