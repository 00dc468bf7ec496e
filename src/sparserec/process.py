"""What a training asks of its process: to be stopped between two steps, and a number of threads."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

from sparserec.errors import SparserecError


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


def use_threads(count: int | None) -> int:
    """Set the threads of both; None leaves all cores. Returns what is in use."""
    import numba
    import torch

    if count is not None:
        torch.set_num_threads(count)
        most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        numba.set_num_threads(min(count, most))
    return torch.get_num_threads()
