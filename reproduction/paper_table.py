"""The paper's tables in the paper's shape: ours above the published number in every cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from reproduction.entries import Entry, gather
from reproduction.grid import Grid, variant_of
from reproduction.jobs import Job
from reproduction.quality_table import what_differs
from reproduction.rendering import Line, Pair, Table, marks
from reproduction.sections import settings_in, shown
from sparserec.runs import METRIC

Setting = tuple[str, str, float]
DATA = {"gowalla": "Gowalla", "yelp2018": "Yelp2018"}
BASES = {"xsimgcl": "XSimGCL", "mgdcf": "MGDCF", "lightgcn": "LightGCN"}
"""In the order of the paper's columns."""
MODELS = {
    "pep": "PEP",
    "bet": "BET",
    "ciess": "CIESS",
    "dsl": "DSL",
    "cerp": "CERP",
    "small_dense": "SD",
    "sparserec": "SparseRec",
}
"""In the order of the paper's rows."""
NETWORKS = ("dhe", "dhe_small")
"""DHE has no density: as the paper has it, else one network within the budget."""
ABLATION = {
    "sparserec": ("Cumulative", "NMF"),
    "instantaneous": ("Instantaneous", "NMF"),
    "uniform": ("Cumulative", "Uniform"),
    "uniform_instantaneous": ("Instantaneous", "Uniform"),
}
METRICS = {"recall@20": "R@20", METRIC: "N@20"}


class Entries:
    """The entries of a grid by setting and variant."""

    def __init__(self, grid: Grid, jobs: Sequence[Job]) -> None:
        self.by_setting: dict[Setting, dict[str, Entry]] = {
            setting: {entry.cell.variant: entry for entry in gather(jobs, grid, setting)}
            for setting in settings_in(grid, jobs)
        }

    @property
    def densities(self) -> list[float]:
        return sorted({density for _, _, density in self.by_setting})

    @property
    def places(self) -> list[tuple[str, str]]:
        """Data sets and bases: the paper's order, then whatever else there is."""
        found = dict.fromkeys((data, base) for data, base, _ in self.by_setting)
        order = [*BASES, *(base for _, base in found)]
        sets = [*DATA, *(data for data, _ in found)]
        return sorted(found, key=lambda place: (sets.index(place[0]), order.index(place[1])))

    def at(self, place: tuple[str, str], density: float) -> dict[str, Entry]:
        return self.by_setting.get((*place, density), {})


def comparison_table(grid: Grid, jobs: Sequence[Job]) -> Table:
    """Table 1: densities and methods down, data sets, bases and metrics across."""
    entries = Entries(grid, jobs)
    lines: list[Line] = []
    for density in entries.densities:
        columns = [_column(entries.at(place, density), MODELS, metric) for place, metric in _across(entries)]
        lines += [
            [f"{density:g}", label, *(column[name] for column in columns)] for name, label in MODELS.items()
        ]
    lines.append(["any", "DHE", *(_network(entries, place, metric) for place, metric in _across(entries))])
    models = (found[name] for found in entries.by_setting.values() for name in MODELS if name in found)
    networks = (found[name] for found in entries.by_setting.values() for name in NETWORKS if name in found)
    table = _shaped("", ["density", "model"], entries, lines)
    return replace(table, notes=what_differs([*models, *networks]))


def own_table(grid: Grid, jobs: Sequence[Job]) -> Table | None:
    """What the paper does not have, in the same columns; None where nothing of it is trained."""
    entries = Entries(grid, jobs)
    lines: dict[tuple[str, str], Line] = {}
    for density in entries.densities:
        here = [entries.at(place, density) for place in entries.places]
        for name in dict.fromkeys(name for found in here for name in found):
            if (
                name in MODELS
                or name in NETWORKS
                or not any(one.get(name) and one[name].found for one in here)
            ):
                continue
            at = "any" if variant_of(name).any_density else f"{density:g}"
            columns = [
                _column(entries.at(place, density), [name], metric) for place, metric in _across(entries)
            ]
            label = variant_of(name).label
            lines.setdefault((at, name), [at, label, *(column[name].ours for column in columns)])
    title = "Rows of our own in the same columns"
    return _shaped(title, ["density", "model"], entries, [*lines.values()]) if lines else None


def ablation_table(grid: Grid, jobs: Sequence[Job]) -> Table:
    """Table 2: growth and first support down; the paper has MGDCF alone."""
    entries = Entries(grid, jobs)
    densities = entries.densities
    columns = [
        _column(entries.at(place, density), ABLATION, metric)
        for density in densities
        for place, metric in _across(entries)
    ]
    lines: list[Line] = [[*words, *(column[name] for column in columns)] for name, words in ABLATION.items()]
    return _shaped("", ["regrowth", "initialisation"], entries, lines)


def lengths_table(grid: Grid, table: Grid, jobs: Sequence[Job]) -> Table | None:
    """Recall and NDCG of longer trainings behind those of Table 1; None where nothing of them is trained."""
    short = Entries(table, jobs).by_setting
    cells = [cell for job in jobs for cell in job.cells if cell.grid == grid.name]
    cases = sorted(
        {cell.case: cell.config.recipe.epochs for cell in cells if cell.config}.items(), key=itemgetter(1)
    )
    lines: list[Line] = []
    for setting in settings_in(grid, jobs):
        longer = [{one.cell.variant: one for one in gather(jobs, grid, setting, case)} for case, _ in cases]
        for name in dict.fromkeys(name for found in longer for name in found):
            across = [found.get(name) for found in (short.get(setting, {}), *longer)]
            if any(entry is not None and entry.found for entry in across[1:]):
                published = next((one.published for one in across if one is not None and one.published), None)
                said = "" if published is None else f"{published.recall:.4f}, {published.ndcg:.4f}"
                lines.append([shown(setting), variant_of(name).label, *map(_both, across), said])
    epochs = table.defaults["recipe"]["epochs"]
    columns = ["setting", "model", f"{epochs} epochs", *(case for case, _ in cases), "published"]
    return Table("", columns, lines, names=2) if lines else None


def _both(entry: Entry | None) -> str:
    """Recall and NDCG, means over seeds."""
    if entry is None or not entry.found:
        return ""
    return ", ".join(_number(entry.mean(metric)) for metric in METRICS)


def _across(entries: Entries) -> list[tuple[tuple[str, str], str]]:
    return [(place, metric) for place in entries.places for metric in METRICS]


def _shaped(title: str, names: list[str], entries: Entries, lines: Sequence[Line]) -> Table:
    across = _across(entries)
    columns = [*names, *(f"{BASES.get(place[1], place[1])} {METRICS[metric]}" for place, metric in across)]
    groups = [("", len(names))]
    groups += [
        (DATA.get(data, data), sum(place[0] == data for place, _ in across))
        for data in dict.fromkeys(place[0] for place, _ in across)
    ]
    return Table(title, columns, lines, groups=groups, names=len(names))


def _column(found: Mapping[str, Entry], names: Iterable[str], metric: str) -> dict[str, Pair]:
    """Ours above the published by variant, best and second marked among each."""
    ours, published = {}, {}
    for name in names:
        entry = found.get(name)
        spread = entry.spread(metric) if entry is not None and _counts(entry) else None
        if spread is not None:
            ours[name] = spread.mean
        if entry is not None and entry.published is not None:
            published[name] = entry.published.of(metric)
    mark, published_mark = marks(ours), marks(published)
    return {
        name: Pair(
            _number(ours.get(name)),
            _number(published.get(name)),
            mark(name),
            published_mark(name),
            _about(found, name, metric),
        )
        for name in names
    }


def _counts(entry: Entry) -> bool:
    """A training that hardly explored does not stand under SparseRec's name."""
    return entry.cell.variant != "sparserec" or entry.is_sparserec


def _network(entries: Entries, place: tuple[str, str], metric: str) -> Pair:
    """DHE's cell: the paper's own search of widths where it is trained, else one network."""
    pairs = [
        _column(entries.at(place, density), [name], metric)[name]
        for name in NETWORKS
        for density in entries.densities
    ]
    ours = next((pair.ours for pair in pairs if pair.ours), "")
    return Pair(ours, next((pair.published for pair in pairs if pair.published), ""))


def _about(found: Mapping[str, Entry], name: str, metric: str) -> str:
    spread = found[name].spread(metric) if name in found else None
    if spread is None:
        return ""
    return "one seed" if spread.std is None else f"{spread.n} seeds, standard deviation {spread.std:.4f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
