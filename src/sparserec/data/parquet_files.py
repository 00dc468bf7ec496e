"""Parquet files to Arrow tables of the needed columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sparserec.data.arrow_columns import choose_columns
from sparserec.data.errors import UnreadableFileError
from sparserec.data.sniff import read_bytes


def parquet_names(path: Path) -> list[str]:
    """The names of all columns."""
    from pyarrow import parquet

    with _explaining(path):
        return parquet.read_schema(path).names  # type: ignore[no-any-return]


def read_parquet(path: Path, wanted: dict[str, str | None]) -> tuple[Any, dict[str, str]]:
    """The needed columns and the column of each role."""
    from pyarrow import parquet

    roles = choose_columns(parquet_names(path), wanted, str(path))
    with _explaining(path):
        return parquet.ParquetFile(path).read(columns=list(dict.fromkeys(roles.values()))), roles


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
