"""sparserec bases: every base recommender, a line each."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer

from sparserec.cli.options import AsJson


def bases(as_json: AsJson = False) -> None:
    """List the base recommenders of `train --base`: idea, multiplications by the graph in a step, rows, paper."""
    from sparserec.catalogue import BASE_LINES, others
    from sparserec.cli.printing import print_table

    if as_json:
        typer.echo(json.dumps({name: asdict(line) for name, line in BASE_LINES.items()}))
        return
    rows = [
        {
            "base": name,
            "idea": line.idea,
            "multiplications": line.multiplications,
            "rows": line.rows,
            "paper": line.paper,
        }
        for name, line in BASE_LINES.items()
    ]
    brought = {"multiplications": "", "rows": "", "paper": ""}
    rows += [{"base": name, "idea": f"from {where}", **brought} for name, where in others("bases").items()]
    print_table(rows, left=("base", "idea", "rows", "paper"))
