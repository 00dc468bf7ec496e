"""The largest entries of each vector in 1 to 8 bits, their columns near their entropy.

Learnt straight through (Bengio et al., arXiv 1308.3432): the loss sees the codes, and its gradient moves float values
behind them, which change a code when they come nearer to another one. Rows count by their direction; their scales
follow from the codes. Which entries a row has stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sparserec.device import (
    CodedRows,
    EncodedTable,
    code_rows,
    encode_coded,
    encode_rows,
    gap_bytes,
    keep_largest,
)
from sparserec.encodings.base import EncodedVectors, Encoding, VectorKind, cut, keeps
from sparserec.encodings.material import Learnt, Material
from sparserec.exploration import allocate_entries
from sparserec.progress import Progress
from sparserec.recommenders import MoreSteps, Vectors
from sparserec.table import Shape, SparseTable, Update

ALLOCATED_EXPONENT = 0.3
"""Entries that are allocated go to rows in proportion to the users of their items to this power."""
MOST_ALLOCATED = 256
"""Entries of a row at most: a file can hold as many different sizes of rows."""
FIRST_RATE = 1.2
"""In steps from one code to the next, over the entries of a row: a score is a sum over them, and each is moved by the
rate (docs/log.md).
"""
BEYOND = 0.5
"""How far a value may go beyond the last code; from further out none would come back in time."""


class GapsKind(VectorKind):
    title = "rows"
    steps = 120  # an epoch of Gowalla

    def candidates(self, vectors: Vectors) -> Iterable[tuple[int, int]]:
        return keeps(vectors, 2, 3, 4, 6)

    def bytes(self, one: Encoding, items: int, dim: int) -> float:
        return gap_bytes(min(one.keep, dim), items, dim, one.bits)

    def table(self, one: Encoding, values: np.ndarray) -> EncodedTable:
        unit = one.fold == "shared" and has_unit_rows(values)
        return encode_rows(cut(values, one.keep), one.bits, unit=unit)

    def learn(self, one: Encoding, material: Material, more: MoreSteps, bar: Progress) -> Learnt:
        """Rows have their entries allocated first."""
        items = material.vectors.items
        short = allocated(items, one.keep, material.users_of_items)
        rows, unit = learn_rows(code_rows(short, one.bits), more, bar), has_unit_rows(items)
        return lambda some: EncodedVectors(encode_coded(rows.take(some), one.bits, unit=unit))


def allocated(vectors: np.ndarray, keep: int, users: np.ndarray) -> np.ndarray:
    """The largest entries of each row, `keep` on average: more of the rows whose items have many users."""
    most = min(int(np.count_nonzero(vectors, axis=1).max(initial=0)), MOST_ALLOCATED)
    if keep >= most:
        return cut(vectors, keep)
    return keep_largest(vectors, allocate_entries(users, keep * len(vectors), most, ALLOCATED_EXPONENT))


def has_unit_rows(table: np.ndarray) -> bool:
    """Whether every row is as long as one, or empty: then a file need not say how long."""
    lengths = np.linalg.norm(table, axis=1)
    return bool((np.abs(lengths[lengths > 0] - 1) < 1e-3).all())


def learn_rows(coded: CodedRows, more: MoreSteps, bar: Progress) -> CodedRows:
    """The rows with learnt codes."""
    rows, n_rows, codes = coded.rows, len(coded.scale), coded.codes.astype(np.float32)
    owners, borders = coded.rows.rows_of_entries, (codes[1:] + codes[:-1]) / 2
    values = (rows.values / np.where(coded.scale > 0, coded.scale, 1.0)[owners]).astype(np.float32)
    table = SparseTable(Shape(0, n_rows, rows.dim, rows.dim), [owners * rows.dim + rows.columns], values)
    first = FIRST_RATE / max(len(values) / max(n_rows, 1), 1.0)
    no_decay = np.zeros(n_rows, np.float32)
    for step in range(more.steps):
        table.values = codes[np.searchsorted(borders, values)]
        gradient = more.of_entries(table, step)
        table.values = values
        table.receive_entries(gradient, Update(step + 1, more.rate(first, step), no_decay))
        np.clip(values, codes[0] - BEYOND, codes[-1] + BEYOND, out=values)
        bar.advance()
    levels = np.searchsorted(borders, values).astype(np.uint8)
    lengths = np.sqrt(np.bincount(owners, codes[levels].astype(np.float64) ** 2, n_rows))
    return replace(coded, levels=levels, scale=more.lengths / np.where(lengths > 0, lengths, 1.0))
