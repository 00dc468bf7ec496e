"""Rows of int8 and int4: the only place that makes and reads them.

Symmetric, one scale per row, codes computed from the scale as it is stored, 0 stays 0. A table is written as bitmask,
byte-index or dense, whichever has the fewest bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from . import errors
from .bits import POPCOUNT
from .container import Container
from .errors import CannotWrite
from .table import BLOCK_ENTRIES, Table, check_padding, starts_of

TOP_CODE = {8: 127, 4: 7}
SMALLEST_SCALE, LARGEST_SCALE = 2.0**-17, 65504.0  # below 2^-17 float16 is too coarse to reach the top code
ENCODINGS = ("bitmask", "byte-index", "dense")


@dataclass(frozen=True)
class SparseRows:
    """A sparse float table: entries in row order, columns ascending within a row."""

    values: np.ndarray  # (entries,) float32
    columns: np.ndarray  # (entries,)
    starts: np.ndarray  # (rows + 1,) where each row's entries begin
    dim: int

    @property
    def rows_of_entries(self) -> np.ndarray:
        """Row of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@dataclass(frozen=True)
class EncodedTable:
    """A table as its file tensors (`scale`, `code` and those of its encoding), not yet named."""

    rows: int
    dim: int
    bits: int
    encoding: str
    tensors: dict[str, np.ndarray]

    @property
    def nbytes(self) -> int:
        """Bytes these tensors take in the file."""
        return sum(tensor.nbytes for tensor in self.tensors.values())


OverColumns = Callable[[np.ndarray], np.ndarray]
"""Largest magnitude of every row over all columns, from that of the columns at hand."""


def row_scales(largest: np.ndarray, bits: int) -> np.ndarray:
    """Scale of each row from its largest magnitude: float16, or float32 where float16 would over- or underflow."""
    if not np.isfinite(largest).all():
        raise CannotWrite("a table to be quantised holds values that are not finite")
    exact = largest.astype(np.float64) / TOP_CODE[bits]
    used = exact[exact > 0]
    fits = not len(used) or (used.min() >= SMALLEST_SCALE and used.max() <= LARGEST_SCALE)
    scales = exact.astype(np.float16 if fits else np.float32)
    # Below the smallest float32 a row is as good as empty; a scale of 0 with codes would divide by zero.
    return np.where(scales.astype(np.float64) < np.finfo(np.float32).tiny, 0, scales).astype(scales.dtype)


def make_codes(values: np.ndarray, scales: np.ndarray, bits: int) -> np.ndarray:
    """Codes of values whose row scale (as stored) is given beside each."""
    wide = scales.astype(np.float64)
    ratio = np.divide(values, wide, out=np.zeros(np.shape(values), np.float64), where=wide > 0)
    return np.clip(np.rint(ratio), -TOP_CODE[bits], TOP_CODE[bits]).astype(np.int8)


def quantise_rows(
    values: np.ndarray, rows: np.ndarray, n_rows: int, bits: int, over_columns: OverColumns | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Codes (entries,) and scales (n_rows,) of flat values with the row of each; the order of entries is free."""
    if not np.isfinite(values).all():
        raise CannotWrite("a table to be quantised holds values that are not finite")
    largest = np.zeros(n_rows, np.float64)
    np.maximum.at(largest, rows, np.abs(values))
    scales = row_scales(largest if over_columns is None else over_columns(largest), bits)
    return make_codes(values, scales[rows], bits), scales


def dequantise(codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Float32 values of codes whose row scale is given beside each (or broadcasts to them)."""
    return codes.astype(np.float32) * scales.astype(np.float32)


def fake_quantise(table: np.ndarray, bits: int, over_columns: OverColumns | None = None) -> np.ndarray:
    """What a (rows, dim) float table becomes once quantised and read back."""
    largest = np.abs(table).max(axis=1, initial=0)
    scales = row_scales(largest if over_columns is None else over_columns(largest), bits)[:, None]
    return dequantise(make_codes(table, np.broadcast_to(scales, table.shape), bits), scales)


def fake_quantise_flat(
    values: np.ndarray, rows: np.ndarray, n_rows: int, bits: int, over_columns: OverColumns | None = None
) -> np.ndarray:
    """The same for a sparse table given as flat values and the row of each."""
    codes, scales = quantise_rows(values, rows, n_rows, bits, over_columns)
    return dequantise(codes, scales[rows])


def quantised_bytes(table: np.ndarray, bits: int) -> int:
    """What `encode_table` would make of a (rows, dim) float table, in bytes, without making it."""
    scales = row_scales(np.abs(table).max(axis=1, initial=0), bits)
    used = make_codes(table, np.broadcast_to(scales[:, None], table.shape), bits) != 0
    return _table_bytes(np.count_nonzero(used, axis=1), scales, table.shape[1], bits)


def quantised_bytes_flat(values: np.ndarray, rows: np.ndarray, n_rows: int, dim: int, bits: int) -> int:
    """The same for a sparse table given as flat values and the row of each."""
    codes, scales = quantise_rows(values, rows, n_rows, bits)
    return _table_bytes(np.bincount(rows[codes != 0], minlength=n_rows), scales, dim, bits)


def _table_bytes(counts: np.ndarray, scales: np.ndarray, dim: int, bits: int) -> int:
    sizes = layout_bytes(int(counts.sum()), len(counts), dim, bits, _count_tensor(counts).nbytes)
    return min(sizes.values()) + scales.nbytes


def keep_largest(vectors: np.ndarray, k: int | np.ndarray) -> np.ndarray:
    """A copy with all but the k largest magnitudes of each row set to zero; ties keep the lower column.

    Every row may have a `k` of its own.
    """
    kept, counts = np.zeros_like(vectors), np.broadcast_to(k, len(vectors))
    for begin in range(0, len(vectors), 4096):
        block, own = vectors[begin : begin + 4096], counts[begin : begin + 4096]
        columns = np.argsort(-np.abs(block), axis=1, kind="stable")[:, : own.max()]
        largest = np.where(
            np.arange(columns.shape[1]) < own[:, None], np.take_along_axis(block, columns, 1), 0
        )
        np.put_along_axis(kept[begin : begin + 4096], columns, largest, 1)
    return kept


def sparse_rows(table: np.ndarray) -> SparseRows:
    """The non-zero entries of a dense table."""
    rows, columns = np.nonzero(table)
    return SparseRows(table[rows, columns], columns, _starts(rows, len(table)), table.shape[1])


def encode_table(table: np.ndarray | SparseRows, bits: int, encoding: str | None = None) -> EncodedTable:
    """Quantise a table and lay it out; without a named encoding the smallest wins."""
    sparse = table if isinstance(table, SparseRows) else sparse_rows(np.asarray(table))
    rows = sparse.rows_of_entries
    n_rows = len(sparse.starts) - 1
    codes, scales = quantise_rows(sparse.values, rows, n_rows, bits)
    used = codes != 0
    rows, columns, codes = rows[used], sparse.columns[used], codes[used]
    if encoding is None:
        encoding = _smallest(_starts(rows, n_rows), n_rows, sparse.dim, bits)
    tensors = {"scale": scales} | _layout(encoding, rows, columns, codes, n_rows, sparse.dim)
    if bits == 4:
        tensors["code"] = pack_nibbles(tensors["code"])
    return EncodedTable(n_rows, sparse.dim, bits, encoding, tensors)


def _starts(rows: np.ndarray, n_rows: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])


def _smallest(starts: np.ndarray, n_rows: int, dim: int, bits: int) -> str:
    sizes = layout_bytes(int(starts[-1]), n_rows, dim, bits, _count_tensor(np.diff(starts)).nbytes)
    return min(ENCODINGS, key=lambda name: (sizes[name], ENCODINGS.index(name)))


def _count_tensor(counts: np.ndarray) -> np.ndarray:
    if len(counts) and (counts == counts[0]).all():
        counts = counts[:1]
    return counts.astype(np.uint8 if counts.max(initial=0) < 256 else np.uint16)


def _layout(
    encoding: str, rows: np.ndarray, columns: np.ndarray, codes: np.ndarray, n_rows: int, dim: int
) -> dict[str, np.ndarray]:
    if encoding == "bitmask":
        present = np.zeros((n_rows, dim), np.bool_)
        present[rows, columns] = True
        return {"mask": np.packbits(present, axis=1, bitorder="little"), "code": codes}
    if encoding == "byte-index":
        counts = np.bincount(rows, minlength=n_rows)
        index = columns.astype(np.uint8 if column_bytes(dim) == 1 else np.uint16)
        return {"count": _count_tensor(counts), "index": index, "code": codes}
    if encoding == "dense":
        dense = np.zeros((n_rows, dim), np.int8)
        dense[rows, columns] = codes
        return {"code": dense.reshape(-1)}
    raise CannotWrite(f"unknown encoding {encoding!r}, expected one of {', '.join(ENCODINGS)}")


def pack_nibbles(values: np.ndarray) -> np.ndarray:
    """Two 4-bit values a byte, the first in the low half; an odd one out leaves the last half 0."""
    halves = np.zeros(len(values) + len(values) % 2, np.uint8)
    halves[: len(values)] = values.view(np.uint8) & 15
    return halves[0::2] | (halves[1::2] << 4)


def unpack_nibbles(packed: np.ndarray, count: int) -> np.ndarray:
    """The first `count` 4-bit values as 0..15."""
    halves = np.empty(2 * len(packed), np.uint8)
    halves[0::2] = packed & 15
    halves[1::2] = packed >> 4
    return halves[:count]


def signed_nibbles(halves: np.ndarray) -> np.ndarray:
    """Two's complement reading of 0..15."""
    return ((halves ^ 8).view(np.int8) - np.int8(8)).astype(np.int8)


def read_table(container: Container, name: str, rows: int, dim: int) -> Table:
    """Check a table's tensors in the order of the format and make it ready to multiply."""
    container.limit.take_rows(name, rows)
    for needed in (f"{name}.scale", f"{name}.code"):
        if needed not in container:
            raise errors.MissingTensor(f"tensor {needed!r} is missing")
    masked, indexed = f"{name}.mask" in container, f"{name}.index" in container
    if masked and indexed:
        raise errors.AmbiguousEncoding(f"table {name!r} has both a mask and an index")
    stored = container.get(f"{name}.code", ("I8", "U8"), (None,))
    bits = 8 if stored.dtype == np.int8 else 4
    raw_scale = container.get(f"{name}.scale", ("F16", "F32"), (rows,))
    if masked:
        encoding, read = "bitmask", _read_mask
    elif indexed:
        encoding, read = "byte-index", _read_index
    else:
        encoding, read = "dense", _read_dense  # type: ignore[assignment]
    column, start = read(container, name, dim, stored, raw_scale)
    return Table(
        dim, bits, encoding, raw_scale.astype(np.float64), _codes(name, stored, int(start[-1])), column, start
    )


def _check_size_and_scale(
    container: Container, name: str, stored: np.ndarray, dim: int | None, scale: np.ndarray
) -> None:
    """What comes between the shapes of a table's tensors and what is in them."""
    container.limit.take_entries(name, len(stored) * (1 if stored.dtype == np.int8 else 2), dim)
    if not (np.isfinite(scale) & (scale >= 0)).all():
        raise errors.BadScale(f"table {name!r}: a row scale is negative or not finite")


def _check_code_length(name: str, stored: np.ndarray, entries: int, error: type[errors.FileError]) -> None:
    expected = entries if stored.dtype == np.int8 else -(-entries // 2)
    if len(stored) != expected:
        raise error(f"table {name!r} has {len(stored)} bytes of codes, {entries} entries need {expected}")


def _read_mask(
    container: Container, name: str, dim: int, stored: np.ndarray, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    mask = container.get(f"{name}.mask", ("U8",), (len(scale), -(-dim // 8)))
    _check_size_and_scale(container, name, stored, dim, scale)
    check_padding(f"{name}.mask", mask, dim)
    start = starts_of(POPCOUNT[mask].sum(axis=1, dtype=np.int32))
    _check_code_length(name, stored, int(start[-1]), errors.WrongCount)
    column = np.empty(int(start[-1]), np.uint8 if dim <= 256 else np.uint16)
    step = max(1, BLOCK_ENTRIES // dim)
    for first in range(0, len(mask), step):
        block = np.unpackbits(mask[first : first + step], axis=1, bitorder="little")
        positions = np.flatnonzero(block.view(np.bool_))
        column[start[first] : start[min(first + step, len(mask))]] = positions % block.shape[1]
    return column, start


def _read_index(
    container: Container, name: str, dim: int, stored: np.ndarray, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    index = container.get(f"{name}.index", ("U8",) if dim <= 256 else ("U16",), (None,))
    count = container.get(f"{name}.count", ("U8", "U16"), (None,))
    if len(count) not in (1, len(scale)):
        raise errors.WrongTensor(f"tensor '{name}.count' has {len(count)} entries for {len(scale)} rows")
    _check_size_and_scale(container, name, stored, dim, scale)
    if len(index) and int(index.max()) >= dim:
        raise errors.IndexOutOfRange(f"table {name!r}: column {int(index.max())} of {dim}")
    start = starts_of(np.broadcast_to(count, len(scale)))
    if start[-1] != len(index):
        raise errors.WrongCount(f"table {name!r}: the rows have {start[-1]} entries, the index {len(index)}")
    rising = index[1:] > index[:-1]
    edges = start[1:-1]
    rising[edges[(edges > 0) & (edges < len(index))] - 1] = True
    if not rising.all():
        raise errors.IndexNotAscending(f"table {name!r}: the columns of a row do not ascend")
    _check_code_length(name, stored, len(index), errors.WrongCount)
    return index, start


def _read_dense(
    container: Container, name: str, dim: int, stored: np.ndarray, scale: np.ndarray
) -> tuple[None, np.ndarray]:
    _check_code_length(name, stored, len(scale) * dim, errors.WrongTensor)
    _check_size_and_scale(container, name, stored, None, scale)
    return None, starts_of(np.broadcast_to(dim, len(scale)))


def _codes(name: str, stored: np.ndarray, entries: int) -> np.ndarray:
    if stored.dtype == np.int8:
        if len(stored) and stored.min() == -128:
            raise errors.CodeOutOfRange(f"table {name!r} holds the code -128")
        return stored
    halves = unpack_nibbles(stored, 2 * len(stored))
    if halves[entries:].any():
        raise errors.NonzeroPadding(f"table {name!r}: the unused half of the last code is set")
    codes = signed_nibbles(halves[:entries])
    if len(codes) and codes.min() == -8:
        raise errors.CodeOutOfRange(f"table {name!r} holds the code -8")
    return codes


# How many bytes a table takes in a file: the writer chooses a layout by these formulas, plans and budgets foresee with
# them.

SCALE_BYTES = 2
"""Of a row of int8 or int4: a float16; a float32 in tables with rows too small or too large for that."""
GAP_MARGIN = 1.025
"""Bits that gaps take, as a multiple of the logarithm of the number of rows there could be."""


def layout_bytes(entries: int, rows: int, dim: int, bits: int, count_bytes: int) -> dict[str, int]:
    """Of codes and positions in each layout of int8 and int4, without scales; `entries` are codes that are not 0.

    `count_bytes` say how long rows are: one number where all are of one length.
    """
    codes = -(-entries * bits // 8)
    return {
        "bitmask": rows * -(-dim // 8) + codes,
        "byte-index": entries * column_bytes(dim) + count_bytes + codes,
        "dense": -(-rows * dim * bits // 8),
    }


def int_bytes(entries: int, rows: int, dim: int, bits: int, even: bool = False) -> int:
    """Of a table of int8 or int4 with so many entries in the smallest layout; `even`: all rows have as many."""
    counts = column_bytes(dim) * (1 if even else rows)
    return min(layout_bytes(entries, rows, dim, bits, counts).values()) + rows * SCALE_BYTES


def gap_bytes(entries: int, rows: int, dim: int, bits: int) -> float:
    """About those of rows of so many entries each, of few bits, their columns as gaps, with a scale of a byte.

    A gap takes a bit at least, also where a row has nearly all columns.
    """
    choices = lgamma(dim + 1) - lgamma(entries + 1) - lgamma(dim - entries + 1)
    positions = max(GAP_MARGIN * choices / log(2), entries)
    return rows * positions / 8 + prefix_bytes(entries, rows, bits)


def prefix_bytes(entries: int, rows: int, bits: int) -> float:
    """Those of rows of so many first columns each, of few bits, with a scale of a byte."""
    return rows * (entries * bits + 8) / 8


def product_bytes(slices: int, rows: int, dim: int) -> int:
    """Of product codes: a byte a slice, and 256 entries of every codebook with a byte each number and scale."""
    return rows * slices + 256 * (dim + slices)


def column_bytes(dim: int) -> int:
    """Of the number of a column."""
    return 1 if dim <= 256 else 2
