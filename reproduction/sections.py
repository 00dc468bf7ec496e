"""The report's details, from entries to cells of text: what each kind of grid shows of settings that have results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reproduction.entries import Entry, gather, source_of
from reproduction.grid import Grid, variant_of
from reproduction.jobs import Job
from reproduction.quality_table import NOTHING, not_there, quality_table, shown_spread
from reproduction.rendering import Section, Table
from sparserec.runs import METRIC
from sparserec.units import show_bytes

Setting = tuple[str, str, float]


def section_of(grid: Grid, jobs: Sequence[Job]) -> Section:
    """The tables of a grid; empty where nothing of it is trained."""
    make = {
        "comparison": _comparisons,
        "lengths": _lengths,
        "curve": _curves,
        "sizes": _sizes,
        "memory": _memory,
        "curves": _validity,
    }[grid.kind]
    tables = make(grid, jobs)
    if not tables:
        return Section(grid.name, grid.title)
    text = [grid.question]
    if grid.published is not None:
        text.append(f"Published: {source_of(grid.published)}.")
    return Section(grid.name, grid.title, text, tables)


def settings_in(grid: Grid, jobs: Iterable[Job]) -> list[Setting]:
    """Data set, base and density of all cells, each once, in the order of the grid's blocks."""
    cells = sorted(
        (cell for job in jobs for cell in job.cells if cell.grid == grid.name),
        key=lambda cell: -cell.priority,
    )
    return list(dict.fromkeys(cell.setting for cell in cells))


def trained_settings(grid: Grid, jobs: Sequence[Job]) -> dict[Setting, list[Entry]]:
    """Settings with a row of their own, and their entries."""
    found = {setting: gather(jobs, grid, setting) for setting in settings_in(grid, jobs)}
    return {setting: entries for setting, entries in found.items() if _trained(entries)}


def settings_without(grid: Grid, jobs: Sequence[Job]) -> list[Setting]:
    """Settings of which nothing is trained."""
    trained = trained_settings(grid, jobs)
    return [setting for setting in settings_in(grid, jobs) if setting not in trained]


def _trained(entries: Sequence[Entry]) -> bool:
    """Whether a setting has a row of its own: one that serves all densities stands with each of them."""
    own = [entry for entry in entries if not variant_of(entry.cell.variant).any_density]
    return any(entry.found for entry in own or entries)


def shown(setting: Setting) -> str:
    """A setting in words."""
    data, base, density = setting
    return f"{data}, {base}, density {density:g}"


def _comparisons(grid: Grid, jobs: Sequence[Job]) -> list[Table]:
    tables = (quality_table(shown(one), entries) for one, entries in trained_settings(grid, jobs).items())
    return [table for table in tables if table is not None]


def _lengths(grid: Grid, jobs: Sequence[Job]) -> list[Table]:
    cases = dict.fromkeys(
        (cell.setting, cell.case) for job in jobs for cell in job.cells if cell.grid == grid.name
    )
    tables = (
        quality_table(f"{shown(setting)}, {case}", gather(jobs, grid, setting, case))
        for setting, case in cases
    )
    return [table for table in tables if table is not None]


def _curves(grid: Grid, jobs: Sequence[Job]) -> list[Table]:
    columns = ["case", "Recall@20", "NDCG@20", "explored", "formula / dense table", "ledger", "peak (train)"]
    tables = []
    for setting in settings_in(grid, jobs):
        entries = entries_by_case(grid, jobs, setting)
        lines = [_curve_line(case, entry) for case, entry in entries.items() if entry.found]
        missing = [case for case, entry in entries.items() if not entry.found]
        notes = [f"Not trained: {', '.join(missing)}."] if missing else []
        tables += [Table(shown(setting), columns, lines, notes)] if lines else []
    return tables


def entries_by_case(grid: Grid, jobs: Sequence[Job], setting: Setting) -> dict[str, Entry]:
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
    count = entry.explorations
    return [
        case if entry.is_sparserec else f"{case} ({entry.label})",
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
    names = ("pearson_users", "pearson_items", "spearman_users", "spearman_items")
    columns = ["growth", *(name.capitalize().replace("_", ", ") for name in names), "NDCG@20", "explored"]

    def line(entry: Entry) -> list[str]:
        assert entry.first is not None
        mask = entry.first.row["mask"]
        shares = [f"{mask[name]:.2f}" for name in names]
        return [entry.label, *shares, shown_spread(entry, METRIC), str(entry.explorations)]

    return _by_entry(grid, jobs, columns, line)


def _memory(grid: Grid, jobs: Sequence[Job]) -> list[Table]:
    columns = ["method", "formula", "ledger", "peak (train)"]
    return _by_entry(grid, jobs, columns, lambda entry: [entry.label, *_memory_cells(entry)])


def _by_entry(
    grid: Grid, jobs: Sequence[Job], columns: list[str], line: Callable[[Entry], list[str]]
) -> list[Table]:
    """A table for every setting, a line for every entry that has a result."""
    return [
        Table(shown(setting), columns, [line(one) for one in entries if one.found], not_there(entries))
        for setting, entries in trained_settings(grid, jobs).items()
    ]


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
            tables += [Table(title, columns, _validity_lines(entry))] if entry.found else []
    return tables


def _validity_lines(entry: Entry) -> list[list[str]]:
    assert entry.first is not None
    published = entry.published
    known = (published.recall, published.ndcg) if published else (None, None)
    lines = []
    for at, metrics in [*test_curve(entry), ("at the end", entry.first.row["test"]["float"])]:
        line = [str(at)]
        for name, value in (("recall@20", known[0]), (METRIC, known[1])):
            ours = metrics[name]
            line += [
                f"{ours:.4f}",
                f"{value:.4f}" if value else NOTHING,
                f"{ours / value:.3f}" if value else NOTHING,
            ]
        lines.append(line)
    return lines


def test_curve(entry: Entry) -> list[tuple[int, dict[str, float]]]:
    """Epochs named beforehand, and the test set's metrics after each."""
    assert entry.first is not None
    return [(int(epoch), metrics) for epoch, metrics in entry.first.row.get("test_by_epoch", {}).items()]


TRY = re.compile(
    r"search-(?P<base>[a-z]+)-(?P<variant>\w+)-[0-9a-f]{6}@(?P<rate>[0-9.e-]+?)(?P<short>-short)?"
)
RATES_TRIED = (
    "Validation NDCG@20 by first learning rate, Gowalla, density .125: short trainings of every rate, then whole ones "
    "of the best. Batch, and how far the rate falls, are the same for all. Variants that are not here borrow a rate "
    "(reproduction/grids/rates.toml says whose)."
)


def rates_section(rows: Iterable[dict[str, Any]]) -> Section:
    """One line a search, from its recorded rows; empty where nothing was searched."""
    short: dict[tuple[str, str], dict[float, float]] = {}
    whole: dict[tuple[str, str], dict[float, float]] = {}
    for row in rows:
        found = TRY.fullmatch(row["name"])
        score = row["epochs"][-1]["best_score"]
        if found is not None and score is not None:
            kind = short if found["short"] else whole
            kind.setdefault((found["base"], found["variant"]), {})[float(found["rate"])] = score
    lines = [
        [
            *search,
            str(len(short.get(search, {}))),
            _shown(short.get(search, {})),
            _shown(whole.get(search, {})),
        ]
        for search in dict.fromkeys([*short, *whole])
    ]
    table = Table("", ["base", "method", "rates", "short", "whole"], lines)
    return (
        Section("tries", "Rates that were tried", [RATES_TRIED], [table]) if lines else Section("tries", "")
    )


def _shown(scores: dict[float, float]) -> str:
    return ", ".join(f"{rate:g}: {score:.4f}" for rate, score in sorted(scores.items()))
