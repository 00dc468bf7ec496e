"""Printing records and tables, for people and, with --json, for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


def megabytes(size: float) -> str:
    """A size as people read it."""
    return f"{size / 1e6:.2f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"


def print_record(record: dict[str, Any], folder: Path, as_json: bool) -> None:
    """What a finished run found."""
    if as_json:
        print(json.dumps({**record, "folder": str(folder)}))
        return
    table = Table(title=f"{record['config']['method']} on {record['config']['base']}", title_justify="left")
    names = [
        name for name in ("recall@20", "ndcg@20") if any(name in found for found in record["test"].values())
    ]
    table.add_column("table")
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("bytes", justify="right")
    for precision, metrics in record["test"].items():
        size = record["bytes"].get(precision, 4 * record["parameters"])
        table.add_row(precision, *(f"{metrics[name]:.4f}" for name in names), megabytes(size))
    console = Console()
    console.print(table)
    console.print(
        f"{record['parameters']:,} parameters, {record['seconds']['train']:.0f} s of training, peak "
        f"{megabytes(max(0, record['memory']['peak']['train']))} above the start"
    )
    console.print(f"run folder: {folder}")


def print_rows(rows: list[dict[str, Any]], title: str, as_json: bool) -> None:
    """A list of rows with the same keys."""
    if as_json:
        print(json.dumps(rows))
        return
    table = Table(title=title, title_justify="left")
    for name in rows[0] if rows else []:
        table.add_column(name, justify="left" if isinstance(rows[0][name], str) else "right")
    for row in rows:
        table.add_row(*(f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()))
    Console().print(table)
