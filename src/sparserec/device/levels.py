"""Many numbers that take few values: a short table of the values, and for each number its place in it, packed.

Degrees, weights, scales, row sizes and codes are all stored this way since format 1.1: 256 values cost a byte a number,
8 values three bits, one value nothing.
"""

from __future__ import annotations

import numpy as np

from . import errors
from .container import Container
from .exact import bits_for

MOST_LEVELS = 256
BLOCK = 1 << 14  # a multiple of 8, so that every block of packed levels starts at a byte


def pack_levels(levels: np.ndarray, bits: int) -> np.ndarray:
    """Numbers of so many bits back to back, lowest bit first."""
    if bits in (0, 8):
        return levels.astype(np.uint8) if bits else np.zeros(0, np.uint8)
    places = np.arange(bits, dtype=np.uint8)
    return np.packbits(levels.astype(np.uint8)[:, None] >> places & 1, bitorder="little")


def unpack_levels(packed: np.ndarray, count: int, bits: int) -> np.ndarray:
    """The first `count` of them: (count,) uint8, a view of the file where they are bytes."""
    if bits == 8:
        return packed
    levels = np.zeros(count, np.uint8)
    for first in range(0, count if bits else 0, BLOCK):
        last = min(first + BLOCK, count)
        block = packed[first * bits // 8 : -(-last * bits // 8)]
        split = np.unpackbits(block, bitorder="little", count=(last - first) * bits).reshape(-1, bits)
        levels[first:last] = np.packbits(split, axis=1, bitorder="little")[:, 0]
    return levels


def read_levels(container: Container, name: str, count: int, values: int) -> np.ndarray:
    """Which of so many values each number is: (count,) uint8. The length must fit, padding be 0, every value exist."""
    bits = bits_for(values)
    packed = container.get(f"{name}.level", ("U8",), (None,))
    if len(packed) != -(-count * bits // 8):
        raise errors.WrongCount(
            f"'{name}.level' has {len(packed)} bytes, {count} numbers of {bits} bits need another length"
        )
    if count * bits % 8 and packed[-1] >> (count * bits % 8):
        raise errors.NonzeroPadding(f"tensor '{name}.level': bits beyond the last number are set")
    levels = unpack_levels(packed, count, bits)
    if values < 1 << bits and len(levels) and int(levels.max()) >= values:
        raise errors.LevelOutOfRange(f"'{name}.level' names value {int(levels.max())} of {values}")
    return levels


def look_up(values: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The values that levels stand for. In blocks, because numpy widens an index to eight bytes; and bytes take the
    place of their levels, unless those are the file's.
    """
    reuse = values.dtype == np.int8 and levels.flags.writeable
    out = levels.view(np.int8) if reuse else np.empty(len(levels), values.dtype)
    for first in range(0, len(levels), BLOCK):
        out[first : first + BLOCK] = values[levels[first : first + BLOCK]]
    return out


def read_values(container: Container, name: str, dtypes: tuple[str, ...], least: int = 1) -> np.ndarray:
    """The short table of values of some numbers."""
    values = container.get(f"{name}.value", dtypes, (None,))
    if not least <= len(values) <= MOST_LEVELS:
        raise errors.WrongTensor(
            f"tensor '{name}.value' has {len(values)} entries, expected {least} to {MOST_LEVELS}"
        )
    return values


def level_tensors(name: str, levels: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
    """File tensors of numbers given by their places in a table of values."""
    return {f"{name}.value": values, f"{name}.level": pack_levels(levels, bits_for(len(values)))}


def nearest_levels(numbers: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Place of the nearest of some ascending values, of the lower one in the middle: (len(numbers),) int64."""
    between = (values[1:].astype(np.float64) + values[:-1]) / 2
    return np.searchsorted(between, numbers, side="left")


def count_levels(counts: np.ndarray, most: int = MOST_LEVELS) -> np.ndarray:
    """At most so many ascending values for some counts: small ones exactly, large ones in equal ratios; at
    least two.
    """
    distinct = np.unique(counts)
    if len(distinct) > most:
        distinct = distinct[:1] + _ladder(int(distinct[-1] - distinct[0]), most)
    return distinct if len(distinct) > 1 else np.array([distinct[0], distinct[0] + 1])


def _ladder(top: int, most: int) -> np.ndarray:
    """0, then integers up to `top` in equal ratios, as fine a ratio as leaves at most `most` of them."""
    low, high = 1, 64 * most  # points of the ladder, before those that round to the same integer are one
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if len(_rungs(top, middle)) < most else (low, middle)
    return np.concatenate([[0], _rungs(top, low)])


def _rungs(top: int, points: int) -> np.ndarray:
    return np.unique(np.rint(np.geomspace(1, top, points)).astype(np.int64))


def ratio_levels(numbers: np.ndarray, most: int = MOST_LEVELS) -> np.ndarray:
    """At most so many ascending float32 values for some numbers that are not negative: exactly, or in equal ratios."""
    distinct = np.unique(numbers.astype(np.float32))
    if len(distinct) <= most:
        return distinct
    used = distinct[distinct > 0]
    ladder = np.geomspace(used[0], used[-1], most - (len(used) < len(distinct)))
    return np.concatenate([distinct[distinct == 0], ladder.astype(np.float32)])
