"""sparserec evaluate: what a run reached on its test set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparserec.cli.options import AsJson, RunFolder

if TYPE_CHECKING:
    from sparserec.runs import Record

GROUPS = ("head", "middle", "tail")


def evaluate(
    run: RunFolder,
    again: Annotated[
        bool, typer.Option("--again", help="Open the test set once more; the record says how often.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the test results of a run: measured once, when training had ended."""
    from sparserec.runs import RunFolder as Folder

    record = _measured_again(run) if again else Folder(run).read_record()
    if as_json:
        typer.echo(json.dumps({"run": str(run), "test": record.test, "opened": record.times_opened}))
        return
    _print(run, record)


def _measured_again(run: Path) -> Record:
    from sparserec.serving import Model

    model = Model(run)
    found = model.evaluate(again=True)
    return model.record.model_copy(update={"test": found})


def _print(run: Path, record: Record) -> None:
    from sparserec.cli.printing import print_table
    from sparserec.units import show_bytes

    results = record.test
    if not results:
        typer.echo(f"{run}: {_why_not(run, record)}")
        return
    names = [name for name in results["float"] if "." not in name]
    rows = []
    for precision, metrics in results.items():
        stored = record.bytes.get(precision, 4 * record.parameters)
        rows.append(
            {"table": precision, **{name: metrics[name] for name in names}, "bytes": show_bytes(stored)}
        )
    print_table(rows, f"{record.config['method']} on {record.config['base']}: test set", left=("table",))
    typer.echo()
    print_table(
        _group_rows(results["float"]),
        "By frequency (each group holds a third of the interactions)",
        left=("group", "measured on"),
    )
    split, opened = record.split, record.times_opened
    times = "once" if opened == 1 else f"{opened} times"
    typer.echo(f"\nSplit {split.protocol}, seed {split.seed}; the test set was opened {times}.")


def _why_not(run: Path, record: Record) -> str:
    """Why a run has no test results."""
    from sparserec.runs import RunFolder as Folder
    from sparserec.runs import load_split

    if len(load_split(Folder(run).data).test) == 0:
        return "the split of this run has no test part"
    opened = record.times_opened
    since = "" if not opened else f" It was opened {'once' if opened == 1 else f'{opened} times'} since."
    return (
        "the test set was kept closed (open_test = false) and nothing was measured on it; "
        f"--again opens it and counts that.{since}"
    )


def _group_rows(metrics: dict[str, float]) -> list[dict[str, Any]]:
    rows = []
    for side in ("users", "items"):
        for group in GROUPS:
            found = {
                name.split(".")[2]: value
                for name, value in metrics.items()
                if name.startswith(f"{side}.{group}.")
            }
            recall = next((value for name, value in found.items() if name.startswith("recall@")), None)
            counted = "users" if side == "users" else "test interactions"
            rows.append(
                {
                    "group": f"{group} {side}",
                    "recall": recall,
                    "measured on": f"{int(found['count']):,} {counted}",
                }
            )
    return rows
