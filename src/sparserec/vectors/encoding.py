"""How vectors are written into a file, and what a reader sees of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sparserec.device import (
    EncodedTable,
    ItemTerm,
    encode_codes,
    encode_rows,
    encode_table,
    keep_largest,
    read_back,
)
from sparserec.errors import SettingError
from sparserec.exploration import deal_entries
from sparserec.vectors.codebooks import balanced_axes, product_codes
from sparserec.vectors.propagate import Vectors

Fold = Literal["own", "shared"]
"""Fold-in tables of their own, or the scoring table standing in for them (half the bytes, approximate)."""

Kind = Literal["int", "gaps", "prefix", "codes", "neighbours", "together", "ease"]
"""int: the largest entries as int8 or int4 (format 1.0). gaps: the same in 1 to 8 bits, positions near their entropy.
prefix: the first principal axes, or rows as they end where each has a size of its own. codes: product codes of a byte a
slice. neighbours: lists of items instead of vectors, made from them. together: co-occurrence lists, made from the log
without them. ease: the largest weights of EASE, from the log as well."""

KINDS: tuple[Kind, ...] = ("int", "gaps", "prefix", "codes", "neighbours", "together", "ease")
OF_LOG: tuple[Kind, ...] = ("together", "ease")
"""Made from the log alone."""
LEARNABLE: tuple[Kind, ...] = ("gaps", "codes")
BOOK_BITS = 8
DEALT_EXPONENT = 0.3
"""Entries that are dealt go to rows in proportion to the users of their items to this power."""
MOST_DEALT = 256
"""Entries of a row at most: a file can hold as many different sizes of rows."""
SIZED_SHARE = 0.9  # of the columns, on average: rows that end earlier have sizes of their own


@dataclass(frozen=True)
class Encoding:
    """One way to write item vectors."""

    bits: int = 4
    """Of each entry; of the numbers in the codebooks in product codes."""
    keep: int = 32
    """Of each item: entries (dim or more: all; on average where they are learnt), principal axes, bytes of product
    codes, neighbours, or items chosen together with it or weights of EASE, on average."""
    fold: Fold = "shared"
    kind: Kind = "int"
    learnt: bool = False
    """Whether codes are learnt with the loss of the training once they are chosen, rather than nearest to the vectors.
    """

    @property
    def label(self) -> str:
        return f"{self._label}, learnt" if self.learnt else self._label

    @property
    def _label(self) -> str:
        if self.kind == "codes":
            return f"codes of {self.keep} bytes, fold-in {self.fold}"
        if self.kind == "neighbours":
            return f"{self.keep} neighbours, {self.bits} bits"
        if self.kind == "together":
            return f"{self.keep} items chosen together, {self.bits} bits"
        if self.kind == "ease":
            return f"{self.keep} weights of EASE, {self.bits} bits"
        unit = "axes" if self.kind == "prefix" else "entries"
        name = f"int{self.bits}" if self.kind == "int" else f"{self.kind}, {self.bits} bits"
        return f"{name}, {self.keep} {unit}, fold-in {self.fold}"

    @property
    def lists(self) -> bool:
        """Whether the file holds lists of items in place of vectors."""
        return self.kind in ("neighbours", *OF_LOG)

    def check(self, dim: int) -> None:
        """Raise where the vectors of a run cannot be written so."""
        if self.kind == "int" and self.bits not in (4, 8):
            raise SettingError(f"bits {self.bits}: encoding int has 4 or 8; gaps and prefix take 1 to 8")
        if not 1 <= self.bits <= 8 or self.keep < 1:
            raise SettingError(f"bits {self.bits} and keep {self.keep}: bits must be 1 to 8, keep at least 1")
        if self.kind == "codes" and self.keep > dim:
            raise SettingError(
                f"keep {self.keep}: product codes have at most a byte for each of the {dim} columns"
            )
        if self.learnt and (self.kind not in LEARNABLE or self.fold != "shared"):
            raise SettingError(
                f"encoding {self._label} cannot be learnt: {' and '.join(LEARNABLE)} with fold-in shared can"
            )


DEFAULT = Encoding()


@dataclass(frozen=True)
class EncodedVectors:
    """Scoring table and fold-in tables as they go into the file."""

    score: EncodedTable
    fold: tuple[EncodedTable, ...]
    axes: np.ndarray | None = None
    """What all vectors were rotated with; None: nothing."""
    term: ItemTerm | None = None
    """What is added to the score of each item; None: nothing."""

    @property
    def nbytes(self) -> int:
        return self.score.nbytes + sum(part.nbytes for part in self.fold)

    @cached_property
    def read(self) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """The float values a reader sees, rotated back: (scoring vectors, fold-in tables)."""
        items, *fold = (self._back(table) for table in (self.score, *self.fold))
        return items, tuple(fold) or (items,)

    def _back(self, table: EncodedTable) -> np.ndarray:
        values = read_back(table)
        return values if self.axes is None else values @ self.axes.T

    def turned(self, vector: np.ndarray) -> np.ndarray:
        """A user's vector on the axes of the file."""
        return vector if self.axes is None else vector @ self.axes


def cut(vectors: np.ndarray, keep: int) -> np.ndarray:
    """The `keep` largest entries of each row."""
    return keep_largest(vectors, keep) if keep < vectors.shape[1] else vectors


def dealt(vectors: np.ndarray, keep: int, users: np.ndarray) -> np.ndarray:
    """The largest entries of each row, `keep` on average: more of the rows whose items have many users."""
    most = min(int(np.count_nonzero(vectors, axis=1).max(initial=0)), MOST_DEALT)
    if keep >= most:
        return cut(vectors, keep)
    return keep_largest(vectors, deal_entries(users, keep * len(vectors), most, DEALT_EXPONENT))


def encode(vectors: Vectors, encoding: Encoding) -> EncodedVectors:
    """Scoring table and fold-in tables as they go into the file; neighbours are the business of `neighbours.py`."""
    encoding.check(vectors.items.shape[1])
    tables = [vectors.items] if encoding.fold == "shared" else [vectors.items, *vectors.fold]
    if encoding.kind == "codes":
        return _codes(tables, encoding)
    if encoding.kind == "prefix":
        axes = None if has_sizes(vectors.items) else balanced_axes(vectors.items, 1)
        turned = [_first(table if axes is None else table @ axes, encoding.keep) for table in tables]
        score, *fold = (encode_rows(table, encoding.bits, "prefix") for table in turned)
        return EncodedVectors(score, tuple(fold), axes)
    short = [cut(table, encoding.keep) for table in tables]
    if encoding.kind == "int":
        score, *fold = (encode_table(table, encoding.bits) for table in short)
    else:
        unit = has_unit_rows(vectors.items) and encoding.fold == "shared"
        score, *fold = (encode_rows(table, encoding.bits, unit=unit) for table in short)
    return EncodedVectors(score, tuple(fold))


def as_read(vectors: Vectors, encoding: Encoding) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The float values a reader will see: (scoring vectors, fold-in tables)."""
    return encode(vectors, encoding).read


def has_unit_rows(table: np.ndarray) -> bool:
    """Whether every row is as long as one, or empty: then a file need not say how long."""
    lengths = np.linalg.norm(table, axis=1)
    return bool((np.abs(lengths[lengths > 0] - 1) < 1e-3).all())


def has_sizes(table: np.ndarray) -> bool:
    """Whether rows end at different columns, as methods that give every row a size make them."""
    sizes = ((table != 0) * np.arange(1, table.shape[1] + 1)).max(axis=1, initial=0)
    return bool(sizes.mean() < SIZED_SHARE * table.shape[1])


def _codes(tables: list[np.ndarray], encoding: Encoding) -> EncodedVectors:
    first = product_codes(tables[0], encoding.keep)
    made = [first, *(product_codes(table, encoding.keep, axes=first.axes) for table in tables[1:])]
    score, *fold = (encode_codes(codes.code, codes.book, BOOK_BITS) for codes in made)
    return EncodedVectors(score, tuple(fold), first.axes)


def _first(table: np.ndarray, keep: int) -> np.ndarray:
    return np.where(np.arange(table.shape[1]) < keep, table, 0)
