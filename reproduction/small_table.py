"""Table 1 in small: means and spreads over seeds, and whether methods rank as in the paper and as on all users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reproduction.entries import Entry, gather
from reproduction.grid import SMALL, read_grid
from reproduction.jobs import Job
from reproduction.paper_table import BASES, MODELS, Entries
from reproduction.quality_table import NOTHING, Agreement, both_scores, rank_agreement, shown_spread
from reproduction.rendering import Line, Pair, Section, Table, marks
from sparserec.runs import METRIC
from sparserec.units import show_seconds


def small_sections(jobs: Sequence[Job], full: Sequence[Job]) -> list[Section]:
    """The table with its spread, and how far its orders agree with others; `full` are the trainings of Table 1."""
    entries = Entries(read_grid(SMALL), jobs)
    text = [
        "NDCG@20 of the int8 table on Gowalla reduced to 4,016 users and 8,435 items, mean and standard deviation over "
        "seeds, the best and the second of the paper's methods marked. The numbers are of another data set than the "
        "paper's: only orders can be compared.",
        *_taken(jobs),
    ]
    return [
        Section("small", "Table 1 in small", text, [_scores(entries)]),
        Section("agreement", "Do methods rank alike?", _summary(jobs, full), [_agreements(jobs, full)]),
    ]


def _taken(jobs: Sequence[Job]) -> list[str]:
    """What the recorded trainings cost; a resumed one counts its steps whole and its reading and test once."""
    rows = [job.found.row for job in jobs if job.found is not None]
    if not rows:
        return []
    seconds = sum(max(row["seconds"]["total"], row["seconds"]["train"]) for row in rows)
    threads = sorted({row["environment"]["threads"] for row in rows})
    return [
        f"{len(rows)} trainings, {show_seconds(seconds)} in all on {' or '.join(map(str, threads))} threads of the "
        "machine they were recorded on, without starting a process for each."
    ]


def _scores(entries: Entries) -> Table:
    lines: list[Line] = []
    for density in entries.densities:
        here = {place: entries.at(place, density) for place in entries.places}
        columns = [_marked(found) for found in here.values()]
        names = dict.fromkeys(name for found in here.values() for name in found)
        for name in sorted(names, key=lambda name: (name not in MODELS, list(names).index(name))):
            labels = [found[name].cell.label for found in here.values() if name in found]
            cells = [column.get(name, NOTHING) for column in columns]
            lines.append([f"{density:g}", MODELS.get(name, labels[0]), *cells])
    heads = ["density", "model", *(BASES.get(base, base) for _, base in entries.places)]
    return Table("", heads, lines, names=2)


def _marked(found: Mapping[str, Entry]) -> dict[str, Pair]:
    """A column of scores, the best and the second of the paper's methods marked."""
    mark = marks({name: found[name].mean(METRIC) for name in MODELS if name in found and found[name].found})
    return {name: Pair(shown_spread(entry, METRIC), "", mark(name)) for name, entry in found.items()}


def _found(jobs: Sequence[Job], full: Sequence[Job]) -> dict[tuple[str, float], list[Agreement | None]]:
    """By base and density: ours in small against the paper, against all users, and all users against the paper."""
    small, whole = read_grid(SMALL), read_grid("table1")
    found = {}
    entries = Entries(small, jobs)
    settings = [(*place, density) for place in entries.places for density in entries.densities]
    for setting in settings:
        ours, published = both_scores(gather(jobs, small, setting))
        large, _ = both_scores(gather(full, whole, setting))
        pairs = ((ours, published), (ours, large), (large, published))
        found[setting[1:]] = [rank_agreement(one, other) for one, other in pairs]
    return found


def _agreements(jobs: Sequence[Job], full: Sequence[Job]) -> Table:
    columns = ["base", "density", "small, paper", "small, all users", "all users, paper"]
    lines = [
        [BASES.get(base, base), f"{density:g}", *(_shown(one) for one in several)]
        for (base, density), several in _found(jobs, full).items()
    ]
    notes = [
        "Kendall's tau of NDCG@20 over the methods of the paper that both have (how many, and the chance of a tau as "
        "far from 0 if orders had nothing to do with each other)."
    ]
    return Table("", columns, lines, notes, names=2)


def _shown(found: Agreement | None) -> str:
    return NOTHING if found is None else f"{found.tau:+.2f} ({found.n}, p {found.p:.2f})"


def _summary(jobs: Sequence[Job], full: Sequence[Job]) -> list[str]:
    words = ("in small against the paper", "in small against all users", "on all users against the paper")
    clauses = []
    for name, several in zip(words, zip(*_found(jobs, full).values())):
        taus = [one.tau for one in several if one is not None]
        clauses.append(
            f"{name} {np.mean(taus):+.2f} over {len(taus)} settings" if taus else f"{name} not trained yet"
        )
    return [f"Mean of Kendall's tau: {'; '.join(clauses)}."]
