"""What a method keeps in memory, by role, so that formula, bookkeeping and measured peak can stand side by side."""

from __future__ import annotations

Ledger = dict[str, int]
"""Bytes by role: values, positions, moments, ages, accumulated, scratch, rows, graph, interactions, ..."""


def total(ledger: Ledger) -> int:
    """All bytes of a ledger."""
    return sum(ledger.values())
