"""The paper's four questions, answered in a sentence each from what is recorded: effect, interval and seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reproduction.entries import Entry, paired_test
from reproduction.grid import Grid, read_grid
from reproduction.jobs import Job
from reproduction.paper_table import MODELS, Entries, Setting
from reproduction.sections import shown
from sparserec.runs import METRIC

NOT_YET = "not trained yet"
MOST_CLAUSES = 4
"""Settings named in a sentence; the tables below have the others."""


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


def answers(jobs: Sequence[Job]) -> list[str]:
    """The four sentences."""
    table, ablation, sizes = (read_grid(name) for name in ("table1", "ablation", "sizes"))
    return [
        f"**RQ1, SparseRec against the other methods:** {_against_others(Entries(table, jobs))}. "
        f"{_against_bytes(Entries(table, jobs))}",
        f"**RQ2, what the NMF start adds:** {_adds(ablation, jobs, 'uniform')}.",
        f"**RQ3, what summed gradients add:** {_adds(ablation, jobs, 'instantaneous')}.",
        f"**RQ4, row size and frequency:** {_sizes(sizes, jobs)}.",
    ]


def _against_others(entries: Entries) -> str:
    leads: list[tuple[Setting, Entry, Lead]] = []
    for setting, found in entries.by_setting.items():
        rivals = [
            found[name] for name in MODELS if name in found and name != "sparserec" and found[name].found
        ]
        own = found.get("sparserec")
        if own is None or not own.is_sparserec or not rivals:
            continue
        best = max(rivals, key=lambda entry: entry.mean(METRIC))
        lead = lead_of(own, best)
        if lead is not None:
            leads.append((setting, best, lead))
    if not leads:
        return f"{NOT_YET}, or no method of the paper beside it (the paper: first in 16 of 18 settings)"
    first = sum(lead.difference > 0 for *_, lead in leads)
    leads.sort(key=lambda one: -one[-1].seeds)
    clauses = [
        f"{shown(setting)}: {lead} against {rival.label}" for setting, rival, lead in leads[:MOST_CLAUSES]
    ]
    return (
        f"first in {first} of {len(leads)} settings where one of the paper's methods is trained too (the paper: 16 of "
        f"18); against the best of them in NDCG@20, {'; '.join(clauses)}{_and_more(leads)}"
    )


def _against_bytes(entries: Entries) -> str:
    """Against a small dense table of as many bytes, which the paper does not have; nothing where none is trained."""
    leads = []
    for setting, found in entries.by_setting.items():
        own, other = found.get("sparserec"), found.get("small_dense_bytes")
        lead = None if own is None or other is None or not own.is_sparserec else lead_of(own, other)
        if lead is not None:
            leads.append((setting, lead))
    if not leads:
        return ""
    first = sum(lead.difference > 0 for _, lead in leads)
    leads.sort(key=lambda one: -one[-1].seeds)
    clauses = "; ".join(f"{shown(setting)}: {lead}" for setting, lead in leads[:MOST_CLAUSES])
    return (
        f"Against a small dense table of as many bytes, which the paper does not have, it is ahead in {first} of "
        f"{len(leads)}: {clauses}{_and_more(leads)}."
    )


def _adds(grid: Grid, jobs: Sequence[Job], without: str) -> str:
    """SparseRec against the variant that lacks a part, in every setting of the ablation."""
    leads = []
    for setting, found in Entries(grid, jobs).by_setting.items():
        own, other = found.get("sparserec"), found.get(without)
        lead = None if own is None or other is None or not own.is_sparserec else lead_of(own, other)
        if lead is None or own is None or other is None:
            continue
        known = ""
        if own.published is not None and other.published is not None:
            gain = own.published.ndcg - other.published.ndcg
            known = f" (the paper: {gain:+.4f}, {100 * gain / other.published.ndcg:+.1f} %)"
        leads.append((setting, lead, f"{shown(setting)}: {lead}{known}"))
    leads.sort(key=lambda one: -one[1].seeds)
    if not leads:
        return NOT_YET
    return "in NDCG@20, " + "; ".join(text for *_, text in leads[:MOST_CLAUSES]) + _and_more(leads)


def _and_more(leads: Sequence[object]) -> str:
    return f"; {len(leads) - MOST_CLAUSES} more below" if len(leads) > MOST_CLAUSES else ""


def _sizes(grid: Grid, jobs: Sequence[Job]) -> str:
    clauses = []
    for setting, found in Entries(grid, jobs).by_setting.items():
        for name, words in (("sparserec", "summed"), ("instantaneous", "instantaneous")):
            first = found[name].first if name in found else None
            row = {} if first is None else first.row
            if row.get("mask"):
                users = correlation(row["mask"]["pearson_users"], row["data"]["users"])
                items = correlation(row["mask"]["pearson_items"], row["data"]["items"])
                clauses.append(f"{shown(setting)}, {words} gradients, one seed: {users} users, {items} items")
    alone = "every row a candidate: " + ("; ".join(clauses) if clauses else NOT_YET)
    rows = [
        job.found.row["mask"]
        for job in jobs
        if job.found is not None and job.config is not None and job.config.method == "sparserec"
        and (job.found.row.get("mask") or {}).get("pearson_users") is not None
    ]  # fmt: skip
    if not rows:
        return f"Pearson's r, {alone}"
    spans = [
        f"{min(row[name] for row in rows):.2f} to {max(row[name] for row in rows):.2f} {side}"
        for name, side in (("pearson_users", "users"), ("pearson_items", "items"))
    ]
    return (
        f"Pearson's r, {alone}; over all {len(rows)} SparseRec rows of this report, most with candidates drawn by "
        f"frequency: {', '.join(spans)}"
    )


def correlation(r: float, n: int) -> str:
    """Pearson's r with its 95 % interval (Fisher's transformation)."""
    if n < 4 or abs(r) >= 1:
        return f"{r:.2f}"
    centre, margin = math.atanh(r), 1.96 / math.sqrt(n - 3)
    return f"{r:.2f} [{math.tanh(centre - margin):.3f}, {math.tanh(centre + margin):.3f}]"
