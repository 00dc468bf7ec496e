"""Tables for people: ruled on a terminal, plain aligned columns in a pipe, where nothing is cut to a width."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

WIDE = 200  # columns of a pipe


def console() -> Console:
    """Standard output."""
    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, soft_wrap=False)


def print_table(
    rows: Sequence[dict[str, Any]], title: str = "", left: Sequence[str] = (), notes: Sequence[str] = ()
) -> None:
    """Rows with the same keys; columns in `left` hold text, the others numbers. Notes follow below."""
    screen = console()
    table = Table(title=escape(title) or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
                  title_style="bold", show_edge=False)  # fmt: skip
    for name in rows[0] if rows else []:
        table.add_column(name, justify="left" if name in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell(value)) for value in row.values()))
    if sys.stdout.isatty():
        screen.print(table)
    else:
        _print_plain(rows, title, left)
    for note in notes:
        screen.print(escape(note), soft_wrap=True)


def _print_plain(rows: Sequence[dict[str, Any]], title: str, left: Sequence[str]) -> None:
    names = list(rows[0]) if rows else []
    lines = [names, *([cell(value) for value in row.values()] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(names))]
    if title:
        print(title)
    for line in lines:
        cells = (
            text.ljust(width) if name in left else text.rjust(width)
            for text, width, name in zip(line, widths, names)
        )
        print("  ".join(cells).rstrip())


def cell(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def size(count: float) -> str:
    """Bytes in the unit that gives three or so digits."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.{2 if count < 10 * scale else 1 if count < 100 * scale else 0}f} {unit}"
    return f"{count:.0f} B"


def warn(text: str) -> None:
    """A remark on standard error, so that results can be piped."""
    print(f"note: {text}", file=sys.stderr)
