"""Writing tables as format 1.1 holds them: rows of few-bit codes with cheap positions, and product codes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .codecs import EncodedTable, SparseRows, sparse_rows
from .container import parse, serialise
from .errors import CannotWrite
from .gap_classes import encode_classes
from .gaps import MOST_ENTRIES, encode_gaps
from .graph import smallest_counts
from .levels import MOST_LEVELS, level_tensors, nearest_levels, ratio_levels
from .memory_limit import endless
from .table import Table
from .tables import AnyTable, read_any_table

POSITIONS = ("gaps", "gap classes", "prefix", "all")
SHARE_TO_SAVE, BYTES_TO_SAVE = 0.02, 256
"""What classes of gaps must save before a table is written so: readers of format 1.1 do not know them."""
GAPS = ("gaps", "gap classes")
TOP = 127
SHRINKS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6)
"""Shares of the largest entry of a row that may become its largest code; the one with the least error is taken."""


def uniform_codes(bits: int, signed: bool, zero: bool) -> np.ndarray:
    """The codes that a number of bits can name: without 0 where no entry is 0, without negative ones where none is."""
    if not 1 <= bits <= 8:
        raise CannotWrite(f"codes of {bits} bits: 1 to 8 are possible")
    if not signed:
        return np.arange(0 if zero else 1, min((1 << bits) - (1 if zero else 0), TOP) + 1).astype(np.int8)
    top = min((1 << (bits - 1)) - (1 if zero else 0), TOP)
    if top < 1:
        raise CannotWrite("one bit cannot hold a sign and a 0: give it at least two")
    codes = np.arange(-top, top + 1)
    return codes[(codes != 0) | zero].astype(np.int8)


def quantise_to_codes(
    values: np.ndarray, rows: np.ndarray, n_rows: int, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Place of each entry among the codes, (entries,) uint8, and the best scale of each row, (n_rows,) float64."""
    wide = values.astype(np.float64)
    largest = np.zeros(n_rows)
    np.maximum.at(largest, rows, np.abs(wide))
    top = float(np.abs(codes.astype(np.int64)).max())
    best_levels, best_fit, scale = np.zeros(len(wide), np.uint8), np.full(n_rows, -1.0), np.zeros(n_rows)
    for shrink in SHRINKS:
        step = np.where(largest > 0, largest * (shrink / top), 1.0)
        levels = nearest_levels(wide / step[rows], codes)
        chosen = codes[levels].astype(np.float64)
        product = np.maximum(np.bincount(rows, wide * chosen, n_rows), 0.0)
        square = np.bincount(rows, chosen * chosen, n_rows)
        fit = np.divide(product**2, square, out=np.zeros(n_rows), where=square > 0)
        better = fit > best_fit * (1 + 1e-12)
        best_fit[better] = fit[better]
        scale[better] = (product / np.maximum(square, 1))[better]
        best_levels[better[rows]] = levels[better[rows]]
    return best_levels, scale


@dataclass(frozen=True)
class CodedRows:
    """Rows whose entries are codes of a few bits, before they are packed."""

    rows: SparseRows
    """The entries that are stored, with the values that the codes stand for."""
    levels: np.ndarray  # (entries,) uint8: place of each entry's code
    codes: np.ndarray  # int8, ascending: the codes there are
    scale: np.ndarray  # (rows,) float64

    def take(self, places: np.ndarray) -> CodedRows:
        """Some of the rows."""
        rows, counts = self.rows, np.diff(self.rows.starts)[places]
        starts = np.concatenate([[0], np.cumsum(counts)])
        entries = np.repeat(rows.starts[places] - starts[:-1], counts) + np.arange(starts[-1])
        taken = SparseRows(rows.values[entries], rows.columns[entries], starts, rows.dim)
        return CodedRows(taken, self.levels[entries], self.codes, self.scale[places])


def code_rows(table: np.ndarray | SparseRows, bits: int, positions: str = "gaps") -> CodedRows:
    """The codes nearest to a table's entries; which entries are stored depends on how positions are."""
    if positions not in POSITIONS:
        raise CannotWrite(f"positions {positions!r}: must be one of {', '.join(POSITIONS)}")
    if not np.isfinite(table.values if isinstance(table, SparseRows) else table).all():
        raise CannotWrite("a table to be quantised holds values that are not finite")
    chosen = _entries(table, positions, bits)
    codes = uniform_codes(bits, bool((chosen.values < 0).any()), bool((chosen.values == 0).any()))
    levels, scale = quantise_to_codes(chosen.values, chosen.rows_of_entries, len(chosen.starts) - 1, codes)
    return CodedRows(chosen, levels, codes, scale)


def encode_coded(
    coded: CodedRows, bits: int, positions: str = "gaps", unit: bool = False, scale_levels: int = MOST_LEVELS
) -> EncodedTable:
    """Rows of codes as the tensors of a file. With `unit` it holds no scale, and a reader makes every row as long as
    one.
    """
    tensors = level_tensors("code", coded.levels, coded.codes)
    if not unit:
        values = ratio_levels(coded.scale, scale_levels)
        tensors |= level_tensors("scale", nearest_levels(coded.scale, values), values)
    placed = _position_tensors(coded.rows, positions)
    encoding = "gap classes" if "gap.length" in placed else positions
    return EncodedTable(len(coded.scale), coded.rows.dim, bits, encoding, tensors | placed)


def encode_rows(
    table: np.ndarray | SparseRows,
    bits: int,
    positions: str = "gaps",
    unit: bool = False,
    scale_levels: int = MOST_LEVELS,
) -> EncodedTable:
    """A table as codes of a few bits.

    `gaps` holds the entries that are nearer their code than 0, in classes of gaps where those are clearly smaller, and
    `gap classes` always in those; `prefix` the entries up to the last of each row that is not 0, `all` every one.
    """
    return encode_coded(code_rows(table, bits, positions), bits, positions, unit, scale_levels)


def encode_codes(
    code: np.ndarray, book: np.ndarray, bits: int = 8, scale: np.ndarray | None = None
) -> EncodedTable:
    """Product codes: which entry each row has in each slice, (rows, slices), of the codebooks, (slices, entries,
    width).

    `bits` are those of the codebooks' numbers; `scale` is what each row is multiplied with.
    """
    slices, entries, width = book.shape
    if code.shape[1] != slices or not 2 <= entries <= MOST_LEVELS or int(code.max(initial=0)) >= entries:
        raise CannotWrite(f"codes of shape {code.shape} do not fit codebooks of shape {book.shape}")
    books = encode_rows(book.reshape(-1, width), bits, "all")
    packed = level_tensors("part", code.T.reshape(-1), np.arange(entries))["part.level"]
    tensors = {"slices": np.array([slices, entries], np.uint16), "part.level": packed}
    tensors |= {f"book.{part}": tensor for part, tensor in books.tensors.items()}
    if scale is not None:
        values = ratio_levels(scale)
        tensors |= level_tensors("scale", nearest_levels(scale, values), values)
    return EncodedTable(len(code), slices * width, bits, "codes", tensors)


def read_back(encoded: EncodedTable) -> np.ndarray:
    """The (rows, dim) float32 table that a reader sees, whatever the encoding."""
    return _read(encoded).dense().astype(np.float32)


def read_back_sparse(encoded: EncodedTable) -> SparseRows:
    """The same of a table of rows, its entries alone."""
    table = _read(encoded)
    if not isinstance(table, Table) or table.column is None:
        raise ValueError(f"encoding {encoded.encoding!r} has no sparse rows")
    return SparseRows(table.code * np.repeat(table.scale, table.counts), table.column, table.start, table.dim)


def _read(encoded: EncodedTable) -> AnyTable:
    tensors = {f"t.{part}": tensor for part, tensor in encoded.tensors.items()}
    container = replace(parse(serialise({"format": "srec", "version": "1.1"}, tensors)), limit=endless())
    return read_any_table(container, "t", encoded.rows, encoded.dim)


def _entries(table: np.ndarray | SparseRows, positions: str, bits: int) -> SparseRows:
    """The entries that are stored."""
    if positions in GAPS:
        return _used(table if isinstance(table, SparseRows) else sparse_rows(np.asarray(table)), bits)
    dense = _dense(table) if isinstance(table, SparseRows) else np.asarray(table)
    sizes = np.full(len(dense), dense.shape[1])
    if positions == "prefix":
        sizes = ((dense != 0) * np.arange(1, dense.shape[1] + 1)).max(axis=1, initial=0)
    kept = np.arange(dense.shape[1]) < sizes[:, None]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return SparseRows(dense[kept], np.nonzero(kept)[1], starts, dense.shape[1])


def _used(table: SparseRows, bits: int) -> SparseRows:
    """Without the entries that are nearer to 0 than to the smallest code: leaving them out is cheaper and closer."""
    rows, n_rows = table.rows_of_entries, len(table.starts) - 1
    top = int(uniform_codes(bits, bool((table.values < 0).any()), zero=False).max())
    largest = np.zeros(n_rows)
    np.maximum.at(largest, rows, np.abs(table.values))
    used = ~(2 * top * np.abs(table.values) < largest[rows]) & (table.values != 0)
    counts = np.bincount(rows[used], minlength=n_rows)
    return SparseRows(
        table.values[used], table.columns[used], np.concatenate([[0], np.cumsum(counts)]), table.dim
    )


def _dense(table: SparseRows) -> np.ndarray:
    dense = np.zeros((len(table.starts) - 1, table.dim), np.asarray(table.values).dtype)
    dense[table.rows_of_entries, table.columns] = table.values
    return dense


def _position_tensors(chosen: SparseRows, positions: str) -> dict[str, np.ndarray]:
    counts = np.diff(chosen.starts)
    if positions == "all":
        return {}
    name = "count" if positions in GAPS else "size"
    values = np.unique(counts) if len(counts) else np.zeros(1, np.int64)
    if len(values) > MOST_LEVELS or (positions in GAPS and values[-1] > MOST_ENTRIES):
        raise CannotWrite(
            f"rows of {len(values)} different sizes up to {values[-1]}: at most {MOST_LEVELS} sizes and, between gaps, "
            f"{MOST_ENTRIES} entries"
        )
    tensors = level_tensors(name, np.searchsorted(values, counts), smallest_counts(values))
    return tensors if positions == "prefix" else tensors | _gap_tensors(chosen, counts, positions)


def _gap_tensors(chosen: SparseRows, counts: np.ndarray, positions: str) -> dict[str, np.ndarray]:
    classes = encode_classes(chosen.columns, counts)
    if positions == "gap classes":
        return classes
    even = encode_gaps(chosen.columns, counts, chosen.dim)
    size, plain = (sum(tensor.nbytes for tensor in one.values()) for one in (classes, even))
    return classes if size + max(SHARE_TO_SAVE * plain, BYTES_TO_SAVE) < plain else even
