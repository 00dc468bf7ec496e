"""Ascending columns of each row in as few bits as their gaps want (format 1.2): how wide a gap is, then its bits.

`gaps.py` divides gaps by what evenly spread columns would want. Columns that lie together, as those of items chosen
together do where ids follow each other, have many short gaps and some long ones: a prefix code over classes of widths,
made for the table, then takes 13 to 19 % less. Rows lie one after the other, so any reader may begin at any of them.
"""

from __future__ import annotations

import heapq

import numpy as np

from . import errors
from .bits import check_end, pack_bits, padded_bits, read_bits
from .container import Container
from .gaps import column_type
from .table import row_blocks

MOST_CLASSES = 24  # a gap is below 2^24 - 1
LONGEST = 8  # bits of a code: one byte tells the class
BLOCK_BYTES = 1 << 11
BLOCK_GAPS = 1 << 14


def encode_classes(columns: np.ndarray, counts: np.ndarray) -> dict[str, np.ndarray]:
    """File tensors of ascending columns in row order."""
    starts = np.cumsum(counts) - counts
    columns = columns.astype(np.int64)
    before = np.concatenate([[-1], columns[:-1]])
    before[starts[counts > 0]] = -1
    step = columns - before  # gap + 1
    classes = _bit_lengths(step) - 1
    lengths = code_lengths(np.bincount(classes, minlength=2))
    codes = _reversed_codes(lengths)
    return {
        "gap.length": lengths,
        "gap.class": pack_bits(codes[classes], lengths[classes].astype(np.int64)),
        "gap.extra": pack_bits(step - (1 << classes), classes),
    }


def code_lengths(counts: np.ndarray) -> np.ndarray:
    """Lengths of the codes of some classes, uint8, 0 where none occurs: Huffman's, of at most LONGEST bits.

    Rare classes are taken to be more frequent until no code is longer. One class alone gets company: a code has a bit.
    """
    used = np.flatnonzero(counts)
    used = used if len(used) > 1 else np.union1d(used, [0, 1])
    lengths, least = np.zeros(int(used[-1]) + 1, np.uint8), 1.0
    while True:
        lengths[used] = _huffman(np.maximum(counts[used], least).tolist())
        if lengths.max() <= LONGEST:
            return lengths
        least *= 1.5


def _huffman(weights: list[float]) -> list[int]:
    heap: list[tuple[float, int, tuple[int, ...]]] = [
        (weight, place, (place,)) for place, weight in enumerate(weights)
    ]
    heapq.heapify(heap)
    lengths = [0] * len(weights)
    for number in range(len(weights), 2 * len(weights) - 1):
        one, other = heapq.heappop(heap), heapq.heappop(heap)
        for place in one[2] + other[2]:
            lengths[place] += 1
        heapq.heappush(heap, (one[0] + other[0], number, one[2] + other[2]))
    return lengths


def _reversed_codes(lengths: np.ndarray) -> np.ndarray:
    """The canonical code of each class, its first bit lowest: shorter ones first, of one length by class."""
    codes, code, before = np.zeros(len(lengths), np.int64), 0, 0
    for place in sorted(np.flatnonzero(lengths), key=lambda one: (lengths[one], one)):
        code <<= int(lengths[place]) - before
        before = int(lengths[place])
        codes[place] = int(f"{code:0{before}b}"[::-1], 2)
        code += 1
    return codes


def _look_up_tables(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Class and length of the code that a byte begins with: (256,) uint8 each."""
    classes = np.zeros(1 << LONGEST, np.uint8)
    codes = _reversed_codes(lengths)
    for place in np.flatnonzero(lengths):
        classes[codes[place] :: 1 << int(lengths[place])] = place
    return classes, lengths[classes]


def has_classes(container: Container, name: str) -> bool:
    """Whether the gaps of a table are stored in this way."""
    return f"{name}.gap.length" in container


def read_classes(container: Container, name: str, start: np.ndarray, dim: int) -> np.ndarray:
    """Columns of all entries in row order, in the narrowest type, checked in the order of the format."""
    if f"{name}.gap.high" in container or f"{name}.gap.low" in container:
        raise errors.AmbiguousEncoding(f"table {name!r} holds its gaps in two ways")
    lengths = container.get(f"{name}.gap.length", ("U8",), (None,))
    if not 1 <= len(lengths) <= MOST_CLASSES:
        raise errors.WrongTensor(
            f"tensor '{name}.gap.length' has {len(lengths)} entries, expected 1 to {MOST_CLASSES}"
        )
    used = lengths[lengths > 0].astype(np.int64)
    if lengths.max() > LONGEST or int((1 << LONGEST >> used).sum()) != 1 << LONGEST:
        raise errors.BadCode(
            f"tensor '{name}.gap.length': not the lengths of a complete code of at most {LONGEST} bits"
        )
    stream = container.get(f"{name}.gap.class", ("U8",), (None,))
    extra = container.get(f"{name}.gap.extra", ("U8",), (None,))
    classes = _read_stream(f"{name}.gap.class", stream, int(start[-1]), lengths)
    check_end(f"{name}.gap.extra", extra, int(classes.sum(dtype=np.int64)))
    columns, far = _read_gaps(classes, extra, dim)
    if far or not _add_up(columns, start, dim):
        raise errors.IndexOutOfRange(f"table {name!r}: a gap leads beyond column {dim}")
    return columns


def _read_stream(name: str, stream: np.ndarray, count: int, lengths: np.ndarray) -> np.ndarray:
    """The class of each gap: (count,) uint8. Codes that begin at any bit of a block are looked up at once; then one
    leads to the next.
    """
    of_byte, size_of_byte = _look_up_tables(lengths)
    classes, done, bit = np.zeros(count, np.uint8), 0, 0
    for first in range(0, len(stream), BLOCK_BYTES):
        block = np.concatenate([stream[first : first + BLOCK_BYTES + 1], [0]]).astype(np.uint16)
        windows = ((block[:-1] | block[1:] << 8)[:, None] >> np.arange(8) & 255).reshape(-1)
        sizes = size_of_byte[windows].tolist()
        found: list[int] = []
        at, end = bit - 8 * first, min(8 * BLOCK_BYTES, 8 * (len(stream) - first))
        while at < end and done + len(found) < count:
            found.append(at)
            at += sizes[at]
        classes[done : done + len(found)] = of_byte[windows[found]]
        done, bit = done + len(found), 8 * first + at
        if done == count:
            break
    if done < count:
        raise errors.WrongCount(f"{name!r} has {len(stream)} bytes, too few for {count} entries")
    check_end(name, stream, bit)
    return classes


def _read_gaps(classes: np.ndarray, extra: np.ndarray, dim: int) -> tuple[np.ndarray, bool]:
    """All gaps in the type of a column, and whether one of them is too wide for it."""
    gaps, bit, far = np.zeros(len(classes), column_type(dim)), 0, False
    for first in range(0, len(classes), BLOCK_GAPS):
        widths = classes[first : first + BLOCK_GAPS].astype(np.int64)
        byte, ends = bit // 8, bit % 8 + np.cumsum(widths)
        bit = 8 * byte + int(ends[-1])
        some = read_bits(padded_bits(extra[byte : -(-bit // 8)]), ends - widths, widths) + (1 << widths) - 1
        far = far or bool((some >= dim).any())
        gaps[first : first + BLOCK_GAPS] = np.minimum(some, dim - 1)
    return gaps, far


def _add_up(columns: np.ndarray, start: np.ndarray, dim: int) -> bool:
    """Gaps to columns, in place; whether all of them are below `dim`."""
    for first, last in row_blocks(start):
        bounds = start[first : last + 1] - start[first]
        total = np.cumsum(columns[start[first] : start[last]].astype(np.int64) + 1)
        before = np.concatenate([[0], total])[bounds[:-1]]
        total -= np.repeat(before, np.diff(bounds)) + 1
        if (total >= dim).any():
            return False
        columns[start[first] : start[last]] = total
    return True


def _bit_lengths(numbers: np.ndarray) -> np.ndarray:
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)
