"""Tables in whatever way a file holds them: each way has one tensor that no other has."""

from __future__ import annotations

from collections.abc import Callable

from .codecs import read_table
from .container import Container
from .product import CodedTable, read_codes
from .rows import read_rows
from .table import Table

AnyTable = Table | CodedTable
ReadTable = Callable[[Container, str, int, int], AnyTable]
"""From a container, the table's name, its rows and columns."""

READERS: dict[str, ReadTable] = {"slices": read_codes, "code.value": read_rows, "code": read_table}
"""By that tensor, in the order of the format. Encodings from outside join them."""


def read_any_table(container: Container, name: str, rows: int, dim: int) -> AnyTable:
    """A table, by the first reader that knows it; packages are asked only about one that nobody here knows."""
    read = _find(container, name)
    if read is None:
        join_installed()
        read = _find(container, name) or read_table  # which says what is missing
    return read(container, name, rows, dim)


def _find(container: Container, name: str) -> ReadTable | None:
    return next((read for tensor, read in READERS.items() if f"{name}.{tensor}" in container), None)


def join_installed() -> None:
    """Readers of encodings that installed packages bring join ours."""
    from importlib.metadata import entry_points  # slow, and hardly ever needed

    for kind in (one.load() for one in entry_points(group="sparserec.encodings")):
        if kind.tensor:
            READERS.setdefault(kind.tensor, kind.read)
