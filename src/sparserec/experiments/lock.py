"""One benchmark at a time, and no training beside it: timings on a busy machine mean nothing.

The lock is a file in the temporary folder, locked by the kernel and holding the pid of its owner. The kernel
lets go when the owner ends, however it ends, so a lock is never stale and the file is never removed.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparserec.errors import RunError
from sparserec.files import file_lock, lock_owner, open_lock


def lock_path() -> Path:
    """Where benchmarks and the run queue look."""
    return Path(tempfile.gettempdir()) / "sparserec-benchmark.lock"


def holder(path: Path | None = None) -> int | None:
    """The pid of the process that holds the lock, or None. The queue does not start a run while there is one."""
    try:
        descriptor = open_lock(path or lock_path(), create=False)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        return lock_owner(descriptor)
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a process holds the file locked: the log of a run is, as long as its training lives."""
    return holder(path) is not None


@contextmanager
def benchmark_lock(path: Path | None = None, patience_seconds: float = 1.0) -> Iterator[None]:
    """Hold the lock; RunError names the owner if it is taken. A benchmark started by the owner runs under its lock."""
    path, deadline = path or lock_path(), time.monotonic() + patience_seconds
    while True:
        with file_lock(path) as owner:
            if owner is None or owner == os.getppid():
                yield
                return
        if time.monotonic() > deadline:
            raise RunError(f"process {owner} is benchmarking ({path}): wait until it is done")
        time.sleep(0.05)  # a glance by `holder` is waited out
