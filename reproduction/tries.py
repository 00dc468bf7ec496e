"""First learning rates that were tried for every method: what each search saw on validation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from reproduction.layout import Section, Table

TRY = re.compile(
    r"search-(?P<base>[a-z]+)-(?P<variant>\w+)-[0-9a-f]{6}@(?P<rate>[0-9.e-]+?)(?P<short>-short)?"
)
TEXT = (
    "Validation NDCG@20 by first learning rate, Gowalla, density .125: short trainings of every rate, then whole ones "
    "of the best. Batch, and how far the rate falls, are the same for all. Variants that are not here borrow a rate "
    "(reproduction/grids/rates.toml says whose)."
)


def tries_section(rows: Iterable[dict[str, Any]]) -> Section:
    """One line a search, from its recorded rows; empty where nothing was searched."""
    short: dict[tuple[str, str], dict[float, float]] = {}
    whole: dict[tuple[str, str], dict[float, float]] = {}
    for row in rows:
        found = TRY.fullmatch(row["name"])
        score = row["epochs"][-1]["best_score"]
        if found is not None and score is not None:
            kind = short if found["short"] else whole
            kind.setdefault((found["base"], found["variant"]), {})[float(found["rate"])] = score
    lines = [
        [
            *search,
            str(len(short.get(search, {}))),
            _shown(short.get(search, {})),
            _shown(whole.get(search, {})),
        ]
        for search in dict.fromkeys([*short, *whole])
    ]
    table = Table("", ["base", "method", "rates", "short", "whole"], lines)
    return Section("tries", "Rates that were tried", [TEXT], [table]) if lines else Section("tries", "")


def _shown(scores: dict[float, float]) -> str:
    return ", ".join(f"{rate:g}: {score:.4f}" for rate, score in sorted(scores.items()))
