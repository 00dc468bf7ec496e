"""Reading the rows of format 1.1: codes and scales as levels, positions as gaps, as prefixes, or all columns."""

from __future__ import annotations

import numpy as np

from . import errors
from .container import Container
from .gaps import MOST_ENTRIES, column_type, read_gaps
from .levels import read_levels, read_values
from .table import BLOCK_ROWS, Table

SIZES = ("U8", "U16", "U32")


def has_rows(container: Container, name: str) -> bool:
    """Whether a table is one of these."""
    return f"{name}.code.value" in container


def read_rows(container: Container, name: str, rows: int, dim: int) -> Table:
    """Check the tensors in the order of the format: values of codes, scale, positions, codes."""
    gaps, prefix = f"{name}.count.value" in container, f"{name}.size.value" in container
    if f"{name}.code" in container or (gaps and prefix):
        raise errors.AmbiguousEncoding(f"table {name!r} is stored in two ways")
    codes = read_values(container, f"{name}.code", ("I8",), least=2)
    if codes.min() == -128:
        raise errors.CodeOutOfRange(f"table {name!r} holds the code -128")
    scale = read_scale_levels(container, name, rows)
    if gaps:
        encoding, counts = "gaps", _row_sizes(container, f"{name}.count", rows, min(dim, MOST_ENTRIES))
    elif prefix:
        encoding, counts = "prefix", _row_sizes(container, f"{name}.size", rows, dim)
    else:
        encoding, counts = "all", np.full(rows, dim, np.int64)
    start = np.concatenate([[0], np.cumsum(counts)])
    column = read_gaps(container, name, counts, dim) if gaps else None
    code = codes[read_levels(container, f"{name}.code", int(start[-1]), len(codes))]
    if prefix:
        column = _prefixes(start, dim)
    if scale is None:
        scale = unit_scale(code, start)
    return Table(dim, (len(codes) - 1).bit_length(), encoding, scale, code, column, start)


def read_scale_levels(container: Container, name: str, rows: int) -> np.ndarray | None:
    """Scale of each row, or None where the file has none."""
    if f"{name}.scale.value" not in container:
        return None
    values = read_values(container, f"{name}.scale", ("F32",))
    if not (np.isfinite(values) & (values >= 0)).all():
        raise errors.BadScale(f"table {name!r}: a row scale is negative or not finite")
    return values.astype(np.float64)[read_levels(container, f"{name}.scale", rows, len(values))]


def unit_scale(code: np.ndarray, start: np.ndarray) -> np.ndarray:
    """What makes each row of codes as long as one; 0 for a row of zeros."""
    scale = np.zeros(len(start) - 1)
    for first in range(0, len(scale), BLOCK_ROWS):
        bounds = start[first : first + BLOCK_ROWS + 1]
        squares = np.square(code[bounds[0] : bounds[-1]], dtype=np.int64)
        total = np.diff(np.concatenate([[0], np.cumsum(squares)])[bounds - bounds[0]])
        block = scale[first : first + BLOCK_ROWS]
        np.divide(1.0, np.sqrt(total.astype(np.float64)), out=block, where=total > 0)
    return scale


def _row_sizes(container: Container, name: str, rows: int, most: int) -> np.ndarray:
    values = read_values(container, name, SIZES)
    if int(values.max()) > most:
        raise errors.WrongCount(
            f"'{name}.value' has rows of {int(values.max())} entries, at most {most} are possible"
        )
    return values.astype(np.int64)[read_levels(container, name, rows, len(values))]


def _prefixes(start: np.ndarray, dim: int) -> np.ndarray:
    column = np.empty(int(start[-1]), column_type(dim))
    for first in range(0, len(start) - 1, BLOCK_ROWS):
        bounds = start[first : first + BLOCK_ROWS + 1]
        column[bounds[0] : bounds[-1]] = np.arange(bounds[0], bounds[-1]) - np.repeat(
            bounds[:-1], np.diff(bounds)
        )
    return column
