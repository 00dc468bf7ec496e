"""The safetensors container: every byte accounted for and checked before anything is allocated."""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import errors
from .memory_limit import MemoryLimit, limit_of

PREFIX = b'{"__metadata__":{"sha256":"'
DIGEST_START = 8 + len(PREFIX)
DIGEST_END = DIGEST_START + 64
MAX_HEADER = 1 << 20
MAJOR, MINOR = 1, 2
LONG_NUMBER = re.compile("[0-9]{16}")
TEXT_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
DEEPEST = 64
ELEMENT_BYTES = {
    "F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2,
    "I16": 2, "U16": 2, "I8": 1, "U8": 1, "BOOL": 1,
}  # fmt: skip
NUMPY_TYPES = {
    "F64": "<f8", "I64": "<i8", "F32": "<f4", "I32": "<i4", "U32": "<u4", "F16": "<f2",
    "U16": "<u2", "I8": "i1", "U8": "u1",
}  # fmt: skip
DTYPE_NAMES = {np.dtype(code): name for name, code in NUMPY_TYPES.items()}


@dataclass(frozen=True)
class Entry:
    """Where a tensor lies: offsets count from the start of the payload."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Container:
    """A checked file: its metadata, and views of its tensors made when asked for."""

    buffer: Any  # anything np.frombuffer takes: an mmap or bytes
    payload_start: int
    metadata: dict[str, str]
    entries: dict[str, Entry]
    limit: MemoryLimit  # what its tables may still take in memory

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def get(self, name: str, dtypes: tuple[str, ...], shape: tuple[int | None, ...]) -> np.ndarray:
        """View of a tensor that must have one of these dtypes and this shape (None: any size)."""
        entry = self.entries.get(name)
        if entry is None:
            raise errors.MissingTensor(f"tensor {name!r} is missing")
        fits = len(entry.shape) == len(shape) and all(w in (None, g) for w, g in zip(shape, entry.shape))
        if entry.dtype not in dtypes or not fits:
            raise errors.WrongTensor(
                f"tensor {name!r} is {entry.dtype} {list(entry.shape)}, expected {' or '.join(dtypes)} {list(shape)}"
            )
        kind, offset = NUMPY_TYPES[entry.dtype], self.payload_start + entry.begin
        return np.frombuffer(self.buffer, kind, math.prod(entry.shape), offset).reshape(entry.shape)


def open_container(path: Path) -> Container:
    """Map a file into memory and check it."""
    with open(path, "rb") as stream:
        if path.stat().st_size < 8:
            raise errors.Truncated(f"{path}: the file has fewer than 8 bytes")
        return parse(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def parse(buffer: Any) -> Container:
    """Check a whole file held in a buffer; the order of the checks is that of docs/format.md."""
    size = len(buffer)
    if size < 8:
        raise errors.Truncated("the file has fewer than 8 bytes")
    length = int.from_bytes(buffer[:8], "little")
    if length > MAX_HEADER:
        raise errors.HeaderTooLarge(f"header of {length} bytes, at most {MAX_HEADER} allowed")
    if size < 8 + length:
        raise errors.Truncated(f"header of {length} bytes in a file of {size}")
    raw = bytes(buffer[8 : 8 + length])
    _check_prefix(raw)
    if length % 8:
        raise errors.HeaderNotPadded(f"header of {length} bytes is not a multiple of 8")
    header = _parse_header(raw)
    metadata = _check_metadata(header.pop("__metadata__"))
    payload_size = size - 8 - length
    entries = _check_entries(header, payload_size)
    _check_coverage(entries, payload_size)
    if digest(buffer) != bytes(buffer[DIGEST_START:DIGEST_END]).decode("ascii"):
        raise errors.WrongChecksum(
            "the SHA-256 of the file is not the one written in it: download or export it again"
        )
    return Container(buffer, 8 + length, metadata, entries, limit_of(size))


def digest(buffer: Any) -> str:
    """SHA-256 of the file with the digits of the checksum itself read as zeros."""
    view = memoryview(buffer)
    state = hashlib.sha256(view[:DIGEST_START])
    state.update(b"0" * 64)
    state.update(view[DIGEST_END:])
    return state.hexdigest()


def _check_prefix(raw: bytes) -> None:
    digits = raw[len(PREFIX) : len(PREFIX) + 64]
    ok = raw.startswith(PREFIX) and len(digits) == 64 and not digits.strip(b"0123456789abcdef")
    if not ok or raw[len(PREFIX) + 64 : len(PREFIX) + 65] != b'"':
        raise errors.NotSrec("the header does not begin with the checksum of an srec file")


def parse_json(text: str) -> Any:
    """JSON as JavaScript reads it: no NaN, and 16.0 is the integer 16; not nested deeper than the format allows."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    def number(digits: str) -> int | float:
        value = float(digits)
        return int(value) if value.is_integer() else value

    _check_depth(text)
    # without long numbers the built-in integers are the same, and much faster to read
    exact = LONG_NUMBER.search(text) is None
    return json.loads(text, parse_constant=refuse, parse_float=number, parse_int=None if exact else number)


def _check_depth(text: str) -> None:
    """Looked up in the text: parsers give up at depths of their own, and drop what a later key of one name hides."""
    depth = 0
    for found in TEXT_OR_BRACKET.finditer(text):
        sign = text[found.start()]
        depth += (sign in "[{") - (sign in "]}")
        if depth > DEEPEST:
            raise ValueError(f"nested deeper than {DEEPEST}")


def _parse_header(raw: bytes) -> dict[str, Any]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise errors.HeaderNotUtf8(f"header: {error}") from None
    try:
        header = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise errors.HeaderNotJson(f"header: {error}") from None
    if not isinstance(header, dict):
        raise errors.HeaderNotJson("the header is not a JSON object")
    return header


def _check_metadata(metadata: Any) -> dict[str, str]:
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise errors.BadMetadata("__metadata__ is not an object of strings")
    if metadata.get("format") != "srec":
        raise errors.BadMetadata("__metadata__.format is not 'srec'")
    parts = metadata.get("version", "").split(".")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 7 for part in parts):
        raise errors.BadMetadata("__metadata__.version is not MAJOR.MINOR")
    if int(parts[0]) > MAJOR:
        raise errors.NewerVersion(
            f"the file has format version {metadata['version']}, this reader knows {MAJOR}.x: update it"
        )
    if int(parts[0]) < 1:
        raise errors.BadMetadata("__metadata__.version: there is no version 0")
    return metadata


def is_count(value: Any) -> bool:
    """A non-negative integer that JavaScript can hold exactly."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def _check_entries(header: dict[str, Any], payload_size: int) -> dict[str, Entry]:
    """One check after the other, each of all tensors: what is found does not depend on their order."""
    for name, value in header.items():
        _check_form(name, value)
    for name, value in header.items():
        if value["dtype"] not in ELEMENT_BYTES:
            raise errors.UnknownDtype(f"tensor {name!r} has dtype {value['dtype']!r}")
    entries = {
        name: Entry(value["dtype"], tuple(value["shape"]), *value["data_offsets"])
        for name, value in header.items()
    }
    for name, one in entries.items():
        if one.end > payload_size:
            raise errors.OffsetOutOfRange(f"tensor {name!r} ends at {one.end} of {payload_size} bytes")
    for name, one in entries.items():
        if one.end - one.begin != math.prod(one.shape) * ELEMENT_BYTES[one.dtype]:
            raise errors.WrongLength(
                f"tensor {name!r}: {one.end - one.begin} bytes for shape {list(one.shape)} of {one.dtype}"
            )
    for name, one in entries.items():
        if one.begin % ELEMENT_BYTES[one.dtype]:
            raise errors.Misaligned(f"tensor {name!r} starts at {one.begin}, not a multiple of its elements")
    return entries


def _check_form(name: str, value: Any) -> None:
    if not isinstance(value, dict) or not isinstance(value.get("dtype"), str):
        raise errors.BadTensorEntry(f"tensor {name!r}: no dtype")
    shape: Any = value.get("shape")
    offsets: Any = value.get("data_offsets")
    lists = isinstance(shape, list) and isinstance(offsets, list) and len(shape) <= 8 and len(offsets) == 2
    if not lists or not all(map(is_count, shape + offsets)):
        raise errors.BadTensorEntry(f"tensor {name!r}: shape or data_offsets are not lists of counts")


def _check_coverage(entries: dict[str, Entry], payload_size: int) -> None:
    position = 0
    for name, entry in sorted(entries.items(), key=lambda pair: (pair[1].begin, pair[1].end)):
        if entry.begin < position:
            raise errors.OverlappingTensors(f"tensor {name!r} starts at {entry.begin}, before {position}")
        if entry.begin > position:
            raise errors.HoleInPayload(f"bytes {position} to {entry.begin} belong to no tensor")
        position = entry.end
    if position != payload_size:
        raise errors.HoleInPayload(f"bytes {position} to {payload_size} belong to no tensor")


def serialise(metadata: dict[str, str], tensors: dict[str, np.ndarray]) -> bytes:
    """The bytes of a file: widest elements first so that all are aligned, checksum filled in last."""
    ordered = sorted(tensors.items(), key=lambda pair: -pair[1].dtype.itemsize)
    header: dict[str, Any] = {"__metadata__": {"sha256": "0" * 64} | metadata}
    position = 0
    for name, array in ordered:
        end = position + array.nbytes
        kind, shape = DTYPE_NAMES[array.dtype], list(array.shape)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [position, end]}
        position = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False)
    return seal(text.encode("utf-8"), b"".join(array.tobytes() for _, array in ordered))


def seal(header: bytes, payload: bytes) -> bytes:
    """Pad the header, compute the checksum over everything and put it where it belongs."""
    raw = header + b" " * (-len(header) % 8)
    if len(raw) > MAX_HEADER:
        raise errors.CannotWrite(
            f"the header would have {len(raw)} bytes, at most {MAX_HEADER} are allowed: shorten the card"
        )
    whole = bytearray(b"".join([len(raw).to_bytes(8, "little"), raw, payload]))
    whole[DIGEST_START:DIGEST_END] = digest(whole).encode("ascii")
    return bytes(whole)
