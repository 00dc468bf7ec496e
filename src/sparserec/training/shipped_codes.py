"""Product codes learnt with the loss that the vectors were trained with, as a file will hold them.

Codebooks take the gradient of every row that looks them up. Behind the codes float vectors go on learning straight
through, as in VQ-VAE (van den Oord et al., NeurIPS 2017) but with nothing that pulls them to the codes, and every few
steps each row takes the codebook entries that are nearest to its vector.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from sparserec.progress import Progress
from sparserec.recommenders import MoreSteps
from sparserec.vectors import ProductCodes, nearest_entries

BOOK_RATE, VECTOR_RATE = 0.05, 0.03
"""First learning rates, in units of the size that numbers of a row have."""
CHOOSE_EVERY = 4
"""Steps between choices of codebook entries."""


def learn_codes(vectors: np.ndarray, codes: ProductCodes, more: MoreSteps, bar: Progress) -> ProductCodes:
    """The codes of some vectors, learnt; the axes stay."""
    behind = torch.from_numpy(np.ascontiguousarray(vectors @ codes.axes, dtype=np.float32))
    book, code = torch.from_numpy(codes.book.astype(np.float32)), codes.code
    size = float(behind.square().mean().sqrt())
    optimisers = [
        (torch.optim.Adam([part]), rate * size) for part, rate in ((book, BOOK_RATE), (behind, VECTOR_RATE))
    ]
    for step in range(more.steps):
        gradient = more.of_rows(look_up(code, book), step)
        book.grad, behind.grad = gradient_of_books(code, book, gradient), gradient
        for optimiser, rate in optimisers:
            optimiser.param_groups[0]["lr"] = more.rate(rate, step)
            optimiser.step()
        if (step + 1) % CHOOSE_EVERY == 0 or step + 1 == more.steps:
            code = nearest_entries(behind.numpy(), book.numpy())
        bar.advance()
    return replace(codes, code=code, book=book.numpy())


def look_up(code: np.ndarray, book: torch.Tensor) -> torch.Tensor:
    """The rows that codes stand for, (rows, slices * width)."""
    places = torch.from_numpy(code.astype(np.int64))
    return torch.cat([part[places[:, number]] for number, part in enumerate(book)], dim=1)


def gradient_of_books(code: np.ndarray, book: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """From the gradient of the rows that look them up: as `book`, (slices, entries, width)."""
    places, out = torch.from_numpy(code.astype(np.int64)), torch.zeros_like(book)
    for number, part in enumerate(gradient.split(book.shape[2], dim=1)):
        out[number].index_add_(0, places[:, number], part)
    return out
