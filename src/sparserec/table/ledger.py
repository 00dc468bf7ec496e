"""What a method keeps in memory, by role, so that formula, bookkeeping and measured peak can stand side by side."""

from __future__ import annotations

Ledger = dict[str, int]
"""Bytes by role: values, positions, moments, ages, accumulated, scratch, rows, graph, interactions, ..."""


def total(ledger: Ledger) -> int:
    """All bytes of a ledger."""
    return sum(ledger.values())


def paper_formula_bytes(active: int, sampled: int, active_and_sampled: int) -> int:
    """The paper's parameter count (table, gradients on A u S, accumulator on S) as float32 bytes.

    It leaves out Adam's moments, indices, the graph and activations; that is why the ledger stands beside it.
    """
    return 4 * (active + active_and_sampled + sampled)
