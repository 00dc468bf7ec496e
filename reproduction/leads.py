"""Who is ahead of whom: SparseRec beside the best of the paper's other methods, and small dense of equal bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from reproduction.entries import Entry, paired_test
from reproduction.grid import Grid
from reproduction.jobs import Job
from reproduction.paper_table import MODELS, Entries, Setting
from reproduction.quality_table import NOTHING
from reproduction.rendering import Table
from reproduction.sections import shown
from sparserec.runs import METRIC


@dataclass(frozen=True)
class Lead:
    """How far one entry is ahead of another in NDCG@20, over the seeds that both have."""

    difference: float
    share: float
    """Of the other's score."""
    margin: float | None
    """Half the 95 % interval over users of the mean over seeds; None where users are not recorded."""
    ahead: int
    seeds: int

    def __str__(self) -> str:
        interval = " (by means, users not recorded)" if self.margin is None else f" ± {self.margin:.4f}"
        times = "seed" if self.seeds == 1 else "seeds"
        ahead = f"ahead on {self.ahead} of {self.seeds} {times}"
        return f"{self.difference:+.4f}{interval}, {100 * self.share:+.1f} %, {ahead}"


def lead_of(first: Entry, second: Entry) -> Lead | None:
    """First against second; None where they share no seed."""
    seeds = sorted(set(first.found) & set(second.found))
    pairs = [(first.found[seed], second.found[seed]) for seed in seeds]
    scores = [(one.metric(METRIC), other.metric(METRIC)) for one, other in pairs]
    known = [(one, other) for one, other in scores if one is not None and other is not None]
    if not known:
        return None
    mine, theirs = (float(np.mean(side)) for side in zip(*known))
    ahead = sum(one > other for one, other in known)
    test = paired_test([one for one, _ in pairs], [other for _, other in pairs])
    margin = None if test is None else (test.high - test.low) / 2
    return Lead(mine - theirs, (mine - theirs) / theirs, margin, ahead, len(known))


@dataclass(frozen=True)
class Standing:
    """SparseRec in one setting, beside the others that are trained there."""

    setting: Setting
    own: Entry
    rivals: list[Entry]
    """The paper's other methods, best first."""
    lead: Lead | None
    """Over the best of them."""
    over_bytes: Lead | None
    """Over a small dense table of as many bytes, which the paper does not have."""
    published: tuple[float, str] | None
    """The paper's own lead, as a share, and over which method."""


def standings(entries: Entries) -> list[Standing]:
    """Every setting in which SparseRec and one of the others is trained, in the order of the paper's columns."""
    found = []
    for place, density in product(entries.places, entries.densities):
        setting, here = (*place, density), entries.at(place, density)
        own = here.get("sparserec")
        if own is None or not own.is_sparserec:
            continue
        others = [here[name] for name in MODELS if name in here and name != "sparserec"]
        rivals = sorted((one for one in others if one.found), key=lambda one: -one.mean(METRIC))
        lead = lead_of(own, rivals[0]) if rivals else None
        over_bytes = lead_of(own, here["small_dense_bytes"]) if "small_dense_bytes" in here else None
        if lead is not None or over_bytes is not None:
            found.append(Standing(setting, own, rivals, lead, over_bytes, _published(own, others)))
    return found


def _published(own: Entry, others: Sequence[Entry]) -> tuple[float, str] | None:
    known = [(one.published.ndcg, MODELS[one.cell.variant]) for one in others if one.published is not None]
    if own.published is None or not known:
        return None
    best, label = max(known)
    return own.published.ndcg / best - 1, label


def leads_table(grid: Grid, jobs: Sequence[Job]) -> Table | None:
    """A line for every setting; None where there is nothing to compare."""
    ahead = ["by (95 %)", "", "seeds"]
    names = ["setting", "SparseRec", "best of the paper's others", "of how many"]
    lines = []
    for one in standings(Entries(grid, jobs)):
        said = (
            NOTHING if one.published is None else f"{100 * one.published[0]:+.1f} % (of {one.published[1]})"
        )
        rival = one.rivals[0].label if one.lead is not None else NOTHING
        cells = [*_cells(one.lead), said, *_cells(one.over_bytes)]
        lines.append([shown(one.setting), f"{one.own.mean(METRIC):.4f}", rival, str(len(one.rivals)), *cells])
    groups = [("", len(names)), ("ahead of the best", 4), ("ahead of small dense of equal bytes", 3)]
    columns = [*names, *ahead, "in the paper", *ahead]
    return Table("", columns, lines, groups=groups) if lines else None


def _cells(lead: Lead | None) -> list[str]:
    if lead is None:
        return [NOTHING] * 3
    interval = "" if lead.margin is None else f" ± {lead.margin:.4f}"
    return [
        f"{lead.difference:+.4f}{interval}",
        f"{100 * lead.share:+.1f} %",
        f"{lead.ahead} of {lead.seeds}",
    ]
