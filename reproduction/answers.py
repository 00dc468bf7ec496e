"""The paper's four questions, answered in a sentence each from what is recorded: effect, interval and seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reproduction.grid import Grid, read_grid
from reproduction.jobs import Job
from reproduction.leads import Lead, lead_of, standings
from reproduction.paper_table import Entries
from reproduction.recorded import FEWEST_EXPLORATIONS
from reproduction.sections import shown

NOT_YET = "not trained yet"
THE_PAPERS = "the paper: 17 of 18, and 16 by Recall@20 too"
MOST_CLAUSES = 4
"""Settings named in a sentence; the tables below have the others."""


def answers(jobs: Sequence[Job]) -> list[str]:
    """The four sentences."""
    table, ablation, sizes = (read_grid(name) for name in ("table1", "ablation", "sizes"))
    return [
        f"**RQ1, SparseRec against the other methods:** {_against_others(Entries(table, jobs))}",
        f"**RQ2, what the NMF start adds:** {_adds(ablation, jobs, 'uniform')}.",
        f"**RQ3, what summed gradients add:** {_adds(ablation, jobs, 'instantaneous')}.",
        f"**RQ4, row size and frequency:** {_sizes(sizes, jobs)}.",
    ]


def _against_others(entries: Entries) -> str:
    """How often SparseRec is first; by how much is in the table of leads."""
    known = standings(entries)
    leads = [one.lead for one in known if one.lead is not None]
    if not leads:
        return f"{NOT_YET}, or no method of the paper beside it ({THE_PAPERS})."
    text = f"first in {_ahead(leads)} settings by NDCG@20, of those trained ({THE_PAPERS})."
    over_bytes = [one.over_bytes for one in known if one.over_bytes is not None]
    if over_bytes:
        text += (
            " Against a small dense table of as many bytes, which the paper does not have, it is ahead in "
            f"{_ahead(over_bytes)}."
        )
    return f"{text} By how much, and on how many seeds: the table below."


def _ahead(leads: Sequence[Lead]) -> str:
    return f"{sum(lead.difference > 0 for lead in leads)} of {len(leads)}"


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
        if job.found is not None and any(cell.variant == "sparserec" for cell in job.cells)
        and (job.found.explorations or 0) >= FEWEST_EXPLORATIONS
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
        return f"{r:.3f}"
    centre, margin = math.atanh(r), 1.96 / math.sqrt(n - 3)
    return f"{r:.3f} [{math.tanh(centre - margin):.3f}, {math.tanh(centre + margin):.3f}]"
