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
from typing import IO, Any

from pydantic import ConfigDict, Field

from sparserec.errors import SettingError, SparserecError
from sparserec.experiments.lock import holder
from sparserec.experiments.results import finished_names, validation_scores
from sparserec.experiments.search import Search, take_keys, unfold
from sparserec.files import write_text
from sparserec.process import StopSignals
from sparserec.runs import RunFolder, append_result
from sparserec.settings import Settings

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


class FileKeys(Settings):
    """A queue file as it is written; its tables are checked one by one."""

    model_config = ConfigDict(strict=True)

    results: str = Field(min_length=1)
    runs: str = "../runs"
    defaults: dict[str, Any] = Field(default_factory=dict)
    run: list[dict[str, Any]] = Field(default_factory=list)
    search: list[dict[str, Any]] = Field(default_factory=list)


class RunKeys(Settings):
    """What a `[[run]]` says of itself beside its name."""

    model_config = ConfigDict(strict=True)

    priority: int = 0
    dense_run: str | None = None


@dataclass(frozen=True)
class QueueFile:
    """Where the runs of a file and their results go, and the settings they share."""

    path: Path
    runs: Path
    results: Path
    defaults: dict[str, Any]

    def run(self, entry: dict[str, Any], opens: str | None = None) -> QueuedRun:
        """One run; a mistake in its settings shows here, before hours of training and not after."""
        from sparserec.training import merge

        entry = dict(entry)
        name = check_name(entry.pop("name", None), self.path)
        where = f"{self.path}: run {name!r}"
        keys = take_keys(RunKeys, entry, where)
        settings = merge(self.defaults, entry)
        _check_settings(settings, where)
        dense_run = None if keys.dense_run is None else self.path.parent / keys.dense_run
        opened = None if opens is None else self.runs / opens
        return QueuedRun(name, keys.priority, settings, self.runs / name, self.results, dense_run, opened)


def _check_settings(settings: dict[str, Any], where: str) -> None:
    """Whether they can be trained; `where` begins the message, whichever part of the settings is wrong."""
    from sparserec.training import build_config

    try:
        build_config(settings, where)
    except SettingError as error:
        message = str(error)
        raise SettingError(message if message.startswith(where) else f"{where}: {message}") from None


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
    from sparserec.training import merge

    keys, base = _read_keys(path), path.parent
    file = QueueFile(path, base / keys.runs, base / keys.results, keys.defaults)
    queue: list[QueuedRun] = []
    for number, entry in enumerate(keys.run, 1):
        if not entry.get("name"):
            raise SettingError(f"{path}: run {number} needs a name of its own (got {entry.get('name')!r})")
        queue.append(file.run(entry))
    scores = validation_scores(file.results) | dict.fromkeys(failed) if keys.search else {}
    for number, entry in enumerate(keys.search, 1):
        settings = dict(entry)
        search = Search.parse(settings, f"{path}: search {number}")
        _check_not_taken(search, queue, path)
        for step in unfold(search, scores):
            queue.append(file.run(merge(settings, {"name": step.name, **step.changes}), step.opens))
    _check_distinct(queue, path)
    return sorted(queue, key=lambda run: -run.priority)


def _read_keys(path: Path) -> FileKeys:
    """The parts of a queue file; a mistake names the file and the part."""
    from sparserec.training import read_toml

    values = read_toml(path)
    if "results" not in values:
        raise SettingError(
            f'{path}: needs results, the file they are added to, such as results = "mine.jsonl"'
        )
    for kind in ("run", "search"):
        if isinstance(values.get(kind), dict):
            raise SettingError(
                f"{path}: {kind}: there may be several, so write [[{kind}]] instead of [{kind}]"
            )
    return FileKeys.parse(values, str(path))


def _check_not_taken(search: Search, queue: Sequence[QueuedRun], path: Path) -> None:
    """A run called like one of a search would be taken for that, today or once the search has come so far."""
    taken = next((run.name for run in queue if search.owns(run.name)), None)
    if taken is not None:
        raise SettingError(
            f"{path}: search {search.name!r} calls its runs {search.name}@RATE and {search.name}=RATE, and there is a "
            f"run {taken!r} already; give one of them another name"
        )


def _check_distinct(queue: Sequence[QueuedRun], path: Path) -> None:
    names = [run.name for run in queue]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SettingError(f"{path}: two runs are named {twice!r}; each needs a name of its own")


def read_queues(
    paths: Sequence[Path], failed: Collection[str] = (), only: str | None = None
) -> list[QueuedRun]:
    """Runs of several files as one queue: by priority, then in the order of the files. `only` is in all their names."""
    runs = (run for path in paths for run in read_queue(path, failed) if only is None or only in run.name)
    return sorted(runs, key=lambda run: -run.priority)


def run_queue(
    paths: Sequence[Path], data_dir: str | None = None, threads: int | None = None, only: str | None = None
) -> int:
    """Train what is not done yet; returns how many runs failed. The files are read again after every run."""
    return work_through(lambda failed: read_queues(paths, failed, only), data_dir, threads)


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
    """Run one training to its end, stopping and resuming around benchmarks; True when its result is recorded."""
    run.folder.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with run.log.open("a", encoding="utf-8") as log:
            _lock(log, run.name)  # the child inherits it: the log is locked as long as the training lives
            if not unrecorded([run]):  # another queue has trained it meanwhile
                return True
            _wait_for_benchmark()
            opens = run.opens if run.opens is not None and RunFolder(run.opens).finished else None
            child = subprocess.Popen(_command(run, opens, data_dir, threads), stdout=log, stderr=log)
            stopped = _watch(child)
            if child.returncode == 0 and not stopped:
                # before the lock is let go: who waits for it looks next whether the run is recorded
                append_result(run.results, run.name, RunFolder(opens or run.folder))
                return True
        if not stopped:
            return False


def _lock(log: IO[str], name: str) -> None:
    """Lock the log of a run, once no other process trains it."""
    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _say(f"{name}: another process is training it, waiting for that")
        fcntl.flock(log, fcntl.LOCK_EX)


def _command(run: QueuedRun, opens: Path | None, data_dir: str | None, threads: int | None) -> list[str]:
    """The words of the child that trains a run, or opens the test set of the finished one in `opens`."""
    words = [sys.executable, "-m", "sparserec.runs.child"]
    if opens is not None:
        return [*words, "--open", str(opens), str(threads or 0)]
    settings = run.folder.parent / f"{run.name}.json"
    write_text(settings, json.dumps(run.settings))
    dense = run.dense_run if run.dense_run is not None and RunFolder(run.dense_run).finished else ""
    return [*words, str(settings), str(run.folder), data_dir or "", str(threads or 0), str(dense)]


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
