"""Parquet files to Arrow tables of the needed columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sparserec.data.naming import choose_columns
from sparserec.data.opening import read_bytes
from sparserec.data.problems import UnreadableFileError


def read_parquet(path: Path, wanted: dict[str, str | None]) -> tuple[Any, dict[str, str]]:
    """The needed columns and the column of each role."""
    import pyarrow as pa
    from pyarrow import parquet

    read_bytes(path, 4)  # a missing, unreadable or empty file gets its own message
    try:
        names = parquet.read_schema(path).names
        roles = choose_columns(names, wanted, str(path))
        return parquet.ParquetFile(path).read(columns=list(roles.values())), roles
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0]
        raise UnreadableFileError(
            f"{path}: damaged or truncated Parquet file ({first}); write it again"
        ) from None
