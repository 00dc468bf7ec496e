"""sparserec compare: several runs in one table, and whether their differences mean anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Optional

import typer

from sparserec.cli.options import AsJson


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="A B ...", help="Run folders or names of recorded results; A is the reference."
        ),
    ],
    metric: Annotated[str, typer.Option(help="Metric of the paired test.")] = "ndcg@20",
    precision: Annotated[
        Optional[str],
        typer.Option(help="Table measured: float (default), int8 (default with recorded results) or int4."),
    ] = None,
    results: Annotated[
        Path, typer.Option(help="Folder of the result files that names are looked up in.")
    ] = Path("results"),
    as_json: AsJson = False,
) -> None:
    """Compare runs of the same split: one table, with a paired test per user against the first run."""
    from sparserec.cli.printing import cell, print_table
    from sparserec.serving import compare_runs
    from sparserec.units import show_bytes

    found = compare_runs(runs, metric, precision, results)
    if as_json:
        typer.echo(json.dumps(found))
        return
    rows = [
        {
            "run": one["run"],
            **{name: cell(value) for name, value in one["metrics"].items()},
            "int8": show_bytes(one["bytes"]),
            **_test_cells(one["test"]),
        }
        for one in found
    ]
    users = next((one["test"]["users"] for one in found if one["test"]), 0)
    note = (
        f"Difference in {metric} ({found[0]['precision']}) to the first run with its 95 % interval: paired t-test "
        f"over {users:,} users, p corrected for several comparisons (Holm). Effect: mean difference over its "
        "standard deviation; with many users tiny effects are significant. The spread over seeds is not in it."
    )
    print_table(rows, left=("run",), notes=[note])


def _test_cells(test: dict[str, float] | None) -> dict[str, str]:
    from sparserec.units import show_probability

    if test is None:
        return {"difference": "reference", "±": "", "p (Holm)": "", "effect": ""}
    return {
        "difference": f"{test['difference']:+.4f}",
        "±": f"{(test['high'] - test['low']) / 2:.4f}",
        "p (Holm)": show_probability(test["p_holm"]),
        "effect": f"{test['effect']:+.2f}",
    }
