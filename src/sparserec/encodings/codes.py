"""Product codes of vectors, a byte a slice: k-means in each slice of the columns, on axes that suit the slices.

The axes and the codebooks take turns (optimised product quantisation: Ge et al., CVPR 2013): with the codes fixed, the
rotation that brings the vectors closest to them is known in closed form. Inner products do not change when all vectors
are rotated, so nobody needs the rotation afterwards.

Learnt: codebooks take the gradient of every row that looks them up. Behind the codes float vectors go on learning
straight through, as in VQ-VAE (van den Oord et al., NeurIPS 2017) but with nothing that pulls them to the codes, and
every few steps each row takes the codebook entries that are nearest to its vector.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import torch

from sparserec.device import encode_codes, product_bytes
from sparserec.encodings.base import EncodedVectors, Encoding, VectorKind
from sparserec.encodings.material import Learnt, Material
from sparserec.errors import SettingError
from sparserec.progress import Progress
from sparserec.recommenders import MoreSteps, Vectors

BOOK_BITS = 8
CODE_BYTES = (4, 8, 12, 16, 24, 32, 48, 64)
ENTRIES = 256
ROUNDS = 12
"""Of the turns of axes and codebooks; each is one step of k-means in every slice."""
LAST_STEPS = 4
"""Steps of k-means after the axes are fixed."""
BLOCK = 8192
BOOK_RATE, VECTOR_RATE = 0.05, 0.03
"""First learning rates, in units of the size that numbers of a row have."""
CHOOSE_EVERY = 4
"""Steps between choices of codebook entries."""


class CodesKind(VectorKind):
    title = "product codes"
    steps = 60  # half an epoch of Gowalla: more gained next to nothing there (docs/log.md)

    def label(self, one: Encoding) -> str:
        return f"codes of {one.keep} bytes, fold-in {one.fold}"

    def check(self, one: Encoding, dim: int) -> None:
        super().check(one, dim)
        if one.keep > dim:
            raise SettingError(
                f"keep {one.keep}: product codes have at most a byte for each of the {dim} columns"
            )

    def candidates(self, vectors: Vectors) -> Iterable[tuple[int, int]]:
        return ((BOOK_BITS, size) for size in CODE_BYTES if size <= vectors.items.shape[1])

    def bytes(self, one: Encoding, items: int, dim: int) -> float:
        return product_bytes(one.keep, items, dim)

    def tables(self, one: Encoding, tables: list[np.ndarray]) -> EncodedVectors:
        first = product_codes(tables[0], one.keep)
        all_codes = [first, *(product_codes(table, one.keep, axes=first.axes) for table in tables[1:])]
        score, *fold = (encode_codes(codes.code, codes.book, BOOK_BITS) for codes in all_codes)
        return EncodedVectors(score, tuple(fold), first.axes)

    def learn(self, one: Encoding, material: Material, more: MoreSteps, bar: Progress) -> Learnt:
        items = material.vectors.items
        codes = learn_codes(items, product_codes(items, one.keep), more, bar)
        return lambda some: EncodedVectors(
            encode_codes(codes.code[some], codes.book, BOOK_BITS), (), codes.axes
        )


@dataclass(frozen=True)
class ProductCodes:
    """What stands for some vectors."""

    code: np.ndarray  # (rows, slices): which codebook entry
    book: np.ndarray  # (slices, entries, width)
    axes: np.ndarray  # (dim, slices * width) orthonormal columns: the codes stand for vectors @ axes


def product_codes(
    vectors: np.ndarray, slices: int, seed: int = 0, axes: np.ndarray | None = None
) -> ProductCodes:
    """Codes of one byte a slice; with `axes` given those are kept.

    Slices are equally wide: where they do not divide the columns, the least important axes are left out.
    """
    rng = np.random.default_rng(seed)
    learn = axes is None
    rotation = balanced_axes(vectors, slices) if axes is None else axes
    entries = min(ENTRIES, max(2, len(vectors)))
    turned = vectors @ rotation
    book = turned[rng.choice(len(vectors), entries, replace=len(vectors) < entries)]
    books = np.ascontiguousarray(book.reshape(entries, slices, -1).swapaxes(0, 1))
    for step in range(ROUNDS + LAST_STEPS):
        code = nearest_entries(turned, books)
        books = means(turned, code, books, rng)
        if learn and step < ROUNDS:
            left, _, right = np.linalg.svd(vectors.T @ looked_up(code, books), full_matrices=False)
            rotation = (left @ right).astype(vectors.dtype)
            turned = vectors @ rotation
    return ProductCodes(nearest_entries(turned, books), books, rotation)


def balanced_axes(vectors: np.ndarray, slices: int) -> np.ndarray:
    """Principal axes allocated to the slices so that each gets about the same product of variances: (dim, axes)."""
    dim = vectors.shape[1]
    width = dim // slices
    values, axes = np.linalg.eigh(vectors.T @ vectors / max(len(vectors), 1))
    free = np.full(slices, width)
    load = np.zeros(slices)
    places: list[list[int]] = [[] for _ in range(slices)]
    for axis in np.argsort(-values, kind="stable")[: slices * width]:
        slice_ = int(np.argmin(np.where(free > 0, load, np.inf)))
        places[slice_].append(int(axis))
        free[slice_] -= 1
        load[slice_] += np.log(max(float(values[axis]), 1e-12)) + 30.0
    return np.ascontiguousarray(axes[:, [axis for own in places for axis in own]]).astype(vectors.dtype)


def nearest_entries(vectors: np.ndarray, books: np.ndarray) -> np.ndarray:
    """The codebook entry closest to each vector in each slice: (rows, slices)."""
    slices, _, width = books.shape
    code = np.empty((len(vectors), slices), np.uint8)
    halves = (books**2).sum(axis=2) / 2
    for first in range(0, len(vectors), BLOCK):
        block = vectors[first : first + BLOCK]
        for number in range(slices):
            part = block[:, number * width : (number + 1) * width]
            code[first : first + BLOCK, number] = (part @ books[number].T - halves[number]).argmax(axis=1)
    return code


def means(vectors: np.ndarray, code: np.ndarray, books: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each entry moved to the mean of its vectors; one that has none starts again at a vector drawn at random."""
    slices, entries, width = books.shape
    moved = np.empty_like(books)
    for number in range(slices):
        part = vectors[:, number * width : (number + 1) * width]
        sums = np.stack([np.bincount(code[:, number], column, entries) for column in part.T], axis=1)
        counts = np.bincount(code[:, number], minlength=entries)[:, None]
        fresh = part[rng.choice(len(part), entries)]
        moved[number] = np.where(counts > 0, sums / np.maximum(counts, 1), fresh)
    return moved


def looked_up(code: np.ndarray, books: np.ndarray) -> np.ndarray:
    """The vectors that codes stand for: (rows, dim)."""
    return np.concatenate([books[number][code[:, number]] for number in range(len(books))], axis=1)


def learn_codes(vectors: np.ndarray, codes: ProductCodes, more: MoreSteps, bar: Progress) -> ProductCodes:
    """The codes of some vectors, learnt; the axes stay."""
    behind = torch.from_numpy(np.ascontiguousarray(vectors @ codes.axes, dtype=np.float32))
    book, code = torch.from_numpy(codes.book.astype(np.float32)), codes.code
    size = float(behind.square().mean().sqrt())
    optimisers = [
        (torch.optim.Adam([part]), rate * size) for part, rate in ((book, BOOK_RATE), (behind, VECTOR_RATE))
    ]
    for step in range(more.steps):
        gradient = more.of_rows(torch.from_numpy(looked_up(code, book.numpy())), step)
        book.grad, behind.grad = gradient_of_books(code, book, gradient), gradient
        for optimiser, rate in optimisers:
            optimiser.param_groups[0]["lr"] = more.rate(rate, step)
            optimiser.step()
        if (step + 1) % CHOOSE_EVERY == 0 or step + 1 == more.steps:
            code = nearest_entries(behind.numpy(), book.numpy())
        bar.advance()
    return replace(codes, code=code, book=book.numpy())


def gradient_of_books(code: np.ndarray, book: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """From the gradient of the rows that look them up: as `book`, (slices, entries, width)."""
    places, out = torch.from_numpy(code.astype(np.int64)), torch.zeros_like(book)
    for number, part in enumerate(gradient.split(book.shape[2], dim=1)):
        out[number].index_add_(0, places[:, number], part)
    return out
