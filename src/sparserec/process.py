"""What a training asks of its process: to be stopped between two steps, and a number of threads."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
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

    requested: int | None = None

    def __enter__(self) -> StopSignals:
        self._before: dict[int, object] = {}
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
    sleeping instead makes a step up to four times faster on a machine that does anything else. A thousand turns, some
    ten microseconds, are waited awake: loops follow each other that closely, and waking up takes longer.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")


def check_threads(count: int) -> None:
    """Refuse what is no number of threads."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise SettingError(f"`threads` is {count!r}: a whole number from 1, or nothing")


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
def threads_for(work: int, wanted: int | None = None) -> Iterator[int]:
    """As many threads as `wanted`, else one for little work; afterwards as many as before.

    Threads that wait for each other many times a second stand still on a machine whose cores are busy: a training that
    takes a second by itself was not over after a quarter of an hour.
    """
    import numba
    import torch

    before = torch.get_num_threads(), numba.get_num_threads()
    try:
        yield use_threads(wanted or (1 if work < SMALL_WORK else None))
    finally:
        torch.set_num_threads(before[0])
        numba.set_num_threads(before[1])


def alone_after_fork() -> None:
    """One thread for a child that was forked: it has none of its parent's, and OpenMP would wait for them for ever."""
    if os.getpid() != _IMPORTED_IN:
        import torch

        torch.set_num_threads(1)


# Resident memory of this process: now, and the peak since a phase began.

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def resident_bytes() -> int:
    """Resident set size now."""
    from psutil import Process

    return int(Process().memory_info().rss)


def usable_bytes(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Memory a run may still take: what the system has left, or less where a container has a limit of its own."""
    from psutil import virtual_memory

    free = int(virtual_memory().available)
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            limit = (root / most).read_text().strip()
            if limit.isdigit() and int(limit) < 1 << 60:
                return min(free, max(0, int(limit) - int((root / used).read_text())))
        except (OSError, ValueError):
            continue
    return free


def _high_water(reset: bool = False) -> int:
    """The most resident bytes since the mark was reset; 0 where the system keeps none, or lets nobody reset it."""
    try:
        if reset:
            _CLEAR.write_text("5")
        found = re.search(r"VmHWM:\s*(\d+)", _STATUS.read_text())
        return int(found[1]) * 1024 if found else 0
    except OSError:
        return 0


class PeakMeter:
    """Peak resident bytes within a `with` block; samples every 20 ms where the kernel keeps no resettable peak."""

    peak = 0

    def __enter__(self) -> PeakMeter:
        self.peak, self._kernel = resident_bytes(), _high_water(reset=True) > 0
        if not self._kernel:
            self._stop = threading.Event()
            self._thread = threading.Thread(target=self._sample, daemon=True)
            self._thread.start()
        return self

    def _sample(self) -> None:
        while not self._stop.is_set():
            self.peak = max(self.peak, resident_bytes())
            time.sleep(0.02)

    def read(self) -> int:
        """The peak so far, usable inside the block too."""
        self.peak = max(self.peak, resident_bytes(), _high_water() if self._kernel else 0)
        return self.peak

    def __exit__(self, *exc: object) -> None:
        self.read()
        if not self._kernel:
            self._stop.set()
            self._thread.join()


def give_back() -> None:
    """Return freed memory to the system, so that a phase is not charged with what the one before it left.

    glibc and Arrow keep freed memory for later; after reading a large file that is more than training needs.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    if sys.platform.startswith("linux"):
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


LARGE_BLOCK = 4 << 20
KEPT_FREE = 32 << 20


def return_large_blocks() -> None:
    """Have glibc give every freed block of 4 MB or more straight back to the system, and keep smaller ones.

    By default it raises that limit to 32 MB after the first such block, keeps the arrays of a step in a fragmented
    heap, and a training takes half as much memory again as it uses (Gowalla at density .125: 155 instead of 101 MB).
    Losses work in pieces of a few megabytes: given back every time, their pages cost a sixth of a step.
    """
    if sys.platform.startswith("linux"):
        import ctypes

        option = getattr(ctypes.CDLL(None), "mallopt", None)
        if option is not None:
            option(-3, LARGE_BLOCK)  # M_MMAP_THRESHOLD
            option(-1, KEPT_FREE)  # M_TRIM_THRESHOLD


class PhasePeaks:
    """Peak bytes of each phase of a run above what the process held when measuring began.

    A phase may be visited often (the largest visit counts) and inside another one, which is not charged with it.
    """

    def __init__(self) -> None:
        self.bytes: dict[str, int] = {}
        self._before = resident_bytes()
        self._open: PeakMeter | None = None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure what happens inside."""
        around = self._open
        held = around.read() if around is not None else 0
        try:
            with PeakMeter() as meter:
                self._open = meter
                yield
        finally:
            self._open = around
        give_back()
        self.bytes[name] = max(self.bytes.get(name, 0), meter.peak - self._before)
        if around is not None:
            around.peak = held
            _high_water(reset=True)
