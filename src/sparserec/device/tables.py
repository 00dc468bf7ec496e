"""Tables in whatever way a file holds them: each way has one tensor that no other has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .container import Container
from .product import CodedTable, read_codes
from .rows import read_rows
from .table import Table, read_table

AnyTable = Table | CodedTable
ReadTable = Callable[[Container, str, int, int], AnyTable]
"""From a container, the table's name, its rows and columns."""

READERS: dict[str, ReadTable] = {"slices": read_codes, "code.value": read_rows, "code": read_table}
"""By that tensor, in the order of the format. Encodings from outside join them."""


def read_any_table(container: Container, name: str, rows: int, dim: int) -> AnyTable:
    """A table, by the first reader that knows it."""
    for readers in (READERS.items, _installed):
        for tensor, read in readers():
            if f"{name}.{tensor}" in container:
                return read(container, name, rows, dim)
    return read_table(container, name, rows, dim)  # which says what is missing


def _installed() -> list[tuple[str, Any]]:
    """Readers of encodings that installed packages bring: asked only about tables that nobody here knows."""
    from importlib.metadata import entry_points  # slow, and hardly ever needed

    kinds = [one.load() for one in entry_points(group="sparserec.encodings")]
    return [(kind.tensor, kind.read) for kind in kinds if kind.tensor]
