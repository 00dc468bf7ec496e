"""sparserec methods, sparserec bases: every way to spend a parameter budget and every base, a line each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import typer

from sparserec.cli.options import AsJson


def methods(as_json: AsJson = False) -> None:
    """List the methods of `train --method`: idea, cost in plain trainings, memory while training, paper."""
    from sparserec.catalogue import METHOD_LINES

    notes = [
        "trainings: all phases, at most, with default settings; `sparserec estimate` has time and memory of a run"
    ]
    _list("methods", METHOD_LINES, ("trainings", "memory"), as_json, notes)


def bases(as_json: AsJson = False) -> None:
    """List the base recommenders of `train --base`: idea, multiplications by the graph in a step, rows, paper."""
    from sparserec.catalogue import BASE_LINES

    _list("bases", BASE_LINES, ("multiplications", "rows"), as_json)


def _list(
    group: Literal["methods", "bases"],
    lines: dict[str, Any],
    columns: tuple[str, str],
    as_json: bool,
    notes: Sequence[str] = (),
) -> None:
    """Ours with these columns of their lines, then what other packages bring."""
    from sparserec.catalogue import others
    from sparserec.cli.printing import print_table

    if as_json:
        typer.echo(json.dumps({name: asdict(line) for name, line in lines.items()}))
        return
    kind, shown = group.removesuffix("s"), ("idea", *columns, "paper")
    rows: list[dict[str, Any]] = []
    for name, line in lines.items():
        values = {column: getattr(line, column) for column in shown}
        rows.append(
            {kind: name} | {key: f"{one:g}" if isinstance(one, float) else one for key, one in values.items()}
        )
    for name, where in others(group).items():
        rows.append({kind: name, **dict.fromkeys(shown, ""), "idea": f"from {where}"})
    print_table(rows, left=(kind, "idea", columns[1], "paper"), notes=list(notes))
