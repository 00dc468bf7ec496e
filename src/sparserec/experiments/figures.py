"""Bytes against quality of recorded runs as a figure. It reads recorded results, never live objects."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

from sparserec.plots import new_figure, save_figure

MARKERS = "osD^v<>Pp*hX"


def draw_sizes(results: list[dict[str, Any]], path: Path) -> None:
    """NDCG@20 on the test set against the bytes of the table, int4 and int8 of a run joined by a line."""
    figure = new_figure(8, 4.6)
    from matplotlib import colormaps

    axes = figure.add_subplot()
    colours = colormaps["tab20"].colors  # type: ignore[attr-defined]
    best_first = sorted(results, key=lambda result: -_scores(result)[-1])
    for result, colour, marker in zip(best_first, cycle(colours), cycle(MARKERS)):
        sizes = [result["bytes"][precision] / 1e6 for precision in _precisions(result)]
        axes.plot(
            sizes, _scores(result), "-", marker=marker, markersize=6, color=colour, label=result["name"]
        )
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


def _precisions(result: dict[str, Any]) -> list[str]:
    return [precision for precision in ("int4", "int8") if precision in result["test"]]


def _scores(result: dict[str, Any]) -> list[float]:
    return [result["test"][precision]["ndcg@20"] for precision in _precisions(result)]
