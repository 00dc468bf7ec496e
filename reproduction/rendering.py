"""A report: sections with text, figures and tables of text, as Markdown and as one HTML file."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Literal

Mark = Literal["", "best", "second"]


@dataclass(frozen=True)
class Pair:
    """A cell of one of the paper's tables: ours above the published number, each with its place in its column."""

    ours: str
    published: str
    mark: Mark = ""
    published_mark: Mark = ""
    about: str = ""
    """What else there is to say of ours, such as its seeds."""


Line = Sequence["str | Pair"]


@dataclass
class Table:
    """A table of text; its first column, or as many as `names` says, names the lines."""

    title: str
    columns: list[str]
    lines: Sequence[Line]
    notes: list[str] = field(default_factory=list)
    groups: list[tuple[str, int]] = field(default_factory=list)
    """A line above the columns: titles and how many columns each spans."""
    names: int = 1


@dataclass
class Section:
    """A part of the report under a heading of its own."""

    name: str
    title: str
    text: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.text or self.tables or self.figures)


def marks(values: dict[str, float]) -> Callable[[str], Mark]:
    """Which names have the best value and which the second best; a column of one has neither."""
    places = sorted(set(values.values()), reverse=True)

    def mark(name: str) -> Mark:
        if name not in values or len(values) < 2:
            return ""
        place = places.index(values[name])
        return "best" if place == 0 else "second" if place == 1 else ""

    return mark


MOST_LINES = 300
"""Of the Markdown: what does not fit is in the HTML."""


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """The report as Markdown, figures as files beside it; the last tables are left out where it gets too long."""
    parts, left_out = [f"# {title}"], 0
    for section in sections:
        head = [f"## {section.title}", *section.text]
        head += [f"![{figure.stem}]({figure.name})" for figure in section.figures]
        bodies = [_markdown_table(table) for table in section.tables]
        kept: list[str] = []
        for body in bodies:
            if _lines([*parts, *head, *kept, *body]) > MOST_LINES - 3:
                left_out += 1
            else:
                kept += body
        if kept or not section.tables:
            parts += head + kept
    if left_out:
        parts.append(f"{left_out} more tables are in the HTML that `sparserec reproduce` writes beside this.")
    return "\n\n".join(parts) + "\n"


def _lines(parts: Sequence[str]) -> int:
    return sum(part.count("\n") + 2 for part in parts)


def _markdown_table(table: Table) -> list[str]:
    columns = list(table.columns)
    if table.groups:
        spread = [name for name, width in table.groups for _ in range(width)]
        columns = [f"{group} {column}".strip() for group, column in zip(spread, columns)]
    rows = [
        columns,
        ["---"] * len(columns),
        *([_markdown_cell(cell) for cell in line] for line in table.lines),
    ]
    body = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return [*([f"### {table.title}"] if table.title else []), body, *table.notes]


def _markdown_cell(cell: str | Pair) -> str:
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    around = {"": ("", ""), "best": ("**", "**"), "second": ("<u>", "</u>")}
    ours, published = (
        f"{around[mark][0]}{text}{around[mark][1]}" if text else ""
        for text, mark in ((cell.ours, cell.mark), (cell.published, cell.published_mark))
    )
    return f"{ours}<br>{published}" if published else ours


def as_html(title: str, sections: Sequence[Section]) -> str:
    """The report as one file: figures are inside, tables can be sorted by their columns."""
    links = "".join(f'<a href="#{section.name}">{html.escape(section.title)}</a>' for section in sections)
    body = [f"<h1>{html.escape(title)}</h1>", f"<nav>{links}</nav>"]
    for section in sections:
        body += [
            f'<section id="{section.name}"><h2>{html.escape(section.title)}</h2>',
            *_html_body(section),
            "</section>",
        ]
    page = (files("reproduction") / "report.html").read_text(encoding="utf-8")
    return page.replace("{{title}}", html.escape(title)).replace("{{body}}", "\n".join(body))


def _html_body(section: Section) -> list[str]:
    parts = [f"<p>{_inline(text)}</p>" for text in section.text]
    if section.figures:
        parts.append('<div class="figures">')
        for figure in section.figures:
            encoded = base64.b64encode(figure.read_bytes()).decode()
            parts.append(f'<img alt="{html.escape(figure.stem)}" src="data:image/png;base64,{encoded}">')
        parts.append("</div>")
    for table in section.tables:
        parts += [f"<h3>{html.escape(table.title)}</h3>"] if table.title else []
        parts += [_html_table(table), *(f'<p class="note">{_inline(note)}</p>' for note in table.notes)]
    return parts


def _html_table(table: Table) -> str:
    above = "".join(f'<th colspan="{width}">{html.escape(name)}</th>' for name, width in table.groups)
    head = "".join(
        f'<th scope="col"{_kind(at, table)}><button>{html.escape(name)}</button></th>'
        for at, name in enumerate(table.columns)
    )
    heads = (f'<tr class="groups">{above}</tr>' if above else "") + f"<tr>{head}</tr>"
    rows = [_html_row(table, line, at) for at, line in enumerate(table.lines)]
    kind = ' class="paper"' if table.groups else ""
    return (
        f'<div class="wide"><table{kind}><thead>{heads}</thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _html_row(table: Table, line: Line, at: int) -> str:
    names = [cell for cell in line[: table.names] if isinstance(cell, str)]
    begins = table.columns[0] == "density" and at > 0 and table.lines[at - 1][0] != line[0]
    kinds = [name for name, holds in (("own", "SparseRec" in names), ("begins", begins)) if holds]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    cells = "".join(f"<td{_kind(place, table)}>{_html_cell(cell)}</td>" for place, cell in enumerate(line))
    return f"<tr{kind}>{cells}</tr>"


def _kind(column: int, table: Table) -> str:
    return ' class="name"' if column < table.names else ""


def _html_cell(cell: str | Pair) -> str:
    if isinstance(cell, str):
        return html.escape(cell)
    about = f' title="{html.escape(cell.about)}"' if cell.about else ""
    return (
        f'<span class="ours {cell.mark}"{about}>{html.escape(cell.ours) or "&nbsp;"}</span>'
        f'<span class="published {cell.published_mark}">{html.escape(cell.published)}</span>'
    )


def _inline(text: str) -> str:
    escaped = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\*\*([^*]*)\*\*", r"<strong>\1</strong>", escaped)
