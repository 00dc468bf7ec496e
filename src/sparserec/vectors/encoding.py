"""How vectors are cut and quantised for a file, and what that leaves of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparserec.device import EncodedTable, encode_table, fake_quantise, keep_largest
from sparserec.vectors.propagate import Vectors

Fold = Literal["own", "shared"]
"""Fold-in tables of their own, or the scoring table standing in for them (half the bytes, approximate)."""


@dataclass(frozen=True)
class Encoding:
    """One way to write item vectors."""

    bits: int = 4
    keep: int = 32  # largest entries of each row; dim or more: all
    fold: Fold = "shared"

    @property
    def label(self) -> str:
        return f"int{self.bits}, {self.keep} entries, fold-in {self.fold}"


DEFAULT = Encoding()


def cut(vectors: np.ndarray, keep: int) -> np.ndarray:
    """The `keep` largest entries of each row."""
    return keep_largest(vectors, keep) if keep < vectors.shape[1] else vectors


def encode(vectors: Vectors, encoding: Encoding) -> tuple[EncodedTable, tuple[EncodedTable, ...]]:
    """Scoring table and fold-in tables as they go into the file."""
    score = encode_table(cut(vectors.items, encoding.keep), encoding.bits)
    if encoding.fold == "shared":
        return score, ()
    return score, tuple(encode_table(cut(part, encoding.keep), encoding.bits) for part in vectors.fold)


def as_read(vectors: Vectors, encoding: Encoding) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The float values a reader will see: (scoring vectors, fold-in tables)."""
    items = fake_quantise(cut(vectors.items, encoding.keep), encoding.bits)
    if encoding.fold == "shared":
        return items, (items,)
    return items, tuple(fake_quantise(cut(part, encoding.keep), encoding.bits) for part in vectors.fold)
