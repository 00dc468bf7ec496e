"""The report's tables, from entries to cells of text: what each kind of grid shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sparserec.experiments.agreement import METRIC
from sparserec.experiments.entries import Entry, gather
from sparserec.experiments.grid import Grid
from sparserec.experiments.jobs import Job
from sparserec.experiments.published import source_of
from sparserec.experiments.quality_table import (
    MISSING,
    NOTHING,
    Table,
    quality_table,
    shown_spread,
    why_missing,
)
from sparserec.units import show_bytes


@dataclass
class Section:
    """One grid in the report."""

    name: str
    title: str
    text: list[str]
    tables: list[Table] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)


def section_of(grid: Grid, jobs: Sequence[Job]) -> Section:
    """The tables of a grid."""
    text = [grid.question]
    if grid.published is not None:
        text.append(f"Published: {source_of(grid.published)}.")
    make = {
        "comparison": _comparisons,
        "lengths": _lengths,
        "curve": _curves,
        "sizes": _sizes,
        "memory": _memory,
        "curves": _validity,
    }[grid.kind]
    return Section(grid.name, grid.title, text, make(grid, jobs))


def settings_in(grid: Grid, jobs: Iterable[Job]) -> list[tuple[str, str, float]]:
    """Data set, base and density of all cells, each once, in the order of the grid's blocks."""
    cells = sorted(
        (cell for job in jobs for cell in job.cells if cell.grid == grid.name),
        key=lambda cell: -cell.priority,
    )
    return list(dict.fromkeys(cell.setting for cell in cells))


def shown(setting: tuple[str, str, float]) -> str:
    """A setting in words."""
    data, base, density = setting
    return f"{data}, {base}, density {density:g}"


def _comparisons(grid: Grid, jobs: Sequence[Job]) -> list[Table]:
    tables = []
    for setting in settings_in(grid, jobs):
        entries = gather(jobs, grid, setting)
        tables.append(quality_table(shown(setting), entries))
    return tables


def _lengths(grid: Grid, jobs: Sequence[Job]) -> list[Table]:
    tables = []
    for setting in settings_in(grid, jobs):
        cases = dict.fromkeys(
            cell.case
            for job in jobs
            for cell in job.cells
            if cell.grid == grid.name and cell.setting == setting
        )
        for case in cases:
            entries = gather(jobs, grid, setting, case)
            tables.append(quality_table(f"{shown(setting)}, {case}", entries))
    return tables


def _curves(grid: Grid, jobs: Sequence[Job]) -> list[Table]:
    columns = ["case", "Recall@20", "NDCG@20", "explored", "formula / dense table", "ledger", "peak (train)"]
    tables = []
    for setting in settings_in(grid, jobs):
        entries = entries_by_case(grid, jobs, setting)
        lines = [_curve_line(case, entry) for case, entry in entries.items()]
        missing = {at for at, entry in enumerate(entries.values()) if not entry.found}
        tables.append(Table(shown(setting), columns, lines, missing))
    return tables


def entries_by_case(grid: Grid, jobs: Sequence[Job], setting: tuple[str, str, float]) -> dict[str, Entry]:
    """The entry of each case of a figure, in the order of the grid."""
    cases = dict.fromkeys(
        label for block in grid.blocks for label in (case.get("label") for case in block.case)
    )
    found = {}
    for case in cases:
        entries = gather(jobs, grid, setting, case)
        if entries:
            found[str(case)] = entries[0]
    return found


def _curve_line(case: str, entry: Entry) -> list[str]:
    first = entry.first
    if first is None:
        return [case, f"{MISSING}: {why_missing(entry)}", MISSING, *[NOTHING] * 4]
    count = entry.explorations
    called = case if entry.is_sparserec else f"{case} ({entry.label})"
    return [
        called,
        shown_spread(entry, "recall@20"),
        shown_spread(entry, METRIC),
        NOTHING if count is None else str(count),
        f"{formula_share(entry):.3f}",
        *_memory_cells(entry)[1:],
    ]


def formula_share(entry: Entry) -> float:
    """Numbers held by the paper's count, in units of the dense table."""
    assert entry.first is not None
    row = entry.first.row
    rows = row["data"]["users"] + row["data"]["items"]
    return row["memory"]["formula"] / (4.0 * rows * row["config"]["dim"])


def _sizes(grid: Grid, jobs: Sequence[Job]) -> list[Table]:
    columns = [
        "growth",
        "Pearson, users",
        "Pearson, items",
        "Spearman, users",
        "Spearman, items",
        "NDCG@20",
        "explored",
    ]
    names = ("pearson_users", "pearson_items", "spearman_users", "spearman_items")
    tables = []
    for setting in settings_in(grid, jobs):
        entries = gather(jobs, grid, setting)
        lines = []
        for entry in entries:
            if entry.first is None:
                lines.append([entry.label, f"{MISSING}: {why_missing(entry)}", *[NOTHING] * 5])
                continue
            mask = entry.first.row["mask"]
            lines.append(
                [
                    entry.label,
                    *(f"{mask[name]:.2f}" for name in names),
                    shown_spread(entry, METRIC),
                    str(entry.explorations),
                ]
            )
        missing = {at for at, entry in enumerate(entries) if not entry.found}
        tables.append(Table(shown(setting), columns, lines, missing))
    return tables


def _memory(grid: Grid, jobs: Sequence[Job]) -> list[Table]:
    columns = ["method", "formula", "ledger", "peak (train)"]
    tables = []
    for setting in settings_in(grid, jobs):
        entries = gather(jobs, grid, setting)
        lines = [
            [
                entry.label,
                *(
                    _memory_cells(entry)
                    if entry.found
                    else [f"{MISSING}: {why_missing(entry)}", NOTHING, NOTHING]
                ),
            ]
            for entry in entries
        ]
        missing = {at for at, entry in enumerate(entries) if not entry.found}
        tables.append(Table(shown(setting), columns, lines, missing))
    return tables


def memory_bytes(entry: Entry) -> tuple[int, int, int]:
    """Bytes by the paper's count, by the ledger, and measured above the start."""
    assert entry.first is not None
    memory = entry.first.row["memory"]
    return memory["formula"], sum(memory["ledger"].values()), memory["peak"]["train"]


def _memory_cells(entry: Entry) -> list[str]:
    return [show_bytes(size) for size in memory_bytes(entry)]


def _validity(grid: Grid, jobs: Sequence[Job]) -> list[Table]:
    columns = ["test epoch", "Recall@20", "published", "ratio", "NDCG@20", "published", "ratio"]
    tables = []
    for setting in settings_in(grid, jobs):
        for entry in gather(jobs, grid, setting):
            title = f"{entry.cell.data}, {entry.cell.base}, dense, {entry.cell.case}"
            tables.append(Table(title, columns, *_validity_lines(entry)))
    return tables


def _validity_lines(entry: Entry) -> tuple[list[list[str]], set[int]]:
    published = entry.published
    known = (published.recall, published.ndcg) if published else (None, None)
    config = entry.cell.config
    if entry.first is None:
        epochs = ", ".join(str(epoch) for epoch in config.test_epochs) if config else "?"
        pair = [f"{value:.4f}" if value else NOTHING for value in known]
        return [
            [
                f"listed: {epochs}",
                f"{MISSING}: {why_missing(entry)}",
                pair[0],
                NOTHING,
                MISSING,
                pair[1],
                NOTHING,
            ]
        ], {0}
    curve = [
        (str(event["epoch"]), event["test_curve"])
        for event in entry.first.events()
        if event.get("test_curve")
    ]
    curve.append(("at the end", entry.first.row["test"]["float"]))
    lines = []
    for at, metrics in curve:
        line = [at]
        for name, value in (("recall@20", known[0]), (METRIC, known[1])):
            ours = metrics[name]
            line += [
                f"{ours:.4f}",
                f"{value:.4f}" if value else NOTHING,
                f"{ours / value:.3f}" if value else NOTHING,
            ]
        lines.append(line)
    return lines, set()
