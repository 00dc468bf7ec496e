"""How much memory a file may take: counted from its lengths before anything is unpacked, in every reader alike.

Some encodings take a bit or nothing for what is bytes in memory, so a small file could ask for gigabytes. The count is
that of docs/format.md, so all readers refuse the same files; the real arrays stay below it.
"""

from __future__ import annotations

from dataclasses import dataclass

from .errors import TooLarge

FACTOR = 10
CONSTANT = 1 << 20
NODE_BYTES = ROW_BYTES = 12
LEVEL_BYTES = 1  # of each item that has a term of its own
CLASS_BYTES = 8  # of each byte of the graph's classes: two edges of four bytes


@dataclass
class MemoryLimit:
    """What is left of the memory that a file may take."""

    left: float

    def take(self, size: int, what: str) -> None:
        """Count what is about to be unpacked."""
        self.left -= size
        if self.left < 0:
            raise TooLarge(
                f"{what} would take more memory than {FACTOR} times the file and {CONSTANT:,} bytes: "
                "no model does, so it was not opened"
            )

    def take_rows(self, name: str, rows: int) -> None:
        """A table is begun."""
        self.take(ROW_BYTES * rows, f"table {name!r}: {rows:,} rows")

    def take_entries(self, name: str, entries: int, columns: int | None = None) -> None:
        """Its entries are known: a byte each, and where they name their column, what that takes."""
        self.take(entries * (1 + column_bytes(columns)), f"table {name!r}: {entries:,} entries")


def column_bytes(columns: int | None) -> int:
    """Of a column out of so many; None: entries name none."""
    if columns is None:
        return 0
    return 1 if columns <= 1 << 8 else 2 if columns <= 1 << 16 else 4


def limit_of(file_bytes: int) -> MemoryLimit:
    """What a file of so many bytes may take."""
    return MemoryLimit(FACTOR * file_bytes + CONSTANT)


def endless() -> MemoryLimit:
    """For tables that were made here, not read from a file of someone else's."""
    return MemoryLimit(float("inf"))
