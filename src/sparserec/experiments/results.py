"""Result files: JSON lines, one per finished run, with everything that traces the number."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sparserec.errors import DataError
from sparserec.runs import Record


def read_results(path: Path) -> list[dict[str, Any]]:
    """All results of a file; empty when there is none yet."""
    if not path.exists():
        return []
    results = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            results.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise DataError(
                f"{path}, line {number}: not JSON ({error.msg}); delete the line and run the queue again"
            ) from None
    return results


def finished_names(path: Path) -> set[str]:
    """Names of the runs a result file holds."""
    return {result["name"] for result in read_results(path)}


def validation_scores(path: Path) -> dict[str, float | None]:
    """Best validation score of each run of a result file."""
    return {result["name"]: result["epochs"][-1]["best_score"] for result in read_results(path)}


def append_result(path: Path, name: str, record: Record) -> None:
    """Add a finished run under its name in the queue; folders of this machine are left out of file names."""
    data = {**record.data, "files": [Path(file).name for file in record.data["files"]]}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, **record.as_dict(), "data": data}) + "\n")


Result = dict[str, Any]

COLUMNS: dict[str, Callable[[Result], str]] = {
    "run": lambda r: r["name"],
    "base": lambda r: r["config"]["base"],
    "method": lambda r: r["config"]["method"],
    "dim": lambda r: str(r["dim"]),
    "epochs": lambda r: "+".join(str(phase["epochs"]) for phase in r["epochs"]),
    "seed": lambda r: str(r["config"]["seed"]),
    "Recall@20": lambda r: _metric(r, "float", "recall@20"),
    "NDCG@20": lambda r: _metric(r, "float", "ndcg@20"),
    "int8 Recall@20": lambda r: _metric(r, "int8", "recall@20"),
    "int8 NDCG@20": lambda r: _metric(r, "int8", "ndcg@20"),
    "valid NDCG@20": lambda r: _score(r),
    "parameters": lambda r: f"{r['parameters']:,}",
    "int8 MB": lambda r: f"{r['bytes']['int8'] / 1e6:.2f}",
    "peak MB (train)": lambda r: f"{r['memory']['peak']['train'] / 1e6:.0f}",
    "ledger MB": lambda r: f"{sum(r['memory']['ledger'].values()) / 1e6:.0f}",
    "formula MB": lambda r: f"{r['memory']['formula'] / 1e6:.0f}",
    "cost": lambda r: f"{r['cost']:.2f}",
    "train s": lambda r: f"{r['seconds']['train']:.0f}",
}


def _metric(result: Result, precision: str, name: str) -> str:
    found = result["test"].get(precision, {}).get(name)
    return f"{found:.4f}" if found is not None else "-"


def _score(result: Result) -> str:
    score = result["epochs"][-1]["best_score"]
    return f"{score:.4f}" if score is not None else "-"


def markdown_table(results: list[Result], columns: list[str] | None = None) -> str:
    """One row per result, in the order given; columns that say the same in every row are left out by default."""
    chosen = columns or [
        name
        for name, cell in COLUMNS.items()
        if name in ("run", "Recall@20", "NDCG@20") or len({cell(result) for result in results}) > 1
    ]
    lines = ["| " + " | ".join(chosen) + " |", "|" + "---|" * len(chosen)]
    lines += ["| " + " | ".join(COLUMNS[name](result) for name in chosen) + " |" for result in results]
    return "\n".join(lines) + "\n"
