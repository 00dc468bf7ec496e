"""Values of sparse rows learnt as they will be shipped: in a few bits, with the loss that the table was trained with.

Straight through (Bengio et al., arXiv 1308.3432): the loss sees the codes, and its gradient moves float values behind
them, which change a code when they come nearer to another one. Rows count by their direction; their scales follow from
the codes. Which entries a row has stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparserec.device import CodedRows
from sparserec.progress import Progress
from sparserec.recommenders import MoreSteps
from sparserec.table import Shape, SparseTable, Update

FIRST_RATE = 1.2
"""In steps from one code to the next, over the entries of a row: a score is a sum over them, and each is moved by the
rate (docs/log.md).
"""
BEYOND = 0.5
"""How far a value may go beyond the last code; from further out none would come back in time."""


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
