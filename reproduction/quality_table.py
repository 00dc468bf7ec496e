"""A table of quality: ours beside the published, tests against SparseRec, and how lists are spread over the items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from reproduction.cells import Cell
from reproduction.entries import Entry, paired_test
from reproduction.grid import variant_of
from reproduction.rendering import Table
from sparserec.evaluation import Comparison, holm
from sparserec.methods import make_method
from sparserec.runs import METRIC
from sparserec.units import show_bytes, show_probability

NOTHING = "-"
QUALITY = [
    "method", "Recall@20", "published", "ratio", "NDCG@20", "published", "ratio", "against SparseRec", "p (Holm)",
    "seeds ahead", "coverage", "popular tenth", "int8", "explored", "first rate",
]  # fmt: skip


def quality_table(title: str, entries: list[Entry]) -> Table | None:
    """Quality beside the published, with tests against SparseRec and how the lists are spread over items; None where
    nothing is trained.
    """
    there = sorted((entry for entry in entries if entry.found), key=lambda entry: -entry.mean(METRIC))
    if not there:
        return None
    reference = next((entry for entry in there if entry.is_sparserec), None)
    tests = _tests(reference, there)
    lines = [_quality_line(entry, reference, tests.get(entry.cell)) for entry in there]
    return Table(
        title, QUALITY, lines, [*_agreement_note(entries), *what_differs(there), *not_there(entries)]
    )


def what_differs(entries: Iterable[Entry]) -> list[str]:
    """A line for each variant that is not as in its paper; those of `entries` that have a result."""
    names = dict.fromkeys(entry.cell.variant for entry in entries if entry.found)
    variants = [variant_of(name) for name in names]
    return [f"{variant.label}: {variant.about}." for variant in variants if variant.about]


def not_there(entries: Iterable[Entry]) -> list[str]:
    """A line about what has no result."""
    missing = [
        entry.cell.label + (f" ({entry.problem})" if "blocked" in entry.states else "")
        for entry in entries
        if not entry.found
    ]
    return [f"Not trained: {', '.join(missing)}."] if missing else []


def _quality_line(entry: Entry, reference: Entry | None, test: tuple[Comparison, float] | None) -> list[str]:
    published = entry.published
    known = [f"{published.recall:.4f}", f"{published.ndcg:.4f}"] if published else [NOTHING, NOTHING]
    first = entry.first
    assert first is not None
    return [
        entry.label,
        shown_spread(entry, "recall@20"),
        known[0],
        _ratio(entry, "recall@20"),
        shown_spread(entry, METRIC),
        known[1],
        _ratio(entry, METRIC),
        *_test_cells(entry is reference, test),
        _seeds_ahead(entry, reference),
        _share(first.metric("coverage@20")),
        _share(first.metric("popular_share@20")),
        show_bytes(first.row["bytes"]["int8"]),
        NOTHING if entry.explorations is None else str(entry.explorations),
        f"{_first_rate(entry):g} ({entry.cell.rate})",
    ]


def _first_rate(entry: Entry) -> float:
    """Of the recipe, or of the method where that has one of its own."""
    assert entry.first is not None
    config = entry.first.config
    if variant_of(entry.cell.variant).own_rate:
        return make_method(config.method, config.method_settings).settings.learning_rate
    return config.recipe.learning_rate


def both_scores(entries: Iterable[Entry]) -> tuple[dict[str, float], dict[str, float]]:
    """NDCG@20 by variant: ours, and the published. What has no density (DHE) is not of the setting."""
    ours, published = {}, {}
    for entry in entries:
        if entry.published is None or variant_of(entry.cell.variant).any_density:
            continue
        published[entry.cell.variant] = entry.published.ndcg
        if entry.found and (entry.is_sparserec or entry.cell.variant != "sparserec"):
            ours[entry.cell.variant] = entry.mean(METRIC)
    return ours, published


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between two rankings: 1 the same order, -1 the reverse."""

    tau: float
    p: float
    """Chance of a tau at least this far from 0 if the orders had nothing to do with each other."""
    n: int


def rank_agreement(ours: Mapping[str, float], published: Mapping[str, float]) -> Agreement | None:
    """Over the methods that both have; None where fewer than two are left or all are equal."""
    both = [name for name in ours if name in published]
    if len(both) < 2:
        return None
    found = stats.kendalltau([ours[name] for name in both], [published[name] for name in both])
    if np.isnan(found.statistic):
        return None
    return Agreement(float(found.statistic), float(found.pvalue), len(both))


def _agreement_note(entries: list[Entry]) -> list[str]:
    ours, published = both_scores(entries)
    if not published:
        return []
    found = rank_agreement(ours, published)
    if found is None:
        return [f"Rank agreement with the paper: needs two methods of both, has {len(ours)}."]
    left_out = sorted(set(published) - set(ours))
    return [
        f"Rank agreement with the paper (Kendall's tau, NDCG@20): {found.tau:+.2f} over {found.n} methods, p "
        f"{found.p:.2f}" + (f"; without {', '.join(left_out)}." if left_out else ".")
    ]


def _tests(reference: Entry | None, entries: Iterable[Entry]) -> dict[Cell, tuple[Comparison, float]]:
    """Paired tests against SparseRec on the first seed that both have, with Holm's correction."""
    if reference is None:
        return {}
    found = {}
    for entry in entries:
        shared = entry.found.keys() & reference.found.keys()
        if entry is reference or not shared:
            continue
        test = paired_test([entry.found[min(shared)]], [reference.found[min(shared)]])
        if test is not None:
            found[entry.cell] = test
    corrected = holm([test.p for test in found.values()])
    return {cell: (test, float(p)) for (cell, test), p in zip(found.items(), corrected)}


def _test_cells(is_reference: bool, test: tuple[Comparison, float] | None) -> list[str]:
    if is_reference or test is None:
        return ["reference" if is_reference else NOTHING, NOTHING]
    found, p = test
    margin = (found.high - found.low) / 2
    return [f"{found.difference:+.4f} ± {margin:.4f}", show_probability(p)]


def _seeds_ahead(entry: Entry, reference: Entry | None) -> str:
    """Over seeds that both have: on how many this entry is ahead of SparseRec."""
    if reference is None or entry is reference:
        return NOTHING
    ahead = [
        ours > theirs
        for seed in entry.found.keys() & reference.found.keys()
        if (ours := entry.found[seed].metric(METRIC)) is not None
        and (theirs := reference.found[seed].metric(METRIC)) is not None
    ]
    return f"{sum(ahead)} of {len(ahead)}"


def shown_spread(entry: Entry, metric: str) -> str:
    spread = entry.spread(metric)
    if spread is None:
        return NOTHING
    deviation = "" if spread.std is None else f" ± {spread.std:.4f} ({spread.n} seeds)"
    return f"{spread.mean:.4f}{deviation}"


def _ratio(entry: Entry, metric: str) -> str:
    spread, published = entry.spread(metric), entry.published
    if spread is None or published is None:
        return NOTHING
    return f"{spread.mean / published.of(metric):.3f}"


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.1f} %"
