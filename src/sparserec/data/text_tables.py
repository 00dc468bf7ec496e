"""Text tables (CSV, TSV, .inter, `user item weight` lines, MovieLens `::`) to Arrow columns of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sparserec.data.errors import MalformedLineError
from sparserec.data.file_bytes import check_text, read_bytes
from sparserec.data.naming import choose_columns, positions
from sparserec.data.sniff import LATE, Form


def read_text_table(path: Path, form: Form, wanted: dict[str, str | None]) -> tuple[Any, dict[str, str]]:
    """The needed columns as an Arrow table of texts, and the column of each role."""
    data = _regular(read_bytes(path), form)
    names = _column_names(data, form)
    third_is_time = _third_is_time(data, form)
    if form.header:
        roles = choose_columns(names, wanted, str(path), third_is_time)
    else:
        asked = {role: name for role, name in wanted.items() if name is not None}
        by_place = positions(names[1:] if form.index else names, third_is_time)
        free = {role: name for role, name in by_place.items() if name not in asked.values()}
        guessed: dict[str, str | None] = {"rating": "", "time": "", **free, **asked}
        roles = choose_columns(names, guessed, str(path))
    return _parse(data, path, form, names, list(dict.fromkeys(roles.values()))), roles


def text_line(path: Path, row: int, header: bool) -> int:
    """Line number (from 1) of data row `row` (from 0): blank lines are no rows. Slow, for error messages only."""
    left = row + (1 if header else 0)
    for number, line in enumerate(read_bytes(path).split(b"\n"), start=1):
        if line.strip():
            if left == 0:
                return number
            left -= 1
    return 0


def _regular(data: bytes, form: Form) -> bytes:
    """One separator of one byte between columns."""
    if form.kind == "movielens":
        return data.replace(b"::", b"\t")
    if form.delimiter == " " and any(run in data for run in (b"  ", b"\t", b" \n", b" \r", b"\n ")):
        return re.sub(rb" *(\r?\n) *", rb"\1", re.sub(rb"[ \t]+", b" ", data)).strip()
    return data


def _first_rows(data: bytes, form: Form) -> list[list[str]]:
    """The first two rows, the header among them."""
    lines = [line for line in data.split(b"\n", 100)[:100] if line.strip()][:2] or [b""]
    texts = [line.decode("utf-8", "replace").rstrip("\r") for line in lines]
    return [[cell.strip().strip('"') for cell in text.split(form.delimiter)] for text in texts]


def _column_names(data: bytes, form: Form) -> list[str]:
    first = _first_rows(data, form)[0]
    return first if form.header else [str(position + 1) for position in range(len(first))]


def _third_is_time(data: bytes, form: Form) -> bool:
    row = _first_rows(data, form)[-1][1 if form.index else 0 :]
    try:
        return len(row) == 3 and float(row[2]) >= LATE
    except ValueError:
        return False


def _parse(data: bytes, path: Path, form: Form, names: list[str], needed: Sequence[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    quoted: Any = '"' if form.delimiter in ",;" else False
    convert = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=list(needed))
    read = csv.ReadOptions(column_names=names, skip_rows=0, skip_rows_after_names=1 if form.header else 0)
    parse = csv.ParseOptions(delimiter=form.delimiter, quote_char=quoted)
    try:
        return csv.read_csv(pa.BufferReader(data), read, parse, convert)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise _explain(data, path, form, names, str(error)) from None


def _explain(data: bytes, path: Path, form: Form, names: list[str], message: str) -> MalformedLineError:
    """Find the first line with another number of columns; the fast parser does not say which it was."""
    check_text(path, data)
    for number, line in enumerate(data.decode("utf-8").splitlines(), start=1):
        cells = line.count(form.delimiter) + 1
        if line.strip() and cells != len(names) and '"' not in line:
            return MalformedLineError(
                f"{path}:{number}: {cells} columns where the first line has {len(names)} ({line[:60]!r}); fix the line"
            )
    return MalformedLineError(f"{path}: {message}")
