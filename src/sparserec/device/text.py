"""Many short strings in one blob with offsets."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import errors
from .container import Container

BLOCK = 1 << 16


@dataclass(frozen=True)
class TextTable:
    """String j is the bytes from offset j to offset j + 1."""

    text: np.ndarray  # (bytes,) uint8
    offset: np.ndarray  # (n + 1,) uint32

    def __len__(self) -> int:
        return len(self.offset) - 1

    def raw(self, index: int) -> bytes:
        return self.text[self.offset[index] : self.offset[index + 1]].tobytes()

    def __getitem__(self, index: int) -> str:
        return self.raw(index).decode("utf-8")

    def places(self, string: str) -> list[int]:
        """Where a string stands."""
        wanted = string.encode("utf-8", "surrogatepass")
        near = np.flatnonzero(np.diff(self.offset) == len(wanted)).tolist()
        return [place for place in near if self.raw(place) == wanted]


def text_tensors(name: str, strings: Sequence[str]) -> dict[str, np.ndarray]:
    """File tensors of a list of strings."""
    try:
        encoded = [string.encode("utf-8") for string in strings]
    except UnicodeEncodeError as error:
        raise errors.CannotWrite(f"{name}: {error}") from None
    lengths = np.array([len(part) for part in encoded], np.int64)
    ends = np.cumsum(lengths)
    if len(ends) and ends[-1] >= 1 << 32:
        raise errors.CannotWrite(f"{name}: more than 4 GB of text")
    return {
        f"{name}.offset": np.concatenate([[0], ends]).astype(np.uint32),
        f"{name}.text": np.frombuffer(b"".join(encoded), np.uint8),
    }


def has_text(container: Container, name: str) -> bool:
    """Whether any tensor of a text table is there."""
    return f"{name}.offset" in container or f"{name}.text" in container


def read_text(container: Container, name: str, count: int | None) -> TextTable:
    """Check a text table of `count` strings (any number if None)."""
    offset = container.get(f"{name}.offset", ("U32",), (None if count is None else count + 1,))
    text = container.get(f"{name}.text", ("U8",), (None,))
    if not len(offset) or offset[0] != 0 or offset[-1] != len(text) or (offset[1:] < offset[:-1]).any():
        raise errors.BadTextOffsets(
            f"text table {name!r}: offsets do not run from 0 to {len(text)} without falling"
        )
    decoder = getincrementaldecoder("utf-8")()
    try:
        for first in range(0, len(text), BLOCK):  # a decoded character may take four times its bytes
            decoder.decode(text[first : first + BLOCK].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise errors.BadText(f"text table {name!r}: {error}") from None
    inner = offset[offset < len(text)]
    if ((text[inner] & 0xC0) == 0x80).any():
        raise errors.BadText(f"text table {name!r}: an offset points inside a character")
    return TextTable(text, offset)
