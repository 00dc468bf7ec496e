"""The paper's figures from recorded results: interval, sampling, row sizes and memory, and ours
against the published.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproduction.entries import Entry, gather
from reproduction.grid import Grid
from reproduction.jobs import Job
from reproduction.sections import (
    entries_by_case,
    formula_share,
    memory_bytes,
    settings_in,
    test_curve,
    trained_settings,
)
from sparserec.errors import SparserecError
from sparserec.plots import finish_axis, new_figure, save_figure
from sparserec.runs import METRIC

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#2a6fbb", "#d9722e", "#4a9a5a", "#8a5fb0", "#8a8f98", "#b03a48", "#3aa0a0", "#b08d2a")


def draw_grid(grid: Grid, jobs: Sequence[Job], folder: Path, stem: str) -> list[Path]:
    """The figures of a grid that there are results for. A report is not lost because a picture could not be drawn."""
    draw = {
        "intervals": _curves,
        "sampling": _sampling,
        "sizes": _sizes,
        "memory": _memory,
        "validity": _validity,
    }
    chosen: Callable[..., list[tuple[str, Figure]]] = draw.get(grid.figure or "", _against_published)
    try:
        drawn = chosen(grid, jobs)
        return [save_figure(figure, folder / f"{stem}-{grid.name}-{name}.png") for name, figure in drawn]
    except (SparserecError, OSError) as error:
        warnings.warn(f"the figures of {grid.name} could not be drawn ({error})", stacklevel=2)
        return []


def _curves(grid: Grid, jobs: Sequence[Job]) -> list[tuple[str, Figure]]:
    """NDCG@20 against the number of explorations, a line for each density, a panel for each data set."""
    lines = _lines(grid, jobs, lambda entry: float(entry.explorations or 0), _ndcg)
    return _panels_of(lines, "quality", "explorations in the training", "NDCG@20, test")


def _sampling(grid: Grid, jobs: Sequence[Job]) -> list[tuple[str, Figure]]:
    """NDCG@20 against the memory by the paper's formula, and that memory against the share of sampled rows."""
    held = "numbers held (formula), in dense tables"
    return [
        *_panels_of(
            _lines(grid, jobs, formula_share, _ndcg), "quality", held, "NDCG@20, test", annotate=True
        ),
        *_panels_of(
            _lines(grid, jobs, _candidate_ratio, formula_share),
            "memory",
            "share of sampled rows",
            held,
            annotate=True,
        ),
    ]


def _ndcg(entry: Entry) -> float:
    spread = entry.spread(METRIC)
    assert spread is not None
    return spread.mean


def _candidate_ratio(entry: Entry) -> float:
    assert entry.first is not None
    return float(entry.first.row["method_settings"]["candidate_ratio"])


Line = tuple[str, list[tuple[str, float, float]]]


def _lines(
    grid: Grid, jobs: Sequence[Job], x_of: Callable[[Entry], float], y_of: Callable[[Entry], float]
) -> dict[str, list[Line]]:
    """By data set: density and its points (label, x, y), of cells that have a result."""
    found: dict[str, list[Line]] = {}
    for setting in settings_in(grid, jobs):
        entries = entries_by_case(grid, jobs, setting).items()
        points = [(case, x_of(entry), y_of(entry)) for case, entry in entries if entry.found]
        if points:
            found.setdefault(setting[0], []).append((f"density {setting[2]:g}", points))
    return found


def _panels_of(
    lines: dict[str, list[Line]], name: str, x_label: str, y_label: str, annotate: bool = False
) -> list[tuple[str, Figure]]:
    """A panel for each data set, a line for each density; x is logarithmic, as cases halve."""
    if not lines:
        return []
    figure, axes = _new(len(lines))
    for axis, (data, several) in zip(axes, lines.items()):
        for (label, points), colour in zip(several, COLOURS):
            axis.plot(
                [x for _, x, _ in points], [y for *_, y in points], marker="o", color=colour, label=label
            )
            for text, x, y in points if annotate else ():
                axis.annotate(text, (x, y), xytext=(4, 4), textcoords="offset points", fontsize=8)
        _plain_log(axis)
        finish_axis(axis, data, f"{x_label} (log)", y_label)
        axis.legend(frameon=False)
    return [(name, figure)]


def _plain_log(axis: Axes) -> None:
    """A logarithmic x whose ticks are few and plain numbers: a range of a few doublings has no powers of ten in it."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.xaxis.set_minor_locator(NullLocator())


def _sizes(grid: Grid, jobs: Sequence[Job]) -> list[tuple[str, Figure]]:
    """Row size against frequency of every run whose folder is here."""
    from sparserec.runs import RunFolder, load_split, rows_figure
    from sparserec.training import load_table

    drawn = []
    for setting in settings_in(grid, jobs):
        for entry in gather(jobs, grid, setting):
            if entry.first is None or entry.first.folder is None:
                continue
            run = RunFolder(entry.first.folder)
            table, train = load_table(run.model), load_split(run.data).train
            if (sizes := table.row_sizes()) is not None:
                figure = rows_figure(sizes, table.shape, train.user_counts(), train.item_counts())
                figure.suptitle(f"{setting[0]}: {entry.label}", x=0.01, ha="left", fontsize=12)
                drawn.append((f"{setting[0]}-{entry.cell.variant}", figure))
    return drawn


def _memory(grid: Grid, jobs: Sequence[Job]) -> list[tuple[str, Figure]]:
    """Bars of formula, ledger and measured peak for every method, a panel for each setting that has results."""
    order = [variant for block in grid.blocks for variant in block.variant]
    settings = trained_settings(grid, jobs)
    if not settings:
        return []
    figure, axes = _new(len(settings), same_y=True)
    for axis, (setting, several) in zip(axes, settings.items()):
        # The order of jobs is that of their priorities.
        entries = sorted((one for one in several if one.found), key=lambda one: order.index(one.cell.variant))
        for at, (name, colour) in enumerate(zip(("formula", "ledger", "peak, measured"), COLOURS)):
            heights = [memory_bytes(entry)[at] / 1e6 for entry in entries]
            axis.bar(
                [place + 0.27 * (at - 1) for place in range(len(entries))],
                heights,
                0.25,
                color=colour,
                label=name,
            )
        axis.set_xticks(range(len(entries)), [entry.label for entry in entries], fontsize=8, rotation=15)
        finish_axis(axis, f"{setting[0]}, density {setting[2]:g}", "", "MB above the start")
        axis.legend(frameon=False)
    return [("peak", figure)]


def _validity(grid: Grid, jobs: Sequence[Job]) -> list[tuple[str, Figure]]:
    """NDCG@20 on the test set by epoch, a panel for each base, and where its authors' training ended."""
    gathered = [gather(jobs, grid, setting) for setting in settings_in(grid, jobs)]
    panels = [found for entries in gathered if (found := [one for one in entries if one.found])]
    if not panels:
        return []
    figure, axes = _new(len(panels))
    for axis, entries in zip(axes, panels):
        for entry, colour in zip(entries, COLOURS):
            curve = [(epoch, metrics[METRIC]) for epoch, metrics in test_curve(entry)]
            axis.plot(*zip(*curve), marker="o", color=colour, label=entry.cell.case)
        first = entries[0]
        if first.published is not None:
            axis.axhline(
                first.published.ndcg, linestyle="--", color="#8a8f98", label="its authors, at the end"
            )
        axis.locator_params(axis="x", integer=True)
        finish_axis(axis, f"{first.cell.data}, {first.cell.base}", "epoch", "NDCG@20, test")
        axis.legend(frameon=False)
    return [("curves", figure)]


def _against_published(grid: Grid, jobs: Sequence[Job]) -> list[tuple[str, Figure]]:
    """NDCG@20 of ours against the published, a colour for each method; on the line they are equal."""
    if grid.kind != "comparison" or grid.published is None:
        return []
    points: dict[str, list[tuple[float, float]]] = {}
    for setting in settings_in(grid, jobs):
        for entry in gather(jobs, grid, setting):
            spread = entry.spread(METRIC)
            if spread is not None and entry.published is not None:
                points.setdefault(entry.label, []).append((entry.published.ndcg, spread.mean))
    if not points:
        return []
    figure, (axis,) = _new(1)
    for (label, some), colour in zip(points.items(), COLOURS):
        axis.plot([x for x, _ in some], [y for _, y in some], "o", color=colour, label=label)
    values = [value for some in points.values() for pair in some for value in pair]
    ends = [0.9 * min(values), 1.05 * max(values)]
    axis.plot(ends, ends, "--", color="#8a8f98", linewidth=1)
    finish_axis(axis, "NDCG@20, all settings", "published", "ours, int8")
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    return [("published", figure)]


def _new(panels: int, same_y: bool = False) -> tuple[Figure, list[Axes]]:
    columns = min(panels, 3)
    rows = -(-panels // columns)
    figure = new_figure(max(5.5, 4.4 * columns), 3.6 * rows)
    axes: Any = figure.subplots(rows, columns, squeeze=False, sharey=same_y)
    for unused in axes.reshape(-1)[panels:]:
        unused.set_visible(False)
    return figure, list(axes.reshape(-1)[:panels])
