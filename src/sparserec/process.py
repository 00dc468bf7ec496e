"""What a training asks of its process: to be stopped between two steps, and a number of threads."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from sparserec.errors import SettingError, SparserecError

_IMPORTED_IN = os.getpid()


class StopRequested(SparserecError):
    """Training was asked to stop and has written a checkpoint."""

    def __init__(self, number: int | None) -> None:
        by = "another process" if number is None else signal.Signals(number).name
        super().__init__(f"stopped by {by}; a checkpoint was written, `resume` continues exactly")
        self.number = number


class StopSignals:
    """While active, the first signal only sets `requested`; a second SIGINT interrupts at once."""

    def __init__(self) -> None:
        self.requested: int | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.requested = number

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]


SMALL_WORK = 2**23
"""Interactions times columns: below, a step is over before a second thread has woken up."""


def wait_passively() -> None:
    """Let idle threads sleep; OpenMP reads this when torch is loaded, so it comes before that.

    torch and numba have a pool of threads each. By default the idle pool spins and takes the cores from the busy one:
    sleeping instead makes a step up to four times faster on a machine that does anything else.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def check_threads(count: int | None) -> int | None:
    """A number of threads, or None for whoever leaves it to us."""
    whole = isinstance(count, int) and not isinstance(count, bool)
    if count is not None and not (whole and count >= 1):
        raise SettingError(f"`threads` is {count!r}: a whole number from 1, or nothing")
    return count


def use_threads(count: int | None) -> int:
    """Set the threads of both; None leaves all cores. Returns what is in use."""
    import numba
    import torch

    if count is not None:
        torch.set_num_threads(count)
        most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        numba.set_num_threads(min(count, most))
    return torch.get_num_threads()


@contextmanager
def threads_for(work: int, asked: int | None = None) -> Iterator[int]:
    """As many threads as asked for, else one for little work; afterwards as many as before.

    Threads that wait for each other many times a second stand still on a machine whose cores are busy: a training that
    takes a second by itself was not over after a quarter of an hour.
    """
    import numba
    import torch

    before = torch.get_num_threads(), numba.get_num_threads()
    try:
        yield use_threads(asked or (1 if work < SMALL_WORK else None))
    finally:
        torch.set_num_threads(before[0])
        numba.set_num_threads(before[1])


def alone_after_fork() -> None:
    """One thread for a child that was forked: it has none of its parent's, and OpenMP would wait for them for ever."""
    if os.getpid() != _IMPORTED_IN:
        import torch

        torch.set_num_threads(1)
