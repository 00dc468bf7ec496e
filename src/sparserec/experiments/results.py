"""What result files hold: names, validation scores, and a table and a figure of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sparserec.errors import DataError, SettingError
from sparserec.plots import new_figure, save_figure
from sparserec.progress import say
from sparserec.runs import Record, Result, read_results


def finished_names(path: Path) -> set[str]:
    """Names of the runs a result file holds."""
    return {line["name"] for line in read_results(path) if _has_name(line)}


def validation_scores(path: Path) -> dict[str, float | None]:
    """Best validation score of each run of a result file."""
    runs = [line for line in read_results(path) if _has_name(line) and "epochs" in line]
    return {run["name"]: _best_score(run) for run in runs}


def read_runs(path: Path) -> list[Result]:
    """Results of runs in a file. Lines of another kind, as other measurements have, are left out with a word."""
    if not path.is_file():
        raise DataError(f"{path}: no such file of results")
    results = [as_result(line) for line in read_results(path)]
    if None in results:
        say(
            f"{path}: {results.count(None)} of {len(results)} lines are no results of runs and are left out, "
            f"line {results.index(None) + 1} is the first",
            quiet=False,
        )
    return [result for result in results if result is not None]


def as_result(line: Any) -> Result | None:
    """The named record of a run that a line is, with all its fields; None where it is something else."""
    if not _has_name(line):
        return None
    try:
        return {"name": line["name"], **Record.model_validate(line).as_dict()}
    except ValidationError:
        return None


def _has_name(line: Any) -> bool:
    return isinstance(line, dict) and isinstance(line.get("name"), str)


COLUMNS: dict[str, Callable[[Result], str]] = {
    "run": lambda r: r["name"],
    "base": lambda r: _setting(r, "base"),
    "method": lambda r: _setting(r, "method"),
    "dim": lambda r: str(r["dim"]),
    "epochs": lambda r: "+".join(str(phase["epochs"]) for phase in r["epochs"]),
    "seed": lambda r: _setting(r, "seed"),
    "Recall@20": lambda r: _metric(r, "float", "recall@20"),
    "NDCG@20": lambda r: _metric(r, "float", "ndcg@20"),
    "int8 Recall@20": lambda r: _metric(r, "int8", "recall@20"),
    "int8 NDCG@20": lambda r: _metric(r, "int8", "ndcg@20"),
    "valid NDCG@20": lambda r: _score(r),
    "parameters": lambda r: f"{r['parameters']:,}",
    "int8 MB": lambda r: _megabytes(r["bytes"].get("int8"), 2),
    "peak MB (train)": lambda r: _megabytes(r["memory"]["peak"].get("train")),
    "ledger MB": lambda r: _megabytes(sum(r["memory"]["ledger"].values())),
    "formula MB": lambda r: _megabytes(r["memory"]["formula"]),
    "cost": lambda r: f"{r['cost']:.2f}",
    "train s": lambda r: f"{r['seconds']['train']:.0f}",
}


def _metric(result: Result, precision: str, name: str) -> str:
    found = result["test"].get(precision, {}).get(name)
    return f"{found:.4f}" if found is not None else "-"


def _score(result: Result) -> str:
    score = _best_score(result)
    return f"{score:.4f}" if score is not None else "-"


def _best_score(result: Result) -> float | None:
    return result["epochs"][-1]["best_score"] if result["epochs"] else None


def _setting(result: Result, name: str) -> str:
    return str(result["config"].get(name, "-"))


def _megabytes(count: int | None, digits: int = 0) -> str:
    return f"{count / 1e6:.{digits}f}" if count is not None else "-"


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


MARKERS = "osD^v<>Pp*hX"


def draw_sizes(results: list[Result], path: Path) -> None:
    """NDCG@20 on the test set against the bytes of the table, int4 and int8 of a run joined by a line.

    Runs without NDCG@20 of such a table are left out: with a word where their test set was opened.
    """
    points = {number: found for number, result in enumerate(results) if (found := _points(result))}
    if not points:
        raise SettingError("no run has NDCG@20 of its int4 or int8 table on the test set: nothing to draw")
    left_out = [one["name"] for number, one in enumerate(results) if one["test"] and number not in points]
    if left_out:
        say(f"not drawn, without NDCG@20 of an int4 or int8 table: {', '.join(left_out)}", quiet=False)
    figure = new_figure(8, 4.6)
    from matplotlib import colormaps

    axes = figure.add_subplot()
    colours = colormaps["tab20"].colors  # type: ignore[attr-defined]
    best_first = sorted(points, key=lambda number: -points[number][-1][1])
    for number, colour, marker in zip(best_first, cycle(colours), cycle(MARKERS)):
        sizes, scores = zip(*points[number])
        style = {"marker": marker, "markersize": 6, "color": colour, "label": results[number]["name"]}
        axes.plot(sizes, scores, "-", **style)
    axes.set_xscale("log")
    ticks = [
        tick for tick in (0.25, 0.5, 1, 2, 4, 8, 16, 32) if axes.get_xlim()[0] < tick < axes.get_xlim()[1]
    ]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("table on disk, indices and scales included (MB); left end int4, right end int8")
    axes.set_ylabel("NDCG@20, test")
    axes.grid(alpha=0.25)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    save_figure(figure, path)


def _points(result: Result) -> list[tuple[float, float]]:
    """Megabytes and NDCG@20 of the int4 and the int8 table, as far as they are known."""
    return [
        (result["bytes"][precision] / 1e6, result["test"][precision]["ndcg@20"])
        for precision in ("int4", "int8")
        if precision in result["bytes"] and "ndcg@20" in result["test"].get(precision, {})
    ]
