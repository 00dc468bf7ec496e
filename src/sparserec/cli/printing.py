"""Text for people: aligned columns that fit a terminal and stay whole in a pipe."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparserec.units import show_bytes
from sparserec.visible import visible

if TYPE_CHECKING:
    from sparserec.runs import Record

SHORTEST = 12  # columns of text are not cut below this
BOLD, UNDERLINED = 1, 4


def print_table(
    rows: Sequence[dict[str, Any]], title: str = "", left: Sequence[str] = (), notes: Sequence[str] = ()
) -> None:
    """Rows with the same keys; columns in `left` hold text, the others numbers. Notes follow below."""
    names = [visible(name) for name in rows[0]] if rows else []
    lines = [[cell(value) for value in row.values()] for row in rows]
    widths = [max(len(line[column]) for line in [names, *lines]) for column in range(len(names))]
    _fit(widths, [name in left for name in names])
    if title:
        print(styled(visible(title), BOLD))
    for number, line in enumerate([names, *lines]):
        cells = (_cut(text, width, name in left) for text, width, name in zip(line, widths, names))
        line_text = "  ".join(cells).rstrip()
        print(styled(line_text, UNDERLINED) if number == 0 else line_text)
    for note in notes:
        print_text(note)


def print_text(text: str, indent: str = "") -> None:
    """A paragraph, wrapped on a terminal and one line in a pipe."""
    width, text = terminal_width(), visible(text, lines=True)
    lines = [text] if width is None else textwrap.wrap(text, width - len(indent))
    print("\n".join(indent + line for line in lines))


def styled(text: str, style: int) -> str:
    """The text in a style of the terminal, plain when the output goes elsewhere."""
    return f"\033[{style}m{text}\033[0m" if sys.stdout.isatty() else text


def terminal_width() -> int | None:
    """Columns of the terminal, None when the output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _fit(widths: list[int], is_text: list[bool]) -> None:
    """Narrow the widest columns of text until the table fits the terminal, if it can."""
    limit = terminal_width()
    while limit is not None and sum(widths) + 2 * (len(widths) - 1) > limit:
        width, column = max(
            (width if text else 0, at) for at, (width, text) in enumerate(zip(widths, is_text))
        )
        if width <= SHORTEST:
            return
        widths[column] -= 1


def _cut(text: str, width: int, left: bool) -> str:
    text = text if len(text) <= width else text[: width - 1] + "…"
    return text.ljust(width) if left else text.rjust(width)


def cell(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else visible(str(value))


def warn(text: str) -> None:
    """A remark on standard error, so that results can be piped."""
    print(f"note: {visible(text, lines=True)}", file=sys.stderr)


def print_record(record: Record, folder: Path, as_json: bool) -> None:
    """What a finished run found."""
    from rich.console import Console
    from rich.table import Table

    if as_json:
        print(json.dumps({**record.as_dict(), "folder": str(folder)}))
        return
    table = Table(title=f"{record.config['method']} on {record.config['base']}", title_justify="left")
    names = [
        name for name in ("recall@20", "ndcg@20") if any(name in found for found in record.test.values())
    ]
    table.add_column("table")
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("bytes", justify="right")
    for precision, metrics in record.test.items():
        size = record.bytes.get(precision, 4 * record.parameters)
        table.add_row(precision, *(f"{metrics[name]:.4f}" for name in names), show_bytes(size))
    console = Console()
    console.print(table)
    console.print(
        f"{record.parameters:,} parameters, {record.seconds.train:.0f} s of training, peak "
        f"{show_bytes(max(0, record.memory.peak['train']))} above the start"
    )
    console.print(f"run folder: {folder}")
