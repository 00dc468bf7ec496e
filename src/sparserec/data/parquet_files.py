"""Parquet files to Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sparserec.data.errors import UnreadableFileError
from sparserec.data.sniff import read_bytes


def parquet_names(path: Path) -> list[str]:
    """The names of all columns."""
    from pyarrow import parquet

    with _explaining(path):
        return parquet.read_schema(path).names  # type: ignore[no-any-return]


def read_parquet(path: Path, columns: list[str] | None = None) -> Any:
    """All columns, or the named ones."""
    from pyarrow import parquet

    with _explaining(path):
        return parquet.ParquetFile(path).read(columns=columns)


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    import pyarrow as pa

    read_bytes(path, 4)  # a missing, unreadable or empty file gets its own message
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0]
        raise UnreadableFileError(
            f"{path}: damaged or truncated Parquet file ({first}); write it again"
        ) from None
