"""Reading rows of few-bit codes, since format 1.1: codes and scales as levels, positions as gaps, prefixes or all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import errors
from .container import Container
from .gap_classes import has_classes, read_classes
from .gaps import MOST_ENTRIES, column_type, read_gaps
from .levels import look_up, read_levels, read_values
from .table import Table, row_blocks, square_sums, starts_of

SIZES = ("U8", "U16", "U32")


def has_rows(container: Container, name: str) -> bool:
    """Whether a table is one of these."""
    return f"{name}.code.value" in container


def read_rows(container: Container, name: str, rows: int, dim: int) -> Table:
    """Check the tensors in the order of the format: values of codes, scale, positions, codes."""
    gaps, prefix = f"{name}.count.value" in container, f"{name}.size.value" in container
    container.limit.take_rows(name, rows)
    if f"{name}.code" in container or (gaps and prefix):
        raise errors.AmbiguousEncoding(f"table {name!r} is stored in two ways")
    codes = read_values(container, f"{name}.code", ("I8",), least=2)
    if codes.min() == -128:
        raise errors.CodeOutOfRange(f"table {name!r} holds the code -128")
    scale = read_scale_levels(container, name, rows)
    if gaps:
        encoding, sizes = "gaps", _row_sizes(container, f"{name}.count", rows, min(dim, MOST_ENTRIES))
    elif prefix:
        encoding, sizes = "prefix", _row_sizes(container, f"{name}.size", rows, dim)
    else:
        encoding, sizes = "all", np.broadcast_to(np.int32(dim), rows)
    entries = int(sizes.sum(dtype=np.int64))
    container.limit.take_entries(name, entries, dim if gaps or prefix else None)
    start = starts_of(sizes)
    classes = gaps and has_classes(container, name)
    column = (read_classes if classes else read_gaps)(container, name, start, dim) if gaps else None
    code = look_up(codes, read_levels(container, f"{name}.code", entries, len(codes)))
    if prefix:
        column = _prefixes(start, dim)
    own = unit_scale(code, start) if scale is None else scale()
    encoding = "gap classes" if classes else encoding
    return Table(dim, (len(codes) - 1).bit_length(), encoding, own, code, column, start)


def read_scale_levels(container: Container, name: str, rows: int) -> Callable[[], np.ndarray] | None:
    """What makes the scale of each row, or None where the file has none. Made last: it is wider than what it is of."""
    if f"{name}.scale.value" not in container:
        return None
    values = read_values(container, f"{name}.scale", ("F32",))
    if not (np.isfinite(values) & (values >= 0)).all():
        raise errors.BadScale(f"table {name!r}: a row scale is negative or not finite")
    levels = read_levels(container, f"{name}.scale", rows, len(values))
    return lambda: look_up(values.astype(np.float64), levels)


def unit_scale(code: np.ndarray, start: np.ndarray) -> np.ndarray:
    """What makes each row of codes as long as one; 0 for a row of zeros."""
    scale = square_sums(code, start)
    np.sqrt(scale, out=scale)
    np.divide(1.0, scale, out=scale, where=scale > 0)
    return scale


def _row_sizes(container: Container, name: str, rows: int, most: int) -> np.ndarray:
    values = read_values(container, name, SIZES)
    if int(values.max()) > most:
        raise errors.WrongCount(
            f"'{name}.value' has rows of {int(values.max())} entries, at most {most} are possible"
        )
    return look_up(values.astype(np.int32), read_levels(container, name, rows, len(values)))


def _prefixes(start: np.ndarray, dim: int) -> np.ndarray:
    column = np.empty(int(start[-1]), column_type(dim))
    for first, last in row_blocks(start):
        bounds = start[first : last + 1]
        column[bounds[0] : bounds[-1]] = np.arange(bounds[0], bounds[-1]) - np.repeat(
            bounds[:-1], np.diff(bounds)
        )
    return column
