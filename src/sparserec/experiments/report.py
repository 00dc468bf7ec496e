"""The report: what is there, what is missing, ours beside the published; as Markdown and as one HTML file."""

from __future__ import annotations

import base64
import html
import re
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from sparserec.experiments.entries import gather
from sparserec.experiments.grid import Grid, read_grid, variant_of
from sparserec.experiments.jobs import Job
from sparserec.experiments.paper_figures import draw_grid
from sparserec.experiments.quality_table import MISSING, NOTHING, Table, agreement_of, mean_of
from sparserec.experiments.sections import Section, section_of, settings_in, shown
from sparserec.files import write_text
from sparserec.units import show_seconds

HOW_TO_READ = [
    "Test scores are those of the int8 table, as in the paper, unless a table says otherwise; the split is "
    "ours (70/10/20 "
    "at random, as the paper's), so its numbers can be approached, not met. `ratio` is ours over the published.",
    "A published number comes from trainings of up to 500 epochs, ours from as many as the table says: compare orders "
    "before values. Rates were searched on Gowalla at density .125 and are used everywhere.",
    "`against SparseRec`: mean difference of NDCG@20 over users with its 95 % interval (paired t-test, first "
    "seed, Holm's "
    "correction within a table). With thousands of users tiny differences are significant: `seeds ahead` says "
    "on how many "
    "seeds the method is ahead, and only several seeds support a claim.",
    "`coverage`: share of the catalogue in at least one list of 20. `popular tenth`: share of the places of "
    "all lists that "
    "hold one of the most popular tenth of items.",
    "A training that explored fewer than ten times is not called SparseRec.",
]


def write_report(grids: Sequence[str], jobs: Sequence[Job], path: Path) -> list[Path]:
    """Write PATH.md and PATH.html (its suffix is replaced) with figures beside; returns the files."""
    chosen = [read_grid(name) for name in grids]
    summary, sections = summary_of(chosen, jobs), [section_of(grid, jobs) for grid in chosen]
    for grid, section in zip(chosen, sections):
        section.figures = draw_grid(grid, jobs, path.parent, path.stem)
    sections.append(_open_trainings(jobs))
    markdown, page = path.with_suffix(".md"), path.with_suffix(".html")
    write_text(markdown, as_markdown(summary, sections))
    write_text(page, as_html(summary, sections))
    return [markdown, page, *(figure for section in sections for figure in section.figures)]


def summary_of(grids: Sequence[Grid], jobs: Sequence[Job]) -> Section:
    """How much is there, and one line per setting of the comparisons."""
    counts = Counter(job.state for job in jobs)
    left = [job.seconds for job in jobs if job.state != "done" and job.seconds is not None]
    lines = [f"{len(jobs)} trainings: " + ", ".join(f"{counts[state]} {state}" for state in counts) + "."]
    if left:
        lines.append(
            f"About {show_seconds(sum(left))} of training left on this machine, for the {len(left)} that could "
            "be estimated."
        )
    tables = [_overview(grid, jobs) for grid in grids if grid.kind == "comparison"]
    return Section(
        "summary", "The paper's tables and figures: ours beside the published", lines + HOW_TO_READ, tables
    )


def _overview(grid: Grid, jobs: Sequence[Job]) -> Table:
    columns = [
        "setting",
        "there",
        "best of ours",
        "best published",
        "SparseRec, place",
        "published place",
        "Kendall's tau",
    ]
    table = Table(f"At a glance: {grid.title}", columns, [])
    for at, setting in enumerate(settings_in(grid, jobs)):
        entries = gather(jobs, grid, setting)
        done = [entry for entry in entries if entry.found]
        rivals = [entry for entry in entries if not variant_of(entry.cell.variant).any_density]
        ours = {entry.label: mean_of(entry, "ndcg@20") for entry in rivals if entry.found}
        published = {entry.cell.label: entry.published.ndcg for entry in rivals if entry.published}
        found = agreement_of(entries)
        table.lines.append(
            [
                shown(setting),
                f"{len(done)} of {len(entries)}",
                _first(ours),
                _first(published),
                _place(ours),
                _place(published),
                NOTHING if found is None else f"{found.tau:+.2f} ({found.n})",
            ]
        )
        if not done:
            table.missing.add(at)
    table.notes.append(
        "Places are by NDCG@20 among what is there. Dense and DHE, whose size is not the setting's, have none. A place "
        "that one seed gives is no claim."
    )
    return table


def _first(scores: dict[str, float]) -> str:
    if not scores:
        return MISSING
    name = max(scores, key=lambda one: scores[one])
    return f"{name} {scores[name]:.4f}"


def _place(scores: dict[str, float]) -> str:
    if "SparseRec" not in scores:
        return NOTHING
    return f"{1 + sum(score > scores['SparseRec'] for score in scores.values())} of {len(scores)}"


def _open_trainings(jobs: Sequence[Job]) -> Section:
    """Everything that is not there, in the order it would be trained."""
    lines = []
    for job in (job for job in jobs if job.state != "done"):
        grids = ", ".join(dict.fromkeys(cell.grid for cell in job.cells)) or "rates"
        taken = NOTHING if job.seconds is None else show_seconds(job.seconds)
        lines.append([job.name, grids, job.state, taken, job.problem or NOTHING])
    table = Table("", ["training", "for", "state", "about", "why not"], lines)
    return Section("open", "What is missing", [] if lines else ["Nothing."], [table] if lines else [])


def as_markdown(summary: Section, sections: Sequence[Section]) -> str:
    """The report as Markdown; figures are files beside it."""
    parts = [f"# {summary.title}", *_markdown_body(summary, 2)]
    for section in sections:
        parts += [f"## {section.title}", *_markdown_body(section, 3)]
    return "\n\n".join(parts) + "\n"


def _markdown_body(section: Section, level: int) -> list[str]:
    parts = [*section.text, *(f"![{figure.stem}]({figure.name})" for figure in section.figures)]
    for table in section.tables:
        parts += [f"{'#' * level} {table.title}"] if table.title else []
        rows = [table.columns, ["---"] * len(table.columns), *table.lines]
        parts.append(
            "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
        )
        parts += table.notes
    return parts


def as_html(summary: Section, sections: Sequence[Section]) -> str:
    """The report as one file: figures are inside."""
    links = "".join(f'<a href="#{section.name}">{html.escape(section.title)}</a>' for section in sections)
    body = [f"<h1>{html.escape(summary.title)}</h1>", f"<nav>{links}</nav>", *_html_body(summary)]
    for section in sections:
        body += [f'<h2 id="{section.name}">{html.escape(section.title)}</h2>', *_html_body(section)]
    page = (files("sparserec.experiments") / "report.html").read_text(encoding="utf-8")
    return page.replace("{{title}}", html.escape(summary.title)).replace("{{body}}", "\n".join(body))


def _html_body(section: Section) -> list[str]:
    parts = [f"<p>{_inline(text)}</p>" for text in section.text]
    for figure in section.figures:
        encoded = base64.b64encode(figure.read_bytes()).decode()
        parts.append(f'<img alt="{html.escape(figure.stem)}" src="data:image/png;base64,{encoded}">')
    for table in section.tables:
        parts += [f"<h3>{html.escape(table.title)}</h3>"] if table.title else []
        parts += [_html_table(table), *(f'<p class="note">{_inline(note)}</p>' for note in table.notes)]
    return parts


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.columns)
    rows = []
    for at, line in enumerate(table.lines):
        kind = ' class="missing"' if at in table.missing else ' class="own"' if line[0] == "SparseRec" else ""
        rows.append(f"<tr{kind}>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>")
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _inline(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
