"""How many bytes a table takes in a file: the writer chooses a layout by these formulas, plans and budgets foresee
with them.
"""

from __future__ import annotations

from math import lgamma, log

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
