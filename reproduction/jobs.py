"""Trainings that a set of grids asks for: each once however many cells it fills, and what has become of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from reproduction.cells import Cell, Overrides, unfold_grid
from reproduction.grid import read_grid, variant_of
from reproduction.rates import FINISH, RATES, SHORT_EPOCHS, Rates, search_config, search_name, search_runs
from reproduction.recorded import Found, identity, name_of, read_recorded
from sparserec.experiments import QueuedRun, QueueFile, is_locked
from sparserec.methods import make_method
from sparserec.runs import MAY_DIFFER, RunFolder
from sparserec.training import RunConfig

State = Literal["done", "running", "stopped", "waiting", "blocked"]
"""stopped: begun, and continued by the next call; blocked: cannot be trained, `problem` says why."""


@dataclass(frozen=True)
class Place:
    """Where results and run folders are."""

    folder: Path = Path(".")
    stem: str = "reproduce"
    """Name of the result file, and of the folder of its runs."""

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def file(self) -> Path:
        """The result file that reproducing adds to."""
        return self.results / f"{self.stem}.jsonl"

    @property
    def report(self) -> Path:
        """Where the report goes."""
        return self.file.with_suffix(".md")

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def run(self, name: str) -> Path:
        """The run folder of a training."""
        return self.runs / self.file.stem / name

    def log(self, name: str) -> Path:
        """What a training printed; locked while it runs."""
        return self.runs / self.file.stem / f"{name}.log"


@dataclass(frozen=True, kw_only=True)
class Job(QueuedRun):
    """One training of the queue and the cells it fills."""

    cells: tuple[Cell, ...]
    config: RunConfig | None
    state: State
    found: Found | None = None
    epochs_done: int = 0
    seconds: float | None = None
    """What it would still take on this machine; None where nobody estimated."""

    lengths: float = 1.0
    """How many trainings of its configuration it stands for: a search is several."""

    @property
    def problem(self) -> str | None:
        """Why it cannot be trained, or what comes before it."""
        return next((cell.problem for cell in self.cells if cell.problem), None) or (
            f"the rate of {self.search[1]} on {self.search[0]} is searched first" if self.search else None
        )

    @property
    def search(self) -> tuple[str, str] | None:
        """Base and variant of the search that comes first."""
        return next((cell.search for cell in self.cells if cell.search), None)


def list_jobs(grids: Sequence[str], overrides: Overrides, only: Sequence[str], place: Place) -> list[Job]:
    """All jobs of the grids, and the searches that some wait for, in the order they would be trained."""
    recorded = read_recorded(place.results, place.runs)
    rates = Rates(recorded.values())
    by_name: dict[str, list[Cell]] = {}
    for grid in grids:
        for cell in unfold_grid(read_grid(grid), rates, overrides):
            name = _name(cell)
            if _wanted(name, cell, only):
                by_name.setdefault(name, []).append(cell)
    jobs = [_job(name, cells, recorded, place) for name, cells in by_name.items()]
    return sorted([*_search_jobs(jobs, place), *jobs], key=lambda job: -job.priority)


def _name(cell: Cell) -> str:
    if cell.config is not None:
        return name_of(cell.config)
    density = "" if variant_of(cell.variant).any_density else f"{cell.density:g}"
    parts = (cell.data, cell.base, cell.variant, density, cell.case, f"seed-{cell.seed}")
    return "-".join(part.replace(" ", "-") for part in parts if part)


def _wanted(name: str, cell: Cell, only: Sequence[str]) -> bool:
    """Whether the cell has all words of one of the texts."""
    described = f"{name} {cell.grid} {cell.data} {cell.base} {cell.density:g} {cell.variant} {cell.case}"
    return not only or any(all(word in described for word in text.split()) for text in only)


def _new_job(
    name: str, cells: Sequence[Cell], config: RunConfig | None, priority: int, place: Place, state: State
) -> Job:
    settings = {} if config is None else config.model_dump(mode="json")
    run = (name, priority, settings, place.run(name), place.file)
    return Job(*run, cells=tuple(cells), config=config, state=state)


def _job(name: str, cells: list[Cell], recorded: dict[str, Found], place: Place) -> Job:
    config, priority = cells[0].config, max(cell.priority for cell in cells)
    job = _new_job(name, cells, config, priority, place, "blocked")
    if config is None:
        return job
    if job.search is not None:
        return replace(job, state="waiting")
    found = recorded.get(identity(config))
    return replace(job, state="done", found=found) if found is not None else _progress(job, place, [name])


def _progress(job: Job, place: Place, names: Sequence[str]) -> Job:
    """The job as far as it got, by the folders and logs of its runs."""
    folders = [RunFolder(place.run(name)) for name in names]
    state: State = "stopped" if any(folder.begun for folder in folders) else "waiting"
    if any(is_locked(place.log(name)) for name in names):
        state = "running"
    return replace(job, state=state, epochs_done=sum(_epochs_done(folder) for folder in folders))


def searches_of(jobs: Iterable[Job]) -> dict[tuple[str, str], int]:
    """Searches that jobs wait for, each as urgent as the most urgent of these."""
    found: dict[tuple[str, str], int] = {}
    for job in jobs:
        if job.search is not None and job.state != "blocked":
            found[job.search] = max(job.priority, found.get(job.search, job.priority))
    return found


def _search_jobs(jobs: Sequence[Job], place: Place) -> list[Job]:
    found = []
    for (base, variant), priority in searches_of(jobs).items():
        config = search_config(base, variant)
        if config is not None:
            name = search_name(base, variant, config)
            lengths = (len(RATES) * SHORT_EPOCHS + FINISH * config.recipe.epochs) / config.recipe.epochs
            job = replace(_new_job(name, (), config, priority, place, "waiting"), lengths=lengths)
            folders = place.run(name).parent.glob(f"{name}@*")
            found.append(_progress(job, place, [folder.name for folder in folders if folder.is_dir()]))
    return found


def _epochs_done(run: RunFolder) -> int:
    return sum(event["event"] == "epoch" for event in run.read_events())


def to_train(jobs: Iterable[Job], place: Place, failed: Collection[str] = ()) -> list[QueuedRun]:
    """What the queue has to do: trainings, with dense ones that others may begin with, and searches."""
    jobs = list(jobs)
    file = QueueFile(place.file, place.runs / place.file.stem, place.file, {})
    runs = search_runs(file, searches_of(jobs), failed)
    dense = {
        _dense_part(job.config): job
        for job in jobs
        if job.config is not None and job.config.method == "dense" and job.cells
    }
    for job in jobs:
        if job.state in ("done", "blocked") or job.search is not None or not job.cells:
            continue
        assert job.config is not None
        begins = make_method(job.config.method, job.config.method_settings).begins_dense
        first = dense.get(_dense_part(job.config)) if begins else None
        runs.append(replace(job, dense_run=None if first is None else _folder(first, place)))
    return sorted(runs, key=lambda run: -run.priority)


def _dense_part(config: RunConfig) -> str:
    """Settings that decide a dense training."""
    return json.dumps(config.model_dump(mode="json", exclude=MAY_DIFFER), sort_keys=True)


def _folder(job: Job, place: Place) -> Path:
    """Where a dense training is, or will be; those of other files may be of an older version."""
    if job.found is not None and job.found.folder is not None and job.found.file == place.file:
        return job.found.folder
    return place.run(job.name)
