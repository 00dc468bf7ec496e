"""Recommendations for everybody as a file: CSV or Parquet, written a few users at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import IdMap
from sparserec.errors import RunError
from sparserec.files import replacing
from sparserec.progress import progress
from sparserec.serving.questions import QuestionError

USERS_AT_ONCE = 1024
SUFFIXES = (".csv", ".parquet")
_FORMULA = re.compile(r"(?![+-]?\d+(\.\d+)?$)[=+\-@\t\r]")
"""Begins as formulas do, and is no number."""

Ranked = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Item numbers and scores, a row per user; -1 where a user's list ends early."""


def check_out(out: Path) -> None:
    """Refuse a file name before anything is computed."""
    if out.suffix not in SUFFIXES:
        raise QuestionError(f"{out}: the name must end in {' or '.join(SUFFIXES)}, to say what to write")


def write_all(
    out: Path, ranked: Ranked, user_ids: IdMap, item_ids: IdMap, titles: list[str] | None, quiet: bool = True
) -> int:
    """Write user, rank, item, score and, where known, title for all users; returns the number of rows.

    In a .csv file ids and titles that begin with = + - @ and are no numbers get an apostrophe before them: logs and
    titles may come from anybody, and a spreadsheet runs such cells. A .parquet file has everything as it is.
    """
    check_out(out)
    names = None if titles is None else np.array(titles, dtype=object)
    rows = 0
    try:
        with replacing(out) as temporary, progress("recommend", len(user_ids), quiet) as bar:
            with _writer(temporary, out.suffix, _schema(user_ids, item_ids, titles)) as write:
                for start in range(0, len(user_ids), USERS_AT_ONCE):
                    users = np.arange(start, min(start + USERS_AT_ONCE, len(user_ids)), dtype=np.int32)
                    columns = _columns(users, *ranked(users), user_ids, item_ids, names)
                    write(columns)
                    rows += len(columns["rank"])
                    bar.advance(len(users))
    except OSError as error:
        raise RunError(f"{out}: cannot write ({error}); is the disk full? Nothing was changed") from error
    return rows


def _schema(user_ids: IdMap, item_ids: IdMap, titles: list[str] | None) -> Any:
    import pyarrow as pa

    def kind(ids: IdMap) -> Any:
        return pa.int64() if ids.is_integer else pa.string()

    fields = [
        ("user", kind(user_ids)),
        ("rank", pa.int32()),
        ("item", kind(item_ids)),
        ("score", pa.float32()),
    ]
    return pa.schema(fields + ([] if titles is None else [("title", pa.string())]))


def _columns(
    users: np.ndarray,
    items: np.ndarray,
    scores: np.ndarray,
    user_ids: IdMap,
    item_ids: IdMap,
    names: np.ndarray | None,
) -> dict[str, Any]:
    row, place = np.nonzero(items >= 0)
    chosen = items[row, place]
    columns: dict[str, Any] = {
        "user": user_ids.external(users[row]),
        "rank": (place + 1).astype(np.int32),
        "item": item_ids.external(chosen),
        "score": scores[row, place],
    }
    return columns if names is None else {**columns, "title": names[chosen]}


@contextmanager
def _writer(path: Path, suffix: str, schema: Any) -> Iterator[Callable[[dict[str, Any]], None]]:
    import pyarrow as pa
    from pyarrow import csv, parquet

    whole = suffix == ".parquet"
    opened: Any = (parquet.ParquetWriter if whole else csv.CSVWriter)(path, schema)
    with opened as writer:

        def write(columns: dict[str, Any]) -> None:
            cells = columns if whole else {name: _as_cells(one) for name, one in columns.items()}
            writer.write_table(pa.table(cells, schema=schema))

        yield write


def _as_cells(column: np.ndarray) -> np.ndarray:
    """Texts that a spreadsheet would run as a formula get an apostrophe before them; numbers stay as they are."""
    if column.dtype.kind not in "OU":
        return column
    return np.array([f"'{text}" if _FORMULA.match(text or "") else text for text in column], dtype=object)
