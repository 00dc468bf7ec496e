"""Product codes of vectors: k-means in each slice of the columns, on axes that suit the slices.

The axes and the codebooks take turns (optimised product quantisation: Ge et al., CVPR 2013): with the codes fixed, the
rotation that brings the vectors closest to them is known in closed form. Inner products do not change when all vectors
are rotated, so nobody needs the rotation afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ENTRIES = 256
ROUNDS = 12
"""Of the turns of axes and codebooks; each is one step of k-means in every slice."""
LAST_STEPS = 4
"""Steps of k-means after the axes are fixed."""
BLOCK = 8192


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
    """Principal axes dealt to the slices so that each gets about the same product of variances: (dim, axes)."""
    dim = vectors.shape[1]
    width = dim // slices
    values, axes = np.linalg.eigh(vectors.T @ vectors / max(len(vectors), 1))
    room = np.full(slices, width)
    load = np.zeros(slices)
    places: list[list[int]] = [[] for _ in range(slices)]
    for axis in np.argsort(-values, kind="stable")[: slices * width]:
        slice_ = int(np.argmin(np.where(room > 0, load, np.inf)))
        places[slice_].append(int(axis))
        room[slice_] -= 1
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
