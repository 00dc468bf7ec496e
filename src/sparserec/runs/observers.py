"""Watching a run: observers hear the one stream of events that the record is made of.

What an observer raises has a clear fate. In `begin` it stops the run, by the observer's name: nothing is lost yet.
Later the observer is left out with a warning and the training goes on: hours of it are worth more than a curve of them,
and `sparserec track` writes the whole curve from the folder at any time. `EndTraining` alone ends the run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sparserec.errors import RunError, SettingError, SparserecError
from sparserec.runs.folder import RunFolder
from sparserec.runs.record import Record

Event = dict[str, Any]


class EndTraining(SparserecError):
    """Raised by an observer that wants the training to end; what the run has written stays as it is."""


class Observer:
    """Hears what a run says about itself. All methods do nothing; override those you need.

    >>> class Losses(sparserec.Observer):
    ...     def event(self, event):
    ...         if event["event"] == "epoch":
    ...             print(event["phase"], event["epoch"])
    >>> plain = {"base": "mf", "method": "dense", "dim": 8, "epochs": 2, "ks": (5,), "file": False, "quiet": True}
    >>> _ = sparserec.fit(frame, user_col="who", item_col="place", observers=[Losses()], **plain)
    train 1
    train 2
    """

    name = ""
    """What messages call it; without one the name of its class."""

    def begin(self, run: RunFolder, events: list[Event]) -> None:
        """A training begins in this folder. A resumed one has had these events, which are not said again."""

    def event(self, event: Event) -> None:
        """One line of events.jsonl, when it has been written. `EndTraining` may be raised here."""

    def end(self, run: RunFolder, record: Record | None) -> None:
        """The run has ended, and its file is chosen; None for a run that was stopped, which may be resumed."""


class Watched:
    """The observers of one run."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        for one in observers:
            if not isinstance(one, Observer):
                raise SettingError(
                    f"observers: {one!r} is no sparserec.Observer; let its class inherit from it"
                )
        self.observers = list(observers)
        self.run: RunFolder | None = None

    def begin(self, run: RunFolder, events: list[Event]) -> None:
        """Tell that a training begins, or goes on after these events."""
        self.run = run
        for one in self.observers:
            try:
                one.begin(run, events)
            except Exception as error:
                raise RunError(
                    f"observer {_name(one)} could not begin: {error or type(error).__name__}"
                ) from error

    def event(self, event: Event) -> None:
        self._tell(lambda one: one.event(event))

    def end(self) -> None:
        """Tell how it ended; nothing where nothing began."""
        if (run := self.run) is not None:
            record = run.read_record() if run.finished else None
            self._tell(lambda one: one.end(run, record))

    def _tell(self, say: Callable[[Observer], None]) -> None:
        for one in list(self.observers):
            try:
                say(one)
            except EndTraining:
                raise
            except Exception as error:
                self.observers.remove(one)
                warnings.warn(
                    f"observer {_name(one)} raised {type(error).__name__} ({error}) and hears nothing more of this "
                    "run, which goes on",
                    stacklevel=4,
                )


def _name(observer: Observer) -> str:
    return observer.name or type(observer).__name__


@contextmanager
def watching(observers: Sequence[Observer]) -> Iterator[Watched | None]:
    """Observers of a run from its beginning to its end, however it ends; None where there are none."""
    if not observers:
        yield None
        return
    watched = Watched(observers)
    try:
        yield watched
    finally:
        watched.end()
