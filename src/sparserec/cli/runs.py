"""sparserec runs: what has been trained here, and how far it got."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sparserec.cli.options import AsJson


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder with run folders, at any depth.")] = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """List runs: state, method, quality, size and when."""
    from sparserec.cli.printing import print_table
    from sparserec.errors import RunError
    from sparserec.runs import CONFIG

    if not folder.is_dir():
        raise RunError(
            f"{folder}: no such folder; `sparserec train` puts runs into runs/ unless told otherwise"
        )
    found = [describe(path.parent, folder) for path in sorted(folder.rglob(CONFIG))]
    found.sort(key=lambda run: run["changed"])
    if as_json:
        typer.echo(json.dumps(found))
    elif not found:
        typer.echo(f"no runs in {folder}")
    else:
        print_table(
            [_row(run) for run in found], f"Runs in {folder}", left=("run", "state", "base, method, density")
        )


def describe(run: Path, folder: Path) -> dict[str, Any]:
    """One run from its files alone; a damaged one is listed as such instead of hiding the others."""
    from sparserec.errors import SparserecError
    from sparserec.runs import RunFolder

    about: dict[str, Any] = {
        "run": str(run.relative_to(folder)),
        "folder": str(run),
        "state": "damaged",
        "base": None,
        "method": None,
        "density": None,
        "metric": None,
        "score": None,
        "bytes": None,
        "changed": _changed(run),
    }
    try:
        config = RunFolder(run).read_config()
        about |= {"base": config.base, "method": config.method, "density": config.density}
        if not RunFolder(run).finished:
            return about | {"state": _progress(run, config.recipe.epochs)}
        record = RunFolder(run).read_record()
        metrics = record.test.get("float", {})
        metric = (
            "ndcg@20" if "ndcg@20" in metrics else next((n for n in metrics if n.startswith("ndcg@")), None)
        )
        return about | {
            "state": "finished",
            "metric": metric,
            "score": metrics[metric] if metric else None,
            "bytes": record.bytes["int8"],
        }
    except SparserecError as error:
        return about | {"error": str(error)}


def _progress(run: Path, epochs: int) -> str:
    from sparserec.runs import RunFolder

    done = sum(event["event"] == "epoch" for event in RunFolder(run).read_events())
    return f"epoch {done}/{epochs}" if done <= epochs else f"epoch {done}"


def _changed(run: Path) -> float:
    return max(path.stat().st_mtime for path in run.iterdir() if path.is_file())


def _row(run: dict[str, Any]) -> dict[str, Any]:
    from sparserec.units import show_bytes

    density = None if run["density"] is None else f"{run['density']:g}"
    return {
        "run": run["run"],
        "state": run["state"],
        "base, method, density": " ".join(filter(None, (run["base"], run["method"], density))),
        "NDCG": run["score"],
        "int8": None if run["bytes"] is None else show_bytes(run["bytes"]),
        "age": _age(time.time() - run["changed"]),
    }


def _age(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return "new"
