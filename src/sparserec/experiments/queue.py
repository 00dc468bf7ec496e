"""The one queue of long trainings: priority order, one at a time, resumable, quiet while a benchmark measures.

A queue file is TOML: `results` (a JSONL file), `runs` (a folder), `[defaults]` settings, and `[[run]]` tables with a
`name`, an optional `priority` (higher first), an optional `dense_run` (a run folder, relative to the file; used once
that run is finished) and settings that override the defaults; `[[search]]` tables (experiments/search.py) unfold into
runs. Each run is a child process, so that its memory is its own. When a benchmark takes the lock the child is asked to
stop, writes a checkpoint, and is resumed later.
"""

from __future__ import annotations

import fcntl
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparserec.errors import SettingError, SparserecError
from sparserec.experiments.lock import holder
from sparserec.experiments.results import finished_names, validation_scores
from sparserec.experiments.search import Search, unfold
from sparserec.files import write_text
from sparserec.process import StopSignals
from sparserec.runs import RunFolder, append_result

POLL_SECONDS = 1.0
NAME = re.compile(r"\.?\w[\w .,@+=-]*")
"""Names of runs, which become names of folders and files."""


@dataclass(frozen=True)
class QueuedRun:
    """One line of the queue."""

    name: str
    priority: int
    settings: dict[str, Any]
    folder: Path
    results: Path
    dense_run: Path | None = None
    opens: Path | None = None
    """Nothing is trained: the test set of this finished run is opened, and its record is the result. Where the folder
    is gone (results travel between machines, folders do not) the run is trained again by its settings."""

    @property
    def log(self) -> Path:
        """What the run printed, all its starts in one file beside its folder."""
        return self.folder.parent / f"{self.name}.log"


@dataclass(frozen=True)
class QueueFile:
    """Where the runs of a file and their results go, and the settings they share."""

    path: Path
    runs: Path
    results: Path
    defaults: dict[str, Any]

    def run(self, entry: dict[str, Any], opens: str | None = None) -> QueuedRun:
        """One run; a mistake in its settings shows here, before hours of training and not after."""
        from sparserec.training import build_config, merge

        entry = dict(entry)
        name, priority = check_name(entry.pop("name"), self.path), entry.pop("priority", 0)
        dense = entry.pop("dense_run", None)
        settings = merge(self.defaults, entry)
        build_config(settings, f"{self.path}: run {name!r}")
        dense_run = None if dense is None else self.path.parent / dense
        opened = None if opens is None else self.runs / opens
        return QueuedRun(name, priority, settings, self.runs / name, self.results, dense_run, opened)


def check_name(name: Any, where: Path) -> str:
    """The name, if it can be that of a folder: nothing is written outside the folder of runs."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise SettingError(
            f"{where}: {name!r} is no name for a run: letters, digits, spaces and - _ . , @ + = are, a letter or digit "
            "among the first two"
        )
    return name


def read_queue(path: Path, failed: Collection[str] = ()) -> list[QueuedRun]:
    """Runs in the order they will be trained; names of `failed` ones matter to searches."""
    from sparserec.training import merge, read_toml

    values = read_toml(path)
    unknown = set(values) - {"results", "runs", "defaults", "run", "search"}
    if unknown or "results" not in values:
        raise SettingError(
            f"{path}: needs results, and may hold runs, defaults, [[run]] and [[search]]; not {sorted(unknown)}"
        )
    base = path.parent
    file = QueueFile(
        path, base / values.get("runs", "../runs"), base / values["results"], values.get("defaults", {})
    )
    queue: list[QueuedRun] = []
    for number, entry in enumerate(values.get("run", []), 1):
        name = entry.get("name")
        if not name or name in {run.name for run in queue}:
            raise SettingError(f"{path}: run {number} needs a name of its own (got {name!r})")
        queue.append(file.run(entry))
    for entry in values.get("search", []):
        settings = dict(entry)
        search = Search.parse(settings, str(path))
        scores = validation_scores(file.results) | dict.fromkeys(failed)
        for step in unfold(search, scores):
            queue.append(file.run(merge(settings, {"name": step.name, **step.changes}), step.opens))
    return sorted(queue, key=lambda run: -run.priority)


def read_queues(paths: Sequence[Path], failed: Collection[str] = ()) -> list[QueuedRun]:
    """Runs of several files as one queue: by priority, then in the order of the files."""
    return sorted((run for path in paths for run in read_queue(path, failed)), key=lambda run: -run.priority)


def run_queue(
    paths: Sequence[Path], data_dir: str | None = None, threads: int | None = None, only: str | None = None
) -> int:
    """Train what is not done yet; returns how many runs failed. The files are read again after every run."""

    def wanted(failed: Collection[str]) -> list[QueuedRun]:
        return [run for run in read_queues(paths, failed) if only is None or only in run.name]

    return work_through(wanted, data_dir, threads)


def unrecorded(runs: Sequence[QueuedRun]) -> list[QueuedRun]:
    """Runs whose result file does not have them yet; a file is read once, however many runs write to it."""
    names = {path: finished_names(path) for path in {run.results for run in runs}}
    return [run for run in runs if run.name not in names[run.results]]


def work_through(
    wanted: Callable[[Collection[str]], list[QueuedRun]],
    data_dir: str | None = None,
    threads: int | None = None,
) -> int:
    """Train the first of the wanted runs that is not done, and ask again, until none is left; returns how many failed.

    `wanted` is told the names of failed runs.
    """
    failed: set[Path] = set()
    while True:
        runs = unrecorded(wanted({folder.name for folder in failed}))
        waiting = [run for run in runs if run.folder not in failed]
        if not waiting:
            return len(failed)
        run = waiting[0]
        _say(f"{run.name} ({len(waiting)} left)")
        if not _train(run, data_dir, threads):
            failed.add(run.folder)
            _say(f"{run.name} FAILED; see {run.log}")


def _train(run: QueuedRun, data_dir: str | None, threads: int | None) -> bool:
    """Run one training to its end, stopping and resuming around benchmarks; True when it finished."""
    run.folder.parent.mkdir(parents=True, exist_ok=True)
    settings = run.folder.parent / f"{run.name}.json"
    write_text(settings, json.dumps(run.settings))
    dense = run.dense_run if run.dense_run is not None and RunFolder(run.dense_run).finished else ""
    words = [str(settings), str(run.folder), data_dir or "", str(threads or 0), str(dense)]
    opens = run.opens if run.opens is not None and RunFolder(run.opens).finished else None
    if opens is not None:
        words = ["--open", str(opens), str(threads or 0)]
    command = [sys.executable, "-m", "sparserec.runs.child", *words]
    while True:
        _wait_for_benchmark()
        with run.log.open("a", encoding="utf-8") as log:
            fcntl.flock(
                log, fcntl.LOCK_EX
            )  # the child inherits it: the log is locked as long as the training lives
            child = subprocess.Popen(command, stdout=log, stderr=log)
            stopped = _watch(child)
        if child.returncode == 0 and not stopped:
            append_result(run.results, run.name, RunFolder(opens or run.folder))
            return True
        if not stopped:
            return False


def _watch(child: subprocess.Popen[bytes]) -> bool:
    """Wait for the child; True when it stopped because a benchmark began.

    A signal to the queue reaches the child too: a queue that ended alone would leave a training behind that
    nobody records.
    """
    stopping = False
    with StopSignals() as signals:
        while child.poll() is None:
            if not stopping and (signals.requested is not None or holder() is not None):
                child.send_signal(signal.SIGTERM)
                stopping = True
            time.sleep(POLL_SECONDS)
    if signals.requested is not None:
        name = signal.Signals(signals.requested).name
        raise SparserecError(f"stopped by {name}; the run wrote a checkpoint, the same command goes on")
    return stopping and child.returncode != 0


def _wait_for_benchmark() -> None:
    told = False
    while (pid := holder()) is not None:
        if not told:
            _say(f"waiting: a benchmark is measuring (process {pid})")
            told = True
        time.sleep(POLL_SECONDS)


def _say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)
