"""What an encoding is: one kind of table that items are written as, in a file of its own; `registry` names them all.

Imports numpy and the device alone, so that a kind from outside can be read where nothing is trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from sparserec.device import EncodedTable, ItemTerm, keep_largest, read_back
from sparserec.errors import SettingError

if TYPE_CHECKING:
    from sparserec.encodings.lists import EncodedLists
    from sparserec.encodings.material import Learnt, Material
    from sparserec.progress import Progress
    from sparserec.recommenders import MoreSteps, Vectors

Fold = Literal["own", "shared"]
"""Fold-in tables of their own, or the scoring table standing in for them (half the bytes, approximate)."""
SHOWN = {"together": "co-occurrence"}
"""What people call kinds that are stored, in files, settings and rows, under an older name."""
KEEPS = (8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256)


def stored_name(name: str) -> str:
    """The name of a kind in files and rows, from the one that people type."""
    return next((stored for stored, shown in SHOWN.items() if shown == name), name)


@dataclass(frozen=True)
class Encoding:
    """One kind of encoding at one size."""

    bits: int = 4
    """Of each entry; of the numbers in the codebooks in product codes."""
    keep: int = 32
    """Of each item: entries (dim or more: all; on average where they are learnt), principal axes, bytes of product
    codes, neighbours, or items chosen together with it or weights of EASE, on average."""
    fold: Fold = "shared"
    kind: str = "int"
    """A name of the registry, of an installed package, or package.module:Class."""
    learnt: bool = False
    """Whether codes are learnt with the loss of the training once they are chosen, rather than nearest to the vectors.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", stored_name(self.kind))

    @property
    def of(self) -> Kind:
        """What its kind does."""
        from sparserec.encodings.registry import find_encoding

        return find_encoding(self.kind)

    @property
    def label(self) -> str:
        return self.of.label(self) + (", learnt" if self.learnt else "")

    def check(self, dim: int) -> None:
        """Raise where the vectors of a run cannot be written so."""
        for name in ("bits", "keep"):
            if type(getattr(self, name)) is not int:
                raise SettingError(f"encoding: {name} is {getattr(self, name)!r}, which is no whole number")
        if self.fold not in get_args(Fold):
            raise SettingError(f"encoding: fold is {self.fold!r}; must be one of {', '.join(get_args(Fold))}")
        self.of.check(self, dim)
        if self.learnt and (not self.of.steps or self.fold != "shared"):
            from sparserec.encodings.registry import learnable

            raise SettingError(
                f"encoding {self.of.label(self)} cannot be learnt: {' and '.join(learnable())} with fold-in shared can"
            )


class Kind:
    """What all encodings of a kind have in common. A kind has no state: what it wants to keep is in the material."""

    title: ClassVar[str] = ""
    """In a word or two, for people."""
    unit: ClassVar[str] = "entries"
    """What an item has `keep` of."""
    lists: ClassVar[bool] = False
    """Whether the file holds lists of items in place of vectors."""
    steps: ClassVar[int] = 0
    """Of learning codes with the loss of the training, by `learn`; 0: they cannot be learnt."""
    tensor: ClassVar[str] = ""
    """Of a kind from outside: the tensor that tells its tables from those of others; its `read` reads them."""

    def label(self, one: Encoding) -> str:
        return f"{one.kind}, {one.bits} bits, {one.keep} {self.unit}, fold-in {one.fold}"

    def check(self, one: Encoding, dim: int) -> None:
        """Raise where vectors of so many columns cannot be written so."""
        if not 1 <= one.bits <= 8 or one.keep < 1:
            raise SettingError(f"bits {one.bits} and keep {one.keep}: bits must be 1 to 8, keep at least 1")

    def candidates(self, vectors: Vectors) -> Iterable[tuple[int, int]]:
        """Bits and `keep` of those worth trying for a budget."""
        raise NotImplementedError

    def bytes(self, one: Encoding, items: int, dim: int) -> float:
        """About how many a table will take; what is measured in the end is the file."""
        raise NotImplementedError

    def encode(
        self, one: Encoding, material: Material, items: np.ndarray | None = None
    ) -> EncodedVectors | EncodedLists:
        """The tables of a file that knows some items, or all."""
        raise NotImplementedError

    def learn(self, one: Encoding, material: Material, more: MoreSteps, bar: Progress) -> Learnt:
        """The same with learnt codes. All items are learnt; a file may leave some of them out afterwards."""
        raise NotImplementedError


class VectorKind(Kind):
    """Kinds that hold vectors: each table by itself, unless `tables` says otherwise."""

    def encode(self, one: Encoding, material: Material, items: np.ndarray | None = None) -> EncodedVectors:
        vectors = material.vectors
        one.check(vectors.items.shape[1])
        tables = [vectors.items] if one.fold == "shared" else [vectors.items, *vectors.fold]
        return self.tables(one, tables if items is None else [table[items] for table in tables])

    def tables(self, one: Encoding, tables: list[np.ndarray]) -> EncodedVectors:
        """Scoring table first, then those for fold-in that are not the same."""
        score, *fold = (self.table(one, table) for table in tables)
        return EncodedVectors(score, tuple(fold))

    def table(self, one: Encoding, values: np.ndarray) -> EncodedTable:
        raise NotImplementedError


@dataclass(frozen=True)
class EncodedVectors:
    """Scoring table and fold-in tables as they go into the file."""

    score: EncodedTable
    fold: tuple[EncodedTable, ...] = ()
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


def keeps(vectors: Vectors, *bits: int) -> Iterator[tuple[int, int]]:
    """Candidates that keep some columns, or all."""
    dim = vectors.items.shape[1]
    return ((one, keep) for keep in (*(keep for keep in KEEPS if keep < dim), dim) for one in bits)
