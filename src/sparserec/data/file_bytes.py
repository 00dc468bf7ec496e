"""Getting at the bytes of a file, with a named error for each way that fails."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from sparserec.data.errors import EmptyDataError, EncodingError, UnreadableFileError
from sparserec.units import show_bytes

MOST_UNPACKED, ALWAYS_UNPACKED = 100, 64_000_000
"""A .gz file may hold so many times its size, and so many bytes in any case: logs shrink to a tenth, attacks to a
thousandth."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """All bytes of a file, or its first `limit`; .gz is unpacked."""
    try:
        packed = path.suffix == ".gz"
        most = max(ALWAYS_UNPACKED, MOST_UNPACKED * path.stat().st_size) if packed else None
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            data = file.read(-1 if most is None else most + 1) if limit is None else file.read(limit)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UnreadableFileError(
            f"{path}: damaged or truncated gzip file ({error}); fetch or pack it again"
        ) from None
    except FileNotFoundError:
        raise UnreadableFileError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise UnreadableFileError(f"{path}: is a folder, expected a file") from None
    except OSError as error:
        raise UnreadableFileError(f"{path}: cannot be read ({error.strerror or error})") from None
    if most is not None and len(data) > most:
        raise UnreadableFileError(
            f"{path}: unpacks to more than {MOST_UNPACKED} times its size ({show_bytes(most)}), which no log does; "
            "unpack it yourself if you trust it"
        )
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if not data.strip():
        raise EmptyDataError(f"{path}: the file is empty")
    return data


def check_text(path: Path, data: bytes) -> None:
    """Raise when `data` is not UTF-8, naming the line."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise EncodingError(
            f"{path}:{line}: not UTF-8 text (byte 0x{data[error.start]:02x}); save the file as UTF-8"
        ) from None


def read_text_head(path: Path, limit: int = 65536) -> str:
    """The first whole lines of a text file, for looking at its form."""
    data = read_bytes(path, limit)
    if len(data) >= limit - 4 and b"\n" in data:
        data = data[: data.rindex(b"\n") + 1]
    check_text(path, data)
    return data.decode("utf-8")
