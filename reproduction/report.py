"""The report: the paper's tables with ours beside, its questions answered, figures, then details; Markdown and HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from reproduction.answers import answers
from reproduction.grid import SMALL, Grid, read_grid
from reproduction.jobs import Job
from reproduction.leads import leads_table
from reproduction.paper_figures import draw_grid
from reproduction.paper_table import ablation_table, comparison_table, lengths_table, own_table
from reproduction.rendering import Section, Table, as_html, as_markdown
from reproduction.sections import rates_section, section_of, settings_without
from reproduction.small_table import small_sections
from sparserec.files import write_text
from sparserec.runs import read_results
from sparserec.units import show_seconds

TITLE = "SparseRec, the paper again: ours beside the published"
HOW_TO_READ = [
    "Test scores are those of the int8 table, as in the paper, unless a table says otherwise; the split is ours "
    "(70/10/20 at random, as the paper's), so its numbers can be approached, not met. `ratio` is ours over the "
    "published.",
    "A published number comes from trainings of up to 500 epochs, ours from as many as the table says: compare orders "
    "before values. Rates were searched on Gowalla at density .125 and are used everywhere.",
    "`against SparseRec`: mean difference of NDCG@20 over users with its 95 % interval (paired t-test, first seed, "
    "Holm's correction within a table). With thousands of users tiny differences are significant: `seeds ahead` says "
    "on how many seeds the method is ahead, and only several seeds support a claim.",
    "`coverage`: share of the catalogue in at least one list of 20. `popular tenth`: share of the places of all lists "
    "that hold one of the most popular tenth of items. A training that explored fewer than ten times is not called "
    "SparseRec.",
]
MARKS = (
    "Ours above the published number; the best of a column and density is bold, the second underlined, each among its "
    "own. A cell without a number of ours is not trained. Ours are means over seeds."
)


def write_report(grids: Sequence[str], jobs: Sequence[Job], path: Path, searched: Path) -> list[Path]:
    """Write PATH.md and PATH.html (its suffix is replaced) with figures beside; returns the files.

    `searched` is the result file that holds what searches of rates tried.
    """
    chosen = [read_grid(name) for name in grids]
    figures = [figure for grid in chosen for figure in draw_grid(grid, jobs, path.parent, path.stem)]
    tried = rates_section(read_results(searched) if searched.exists() else ())
    return [*_write(TITLE, [*sections_of(chosen, jobs, figures), tried], jobs, path), *figures]


def write_small_report(jobs: Sequence[Job], full: Sequence[Job], path: Path) -> list[Path]:
    """The same of Table 1 in small, with what is trained of Table 1 itself to compare with."""
    grid = read_grid(SMALL)
    state = Section("state", "What is there", [*_state([grid], jobs), *HOW_TO_READ])
    sections = [*small_sections(jobs, full), state, section_of(grid, jobs)]
    return _write("SparseRec, Table 1 in small", sections, jobs, path)


def _write(title: str, sections: Sequence[Section], jobs: Sequence[Job], path: Path) -> list[Path]:
    there = [section for section in sections if not section.empty]
    markdown, page = path.with_suffix(".md"), path.with_suffix(".html")
    write_text(markdown, as_markdown(title, there))
    write_text(page, as_html(title, [*there, *_open_trainings(jobs)]))
    return [markdown, page]


def sections_of(grids: Sequence[Grid], jobs: Sequence[Job], figures: list[Path]) -> list[Section]:
    """First what a reader wants to see, then what it rests on."""
    by_name = {grid.name: grid for grid in grids}
    found = []
    if "table1" in by_name:
        tables = [comparison_table(by_name["table1"], jobs), own_table(by_name["table1"], jobs)]
        there = [table for table in tables if table is not None]
        found.append(Section("paper-table-1", "Table 1 of the paper", [MARKS], there))
    if "ablation" in by_name:
        table = ablation_table(by_name["ablation"], jobs)
        found.append(Section("paper-table-2", "The ablation, Table 2 of the paper", [], [table]))
    if {"table1", "headline"} <= set(by_name):
        longer = lengths_table(by_name["headline"], by_name["table1"], jobs)
        text = ["Recall@20 and NDCG@20, first as in Table 1 above; the published come from up to 500 epochs."]
        found.append(
            Section("paper-lengths", "Longer trainings", text, [longer] if longer is not None else [])
        )
    leads = leads_table(by_name["table1"], jobs) if "table1" in by_name else None
    found.append(Section("answers", "The paper's questions", answers(jobs), [leads] if leads else []))
    found.append(Section("figures", "Figures", figures=figures))
    found.append(Section("state", "What is there", [*_state(grids, jobs), *HOW_TO_READ]))
    return [*found, *(section_of(grid, jobs) for grid in grids)]


def _state(grids: Sequence[Grid], jobs: Sequence[Job]) -> list[str]:
    """How much is trained, and in one line what has no row at all."""
    counts = Counter(job.state for job in jobs)
    left = [job.seconds for job in jobs if job.state != "done" and job.seconds is not None]
    hours = (
        f" About {show_seconds(sum(left))} of training are left on this machine, for the {len(left)} that could be "
        "estimated."
        if left
        else ""
    )
    lines = [
        f"{len(jobs)} trainings: " + ", ".join(f"{counts[state]} {state}" for state in counts) + "." + hours
    ]
    without = []
    for grid in grids:
        settings = settings_without(grid, jobs)
        words = "; ".join(f"{data} {base} {density:g}" for data, base, density in settings)
        without += [f"{grid.name} ({words})"] if settings else []
    return [*lines, *([f"Settings without a row: {', '.join(without)}."] if without else [])]


def _open_trainings(jobs: Sequence[Job]) -> list[Section]:
    """Everything that is not there, in the order it would be trained."""
    lines = []
    for job in (job for job in jobs if job.state != "done"):
        grids = ", ".join(dict.fromkeys(cell.grid for cell in job.cells)) or "rates"
        taken = "" if job.seconds is None else show_seconds(job.seconds)
        lines.append([job.name, grids, job.state, taken, job.problem or ""])
    table = Table("", ["training", "for", "state", "about", "why not"], lines)
    return [Section("open", "Trainings that are missing", tables=[table])] if lines else []
