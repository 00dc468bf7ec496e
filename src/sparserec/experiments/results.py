"""What result files hold: names, validation scores, and a table and a figure of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from pathlib import Path

from sparserec.plots import new_figure, save_figure
from sparserec.runs import Result, read_results


def finished_names(path: Path) -> set[str]:
    """Names of the runs a result file holds."""
    return {result["name"] for result in read_results(path)}


def validation_scores(path: Path) -> dict[str, float | None]:
    """Best validation score of each run of a result file."""
    return {result["name"]: result["epochs"][-1]["best_score"] for result in read_results(path)}


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


MARKERS = "osD^v<>Pp*hX"


def draw_sizes(results: list[Result], path: Path) -> None:
    """NDCG@20 on the test set against the bytes of the table, int4 and int8 of a run joined by a line."""
    figure = new_figure(8, 4.6)
    from matplotlib import colormaps

    axes = figure.add_subplot()
    colours = colormaps["tab20"].colors  # type: ignore[attr-defined]
    best_first = sorted(results, key=lambda result: -_scores(result)[-1])
    for result, colour, marker in zip(best_first, cycle(colours), cycle(MARKERS)):
        sizes = [result["bytes"][precision] / 1e6 for precision in _precisions(result)]
        style = {"marker": marker, "markersize": 6, "color": colour, "label": result["name"]}
        axes.plot(sizes, _scores(result), "-", **style)
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


def _precisions(result: Result) -> list[str]:
    return [precision for precision in ("int4", "int8") if precision in result["test"]]


def _scores(result: Result) -> list[float]:
    return [result["test"][precision]["ndcg@20"] for precision in _precisions(result)]
