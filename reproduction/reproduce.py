"""The paper again, with one command: which trainings are missing, train them through the queue, and report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reproduction.cells import Overrides
from reproduction.grid import GRIDS, SMALL
from reproduction.hours import Stopwatch, with_hours
from reproduction.jobs import Job, Place, list_jobs, to_train
from reproduction.report import write_report, write_small_report
from sparserec.errors import SettingError
from sparserec.experiments import work_through


@dataclass(frozen=True)
class Request:
    """What to reproduce, and where."""

    grids: tuple[str, ...] = GRIDS
    overrides: Overrides = field(default_factory=Overrides)
    only: tuple[str, ...] = ()
    """Texts; a cell is meant when it has all words of one of them."""
    place: Place = field(default_factory=Place)
    data_dir: Path | None = None

    @classmethod
    def of(cls, what: str, small: bool = False, **others: Any) -> Request:
        """A grid by name, or all of them; Table 1 also in small."""
        if small and what != "table1":
            raise SettingError(f"reproduce {what!r} in small: only table1 has a small version")
        if small:
            return cls((SMALL,), **others)
        if what != "all" and what not in GRIDS:
            raise SettingError(f"reproduce {what!r}: must be one of {', '.join(GRIDS)} or all")
        return cls(GRIDS if what == "all" else (what,), **others)

    @property
    def reported(self) -> Request:
        """What the report beside the result file shows: everything, whichever part was trained just now.

        Cells of changed settings are others: theirs is a report of what was asked for.
        """
        if self.overrides.are_given:
            return self
        return replace(self, grids=self.grids if self.grids == (SMALL,) else GRIDS, only=())

    @property
    def report_place(self) -> Path:
        """Where its report goes; that of changed settings does not take the place of the whole one."""
        whole = self.place.report
        return whole.with_stem(f"{whole.stem}-changed") if self.overrides.are_given else whole

    def jobs(self) -> list[Job]:
        """The trainings as they stand now."""
        jobs = list_jobs(self.grids, self.overrides, self.only, self.place)
        if not jobs:
            raise SettingError(
                f"no cell of {', '.join(self.grids)} has the words of {' or '.join(self.only)}"
            )
        return jobs

    def timed_jobs(self, quiet: bool = True) -> list[Job]:
        """The same with what is left of each on this machine."""
        return with_hours(self.jobs(), Stopwatch(self.data_dir), quiet)

    def train(self, threads: int | None = None) -> int:
        """Train what is missing; returns how many trainings failed."""
        data_dir = None if self.data_dir is None else str(self.data_dir)
        return work_through(lambda failed: to_train(self.jobs(), self.place, failed), data_dir, threads)

    def report(self, jobs: Sequence[Job], path: Path) -> list[Path]:
        """Write the report; returns its files."""
        if self.grids == (SMALL,):
            full = Request(("table1",), place=self.place).jobs()
            return write_small_report(jobs, full, path)
        return write_report(self.grids, jobs, path, self.place.file)


def as_dicts(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Jobs as plain values, for JSON."""
    return [
        {
            "name": job.name,
            "state": job.state,
            "priority": job.priority,
            "seconds_left": job.seconds,
            "epochs_done": job.epochs_done,
            "problem": job.problem,
            "recorded": None if job.found is None else {"file": job.found.file.name, "name": job.found.name},
            "cells": [
                {
                    name: getattr(cell, name)
                    for name in ("grid", "data", "base", "density", "variant", "case", "seed")
                }
                for cell in job.cells
            ],
        }
        for job in jobs
    ]
