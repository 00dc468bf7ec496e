"""Progress that is a bar with time left on a terminal and in a notebook, and a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Protocol

NOTEBOOK_SECONDS = 0.3


class Progress(Protocol):
    """What a long job reports to."""

    def advance(self, steps: int = 1, note: str = "") -> None: ...


class _Silent:
    def advance(self, steps: int = 1, note: str = "") -> None:
        pass


class _Pace:
    """Time left by the pace since the first steps: those compile and fill caches, and foretell nothing."""

    def __init__(self, total: int, done: int) -> None:
        self.total, self.done = max(total, 1), done
        self.first: tuple[int, float] | None = None

    def count(self, steps: int, now: float) -> None:
        self.done += steps
        if steps and self.first is None:
            self.first = self.done, now

    def left(self, now: float) -> str:
        """Nothing while no step was timed."""
        if self.first is None or self.done == self.first[0]:
            return ""
        before, start = self.first
        seconds = max((now - start) / (self.done - before) * (self.total - self.done), 0.0)
        return f"({seconds:.0f} s left)" if seconds < 90 else f"({seconds / 60:.0f} min left)"


class _Lines:
    """A line every few seconds: readable in a log file, where a redrawn bar is not."""

    def __init__(self, label: str, total: int, every_seconds: float, done: int) -> None:
        self.label, self.every, self.pace = label, every_seconds, _Pace(total, done)
        self.last = time.monotonic()

    def advance(self, steps: int = 1, note: str = "") -> None:
        now = time.monotonic()
        self.pace.count(steps, now)
        if now - self.last < self.every:
            return
        self.last = now
        words = [f"{self.label}: {self.pace.done}/{self.pace.total}", note, self.pace.left(now)]
        print(" ".join(word for word in words if word), file=sys.stderr, flush=True)


class _Notebook:
    """A bar under the cell, drawn anew a few times a second and gone when the job is done."""

    def __init__(self, label: str, total: int, done: int) -> None:
        from IPython.display import HTML, display

        self.label, self.pace, self.last, self.html = label, _Pace(total, done), 0.0, HTML
        self.shown = display(HTML(self._bar("", 0.0)), display_id=True)

    def advance(self, steps: int = 1, note: str = "") -> None:
        now = time.monotonic()
        self.pace.count(steps, now)
        if now - self.last >= NOTEBOOK_SECONDS:
            self.last = now
            self.shown.update(self.html(self._bar(note, now)))

    def _bar(self, note: str, now: float) -> str:
        done, total = self.pace.done, self.pace.total
        words = [f"{self.label}: {done}/{total}", note, self.pace.left(now)]
        text = escape(" ".join(word for word in words if word))
        return f'<progress value="{done}" max="{total}"></progress> {text}'

    def close(self) -> None:
        self.shown.update(self.html(""))


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
    elif in_notebook():
        shown = _Notebook(label, total, done)
        try:
            yield shown
        finally:
            shown.close()
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


def in_notebook() -> bool:
    """Whether a notebook's kernel runs us; without one IPython has nowhere to draw."""
    module = sys.modules.get("IPython")
    return module is not None and getattr(module.get_ipython(), "kernel", None) is not None


def say(text: str, quiet: bool) -> None:
    """A line for people, on standard error so that results can be piped."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)
