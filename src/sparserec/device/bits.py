"""Numbers of different widths back to back, lowest bit first."""

from __future__ import annotations

import numpy as np

from . import errors

POPCOUNT = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)
WIDEST = 24  # 7 bits of offset and at most so many of value fit four bytes


def pack_bits(values: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Values of the given widths back to back, lowest bit first."""
    ends = np.cumsum(widths)
    bits = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    starts = ends - widths
    for bit in range(int(widths.max(initial=0))):
        has = widths > bit
        bits[starts[has] + bit] = (values[has] >> bit) & 1
    return np.packbits(bits, bitorder="little")


def padded_bits(packed: np.ndarray) -> np.ndarray:
    """A copy that may be read a little beyond its end."""
    return np.concatenate([packed, np.zeros(4, np.uint8)])


def read_bits(padded: np.ndarray, starts: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Numbers that start at these bits: (len(starts),) int64."""
    at = starts >> 3
    window = padded[at].astype(np.int64)
    for step in (1, 2, 3):
        window |= padded[at + step].astype(np.int64) << (8 * step)
    return (window >> (starts & 7)) & ((1 << widths) - 1)


def check_end(name: str, packed: np.ndarray, bits: int) -> None:
    """So many bits must fill the bytes, and what is left of the last one be 0."""
    if len(packed) != -(-bits // 8):
        raise errors.WrongCount(f"{name!r} has {len(packed)} bytes for {bits} bits")
    if bits % 8 and packed[-1] >> (bits % 8):
        raise errors.NonzeroPadding(f"tensor {name!r}: bits beyond the last are set")
