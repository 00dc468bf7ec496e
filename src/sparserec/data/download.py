"""Fetching a file over HTTP: progress, resumption after a cut, checksum, and nothing half-written under its name."""

from __future__ import annotations

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparserec.data.errors import DownloadError
from sparserec.progress import progress

if TYPE_CHECKING:
    from sparserec.data.named import RemoteFile

_BLOCK = 1 << 16
_TIMEOUT_SECONDS = 30.0


def download(
    remote: RemoteFile, folder: Path, quiet: bool = False, attempts: int = 4, wait: float = 1.0
) -> str:
    """Fetch `remote` into `folder` and return its SHA-256. What a failed attempt got is kept and continued."""
    partial = folder / f"{remote.name}.part"
    problem = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for attempt in range(attempts):
            if attempt:
                time.sleep(wait * 2 ** (attempt - 1))
            problem = _attempt(remote.url, partial, quiet)
            if not problem:
                return _finish(remote, partial, folder / remote.name)
    except OSError as error:
        raise DownloadError(
            f"{partial}: cannot be written ({error.strerror or error}); free space or choose a folder"
        ) from None
    raise DownloadError(
        f"{remote.url}: {problem} ({attempts} attempts); check the connection and run the command again, "
        f"it continues from {partial}"
    )


def _attempt(url: str, partial: Path, quiet: bool) -> str:
    """Continue or start the download once; returns what went wrong, or nothing."""
    have, mark = _resumable(partial)
    request = urllib.request.Request(url, headers={"User-Agent": "sparserec", "Accept-Encoding": "identity"})
    if have:
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", mark)
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
            return _receive(response, partial, have, quiet)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing left, or another file by now: start over next time
            _forget(partial)
            return "the server refused to continue"
        if error.code in (404, 410, 403, 401):
            raise DownloadError(
                f"{url}: the server says {error.code} {error.reason}; the address may have changed"
            ) from None
        return f"the server says {error.code} {error.reason}"
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
        return f"connection failed ({getattr(error, 'reason', error)})"


def _receive(response: Any, partial: Path, have: int, quiet: bool) -> str:
    """Append the body to the partial file and compare lengths: a cut connection just ends early."""
    if response.status != 206:
        have = 0
    mark = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    _mark_file(partial).write_text("" if mark.startswith("W/") else mark, encoding="utf-8")
    length = response.headers.get("Content-Length")
    expected = int(length) if length is not None else None
    got = 0
    with (
        partial.open("ab" if have else "wb") as file,
        progress(partial.stem, (expected or 0) + have, quiet) as bar,
    ):
        bar.advance(have)
        while block := response.read(_BLOCK):
            file.write(block)
            got += len(block)
            bar.advance(len(block))
    if expected is not None and got < expected:
        return f"the connection was cut after {have + got:,} of {have + expected:,} bytes"
    return ""


def _finish(remote: RemoteFile, partial: Path, target: Path) -> str:
    with partial.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if remote.sha256 is not None and digest != remote.sha256:
        _forget(partial)
        raise DownloadError(
            f"{remote.url}: wrong checksum, expected {remote.sha256}, got {digest}; the source has changed or the "
            "transfer was tampered with; nothing was kept"
        )
    os.replace(partial, target)
    _forget(partial)
    return digest


def _resumable(partial: Path) -> tuple[int, str]:
    """Bytes already there and the server's mark of that version; without a mark two versions could be mixed."""
    mark = _mark_file(partial)
    if not partial.exists() or not mark.exists():
        return 0, ""
    text = mark.read_text(encoding="utf-8")
    return (partial.stat().st_size, text) if text else (0, "")


def _mark_file(partial: Path) -> Path:
    return partial.with_name(partial.name + ".version")


def _forget(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    _mark_file(partial).unlink(missing_ok=True)
