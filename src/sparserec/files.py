"""Writing files so that nothing half-written is ever seen under the final name."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from sparserec.errors import RunError

ABANDONED_AFTER = 24 * 3600.0
"""Seconds after which a temporary file is of a process that was killed: none writes that long without a pause."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it is synced and renamed, on failure removed.

    What processes that were killed while they wrote the same file have left is swept away.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent, path.name, ABANDONED_AFTER)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        descriptor = os.open(temporary, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def sweep(folder: Path, name: str | None = None, age: float = 0.0) -> None:
    """Remove temporary files of `replacing` in a folder that nobody else writes to now: of all files, or of one, and
    only those that nobody has written to for so many seconds.
    """
    for path in folder.glob(".*.tmp" if name is None else f".{escape(name)}.*.tmp"):
        with suppress(FileNotFoundError):  # somebody else sweeps too
            written = re.fullmatch(r"\..+\.\d+\.tmp", path.name)
            if written and (not age or path.stat().st_mtime < time.time() - age):
                path.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a small text file atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode())


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_lock(path: Path, create: bool = True) -> int:
    """A descriptor of a lock file. Links are not followed: in a folder that others write to, they may lead anywhere."""
    flags = (os.O_RDWR | os.O_CREAT) if create else os.O_RDONLY
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise RunError(f"{path}: is a link, not a lock of ours; remove it") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RunError(f"{path}: is no file, so no lock of ours; remove it")
    return descriptor


def lock_owner(descriptor: int) -> int:
    """The process that wrote its number into a lock; 0 when it says nothing."""
    written = os.pread(descriptor, 32, 0)
    return int(written) if written.isdigit() else 0


@contextmanager
def file_lock(path: Path) -> Iterator[int | None]:
    """Hold a lock, or yield the process that holds it. The kernel lets go of a lock whose owner ends, however it ends.

    Where the system has no such locks everybody gets it.
    """
    # not `filelock`: it names nobody in the file, and where flock is missing falls back to files that can go stale
    try:
        import fcntl
    except ImportError:  # Windows
        yield None
        return
    descriptor = open_lock(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield lock_owner(descriptor)
            return
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield None
    finally:
        os.close(descriptor)


def cache_folder() -> Path:
    """Where files that can be made again are kept: SPARSEREC_CACHE, or the platform's convention."""
    given = os.environ.get("SPARSEREC_CACHE")
    if given:
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    try:
        return user_cache_path("sparserec", appauthor=False)
    except RuntimeError:  # no home: as in a container that runs as a number without a name
        raise RunError("this user has no home folder: set SPARSEREC_CACHE to a folder for caches") from None
