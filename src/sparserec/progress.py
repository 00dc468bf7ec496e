"""Progress that is a bar with time left on a terminal and a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """What a long job reports to."""

    def advance(self, steps: int = 1, note: str = "") -> None: ...


class _Silent:
    def advance(self, steps: int = 1, note: str = "") -> None:
        pass


class _Lines:
    """A line every few seconds: readable in a log file, where a redrawn bar is not."""

    def __init__(self, label: str, total: int, every_seconds: float, done: int) -> None:
        self.label, self.total, self.every = label, max(total, 1), every_seconds
        self.done, self.before, self.start = done, done, time.monotonic()
        self.last = self.start

    def advance(self, steps: int = 1, note: str = "") -> None:
        self.done += steps
        now = time.monotonic()
        if now - self.last < self.every:
            return
        self.last = now
        words = [f"{self.label}: {self.done}/{self.total}", note, self._left(now)]
        print(" ".join(word for word in words if word), file=sys.stderr, flush=True)

    def _left(self, now: float) -> str:
        """Time left by the pace so far; nothing while no step was timed."""
        timed = self.done - self.before
        if timed < 1:
            return ""
        seconds = max((now - self.start) / timed * (self.total - self.done), 0.0)
        return f"({seconds:.0f} s left)" if seconds < 90 else f"({seconds / 60:.0f} min left)"


class _Bar:
    def __init__(self, bar: object, task: object) -> None:
        self.bar, self.task = bar, task

    def advance(self, steps: int = 1, note: str = "") -> None:
        self.bar.update(self.task, advance=steps, **({"note": note} if note else {}))  # type: ignore[attr-defined]


@contextmanager
def progress(
    label: str, total: int, quiet: bool = False, every_seconds: float = 10.0, done: int = 0
) -> Iterator[Progress]:
    """Report a job of `total` steps, `done` of them before, on standard error; results belong to standard output."""
    if quiet:
        yield _Silent()
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(),
        )
        with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
            yield _Bar(bar, bar.add_task(label, total=total, completed=done, note=""))
    else:
        yield _Lines(label, total, every_seconds, done)


def say(text: str, quiet: bool) -> None:
    """A line for people, on standard error so that results can be piped."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)
