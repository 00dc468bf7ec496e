"""Resident memory of this process: now, and the peak since a phase began."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def _status_bytes(field: str) -> int | None:
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def resident_bytes() -> int:
    """Resident set size now (the peak so far where the system does not tell)."""
    now = _status_bytes("VmRSS")
    if now is not None:
        return now
    import resource  # not on Windows, where the lines above have answered or nothing can

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _reset_peak() -> bool:
    try:
        _CLEAR.write_text("5")  # Linux: forget the high-water mark
        return True
    except OSError:
        return False


class PeakMeter:
    """Peak resident bytes within a `with` block; samples every 20 ms where the kernel keeps no resettable peak."""

    def __init__(self) -> None:
        self.peak = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._kernel = False

    def __enter__(self) -> PeakMeter:
        self.peak = resident_bytes()
        self._kernel = _reset_peak() and _status_bytes("VmHWM") is not None
        if not self._kernel:
            self._thread = threading.Thread(target=self._sample, daemon=True)
            self._thread.start()
        return self

    def _sample(self) -> None:
        while not self._stop.is_set():
            self.peak = max(self.peak, resident_bytes())
            time.sleep(0.02)

    def read(self) -> int:
        """The peak so far, usable inside the block too."""
        if self._kernel:
            self.peak = max(self.peak, _status_bytes("VmHWM") or 0)
        self.peak = max(self.peak, resident_bytes())
        return self.peak

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out what happens inside: it is measured by another meter."""
        self.read()
        held = self.peak
        yield
        self.peak = held
        _reset_peak()

    def __exit__(self, *exc: object) -> None:
        self.read()
        self._stop.set()
        if self._thread is not None:
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


LARGE_BLOCK = 1 << 20


def return_large_blocks() -> None:
    """Have glibc give every freed block of a megabyte or more straight back to the system.

    By default it raises that limit to 32 MB after the first such block, keeps the arrays of a step in a fragmented
    heap, and a training takes half as much memory again as it uses (Gowalla at density .125: 155 instead of 101 MB).
    """
    if sys.platform.startswith("linux"):
        import ctypes

        option = getattr(ctypes.CDLL(None), "mallopt", None)
        if option is not None:
            option(-3, LARGE_BLOCK)  # M_MMAP_THRESHOLD


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
        with around.paused() if around is not None else nullcontext():
            try:
                with PeakMeter() as meter:
                    self._open = meter
                    yield
            finally:
                self._open = around
            give_back()
            self.at_least(name, meter.peak - self._before)

    def at_least(self, name: str, size: int) -> None:
        """A phase took this much somewhere."""
        self.bytes[name] = max(self.bytes.get(name, 0), size)


def free_bytes() -> int | None:
    """Memory the system could still hand out, or None where it does not tell."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
