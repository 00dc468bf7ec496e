"""Answers as tables: data frames of the library that is there, and HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sparserec.errors import SettingError, SparserecError

LIBRARIES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}
"""What makes a frame of columns, by library; the first that is installed is taken where none is named."""

Columns = dict[str, Sequence[Any]]


def frame_of(columns: Columns, library: str | None = None) -> Any:
    """A data frame with these columns."""
    if library is not None and library not in LIBRARIES:
        raise SettingError(f"to_frame: {library!r} is not one of {', '.join(LIBRARIES)}")
    wanted = (library,) if library is not None else tuple(LIBRARIES)
    found = next((name for name in wanted if find_spec(name) is not None), None)
    if found is None:
        raise SparserecError(f"to_frame needs {' or '.join(wanted)}: pip install {wanted[0]}")
    return getattr(import_module(found), LIBRARIES[found])(
        {name: list(cells) for name, cells in columns.items()}
    )


def html_table(columns: Columns, caption: str = "") -> str:
    """The same for a notebook; everything in it is escaped, titles may hold anything."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(_cell(cell))}</td>' for cell in cells)}</tr>"
        for cells in zip(*columns.values())
    )
    about = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{about}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
