"""sparserec doctor: is this machine in order?"""

from __future__ import annotations

import json

import typer

from sparserec.cli.options import AsJson
from sparserec.cli.typed import as_typed


def doctor(as_json: AsJson = False) -> None:
    """Report versions, threads, speed, memory and disk, and what is wrong with them."""
    from sparserec.planning import examine

    found = examine()
    wrong = [one for one in found if one.state == "wrong"]
    if as_json:
        typer.echo(json.dumps({"findings": [one.as_dict() for one in found], "in_order": not wrong}))
    else:
        for one in found:
            mark = {"ok": " ", "warning": "!", "wrong": "X"}[one.state]
            typer.echo(
                f"{mark} {one.name:21} {one.value}" + (f"  ({as_typed(one.advice)})" if one.advice else "")
            )
        warnings = sum(one.state == "warning" for one in found)
        typer.echo(f"{len(wrong)} wrong, {warnings} worth a look" if wrong or warnings else "all in order")
    raise typer.Exit(1 if wrong else 0)
