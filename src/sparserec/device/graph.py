"""Who interacted with what, in about 1.3 bytes an edge: ascending items as gaps, a gap as a 4-bit class and extra bits.

Why not the obvious byte varints: on Gowalla they need 1.57 bytes an edge. The widths of the sixteen classes are chosen
by the writer for the gaps at hand, and both streams decode without branches, in numpy as in a loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import errors
from .bits import WIDEST, check_end, pack_bits, padded_bits, read_bits
from .codecs import pack_nibbles, unpack_nibbles
from .container import Container
from .table import row_blocks

CLASSES = 16
BLOCK_EDGES = 1 << 16


@dataclass(frozen=True)
class Graph:
    """Users' items in row order."""

    n_items: int
    count: np.ndarray  # (users,) items of each user
    item: np.ndarray  # (edges,) int32, ascending within a user

    @cached_property
    def start(self) -> np.ndarray:
        """Where each user's items begin: (users + 1,) int64."""
        return np.concatenate([[0], np.cumsum(self.count, dtype=np.int64)])

    @cached_property
    def item_degree(self) -> np.ndarray:
        return np.bincount(self.item, minlength=self.n_items)

    def items_of(self, user: int) -> np.ndarray:
        return self.item[self.start[user] : self.start[user + 1]]


def encode_graph(users: np.ndarray, items: np.ndarray, n_users: int) -> dict[str, np.ndarray]:
    """File tensors of a set of distinct (user, item) pairs in any order."""
    order = np.lexsort((items, users))
    users, items = users[order].astype(np.int64), items[order].astype(np.int64)
    first = np.ones(len(users), np.bool_)
    first[1:] = users[1:] != users[:-1]
    gaps = items - np.where(first, 0, np.roll(items, 1) + 1)
    if len(gaps) and gaps.min() < 0:
        raise errors.CannotWrite("the graph holds the same pair twice, or a negative item")
    width = best_widths(gaps)
    base = class_bases(width)
    classes = np.searchsorted(base, gaps, side="right") - 1
    counts = np.bincount(users, minlength=n_users)
    return {
        "graph.count": smallest_counts(counts),
        "graph.width": width.astype(np.uint8),
        "graph.class": pack_nibbles(classes.astype(np.uint8)),
        "graph.extra": pack_bits(gaps - base[classes], width[classes]),
    }


def smallest_counts(counts: np.ndarray) -> np.ndarray:
    """Counts in the narrowest unsigned type that holds them."""
    largest = int(counts.max(initial=0))
    return counts.astype(np.uint8 if largest < 1 << 8 else np.uint16 if largest < 1 << 16 else np.uint32)


def class_bases(width: np.ndarray) -> np.ndarray:
    """Smallest gap of each class."""
    return np.concatenate([[0], np.cumsum(1 << width.astype(np.int64))])[:-1]


def best_widths(gaps: np.ndarray) -> np.ndarray:
    """Sixteen class widths with few extra bits: from three starts, change one or two widths by one while that helps."""
    top = int(gaps.max(initial=0)) + 1
    below = np.concatenate([[0], np.cumsum(np.bincount(gaps, minlength=top))])  # gaps under each value
    widest = (top - 1).bit_length()
    even = np.linspace(0, widest, CLASSES).round().astype(np.int64)
    narrow = np.array([0] * (CLASSES - 1) + [widest], np.int64)
    equal = np.full(CLASSES, max(widest - 4, 0), np.int64)
    found = [_descend(start, below, top) for start in (equal, narrow, even)]
    return min(found, key=lambda widths: int(_extra_bits(widths[None], below, top)[0]))


def _descend(widths: np.ndarray, below: np.ndarray, top: int) -> np.ndarray:
    moves = _width_moves()
    least = _extra_bits(widths[None], below, top)[0]
    while True:
        costs = _extra_bits(widths + moves, below, top)
        at = int(np.argmin(costs))
        if costs[at] >= least:
            return widths
        widths, least = widths + moves[at], costs[at]


def _extra_bits(widths: np.ndarray, below: np.ndarray, top: int) -> np.ndarray:
    """Extra bits of each row of widths; impossible ones cost more than anything possible."""
    clipped = np.clip(widths, 0, WIDEST)
    ends = np.cumsum(1 << clipped, axis=1)
    members = np.diff(below[np.minimum(ends, top)], axis=1, prepend=0)
    wrong = (ends[:, -1] < top) | (clipped != widths).any(axis=1)
    return (members * clipped).sum(axis=1) + wrong * np.int64(1 << 60)


def _width_moves() -> np.ndarray:
    """All ways to change one or two of the widths by one."""
    single = np.concatenate([np.eye(CLASSES, dtype=np.int64), -np.eye(CLASSES, dtype=np.int64)])
    return np.concatenate([single, (single[:, None] + single[None]).reshape(-1, CLASSES)])


def read_graph(container: Container, n_users: int, n_items: int) -> Graph:
    """Check and decode the graph; four bytes an edge once in memory."""
    count = container.get("graph.count", ("U8", "U16", "U32"), (n_users,))
    width = container.get("graph.width", ("U8",), (CLASSES,))
    packed = container.get("graph.class", ("U8",), (None,))
    extra = container.get("graph.extra", ("U8",), (None,))
    if width.max() > WIDEST:
        raise errors.BadGraph(f"a class of gaps is {int(width.max())} bits wide, at most {WIDEST} allowed")
    edges = int(count.sum(dtype=np.uint64))
    check_end("graph.class", packed, 4 * edges)
    steps = _read_steps(packed, extra, width.astype(np.int64), edges)
    graph = Graph(n_items, count, steps)
    for first, last in row_blocks(graph.start, BLOCK_EDGES):
        _items_from_steps(steps[graph.start[first] : graph.start[last]], count[first:last], n_items)
    return graph


def _read_steps(packed: np.ndarray, extra: np.ndarray, width: np.ndarray, edges: int) -> np.ndarray:
    """Gaps plus one, (edges,) int32, decoded block by block so that scratch stays small."""
    base, padded = class_bases(width), padded_bits(extra)
    steps = np.empty(edges, np.int32)
    bit = 0
    for first in range(0, edges, BLOCK_EDGES):
        last = min(first + BLOCK_EDGES, edges)
        classes = unpack_nibbles(packed[first // 2 : (last + 1) // 2], last - first)
        widths = width[classes]
        ends = bit + np.cumsum(widths)
        if ends[-1] > 8 * len(extra):
            raise errors.WrongCount(f"'graph.extra' has {len(extra)} bytes, too few for its edges")
        steps[first:last] = base[classes] + read_bits(padded, ends - widths, widths) + 1
        bit = int(ends[-1])
    check_end("graph.extra", extra, bit)
    return steps


def _items_from_steps(steps: np.ndarray, count: np.ndarray, n_items: int) -> None:
    """Replace steps by items, in place: a running sum that starts again at every user."""
    running = np.concatenate([[0], np.cumsum(steps, dtype=np.int64)])
    start = np.concatenate([[0], np.cumsum(count, dtype=np.int64)])
    items = running[1:] - np.repeat(running[start[:-1]], count) - 1
    if len(items) and items.max() >= n_items:
        raise errors.BadGraph(f"an edge leads to item {int(items.max())} of {n_items}")
    steps[:] = items
