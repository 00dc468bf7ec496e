"""External ids: strings or integers, found by binary search in the file itself, no map built."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from . import errors
from .container import Container
from .text import TextTable, read_text, text_tensors

SAFE_INTEGER = 2**53 - 1
KINDS = ("range", "int", "string")
SPELT = re.compile("0|-?[1-9][0-9]*")
BLOCK = 1 << 14


@dataclass(frozen=True)
class Ids:
    """Index to id and back. `values` is None where the id is the index; `order` where the ids already ascend."""

    count: int
    values: np.ndarray | TextTable | None
    order: np.ndarray | None

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int | str:
        if self.values is None:
            return int(index)
        value = self.values[index]
        return value if isinstance(value, str) else int(value)

    def find(self, identifier: int | str) -> int | None:
        """Index of an id, or None. "42" finds the integer 42 and the reverse: ids often pass through text."""
        if isinstance(self.values, TextTable):
            wanted = str(identifier).encode("utf-8", "surrogatepass")
            return self._search(wanted, self.values.raw)
        number = _as_integer(identifier)
        if number is None:
            return None
        if self.values is None:
            return number if 0 <= number < self.count else None
        return self._search(number, self.values.__getitem__)

    def _search(self, wanted: Any, value_at: Callable[[int], Any]) -> int | None:
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            index = middle if self.order is None else int(self.order[middle])
            value = value_at(index)
            if value == wanted:
                return index
            if value < wanted:
                low = middle + 1
            else:
                high = middle
        return None


def _as_integer(identifier: int | str) -> int | None:
    """The integer that an id is or spells as integers are written: not "+1", "01" or "-0"."""
    if isinstance(identifier, str):
        return int(identifier) if len(identifier) < 18 and SPELT.fullmatch(identifier) else None
    return int(identifier) if isinstance(identifier, int | np.integer) else None


def id_tensors(name: str, ids: Sequence[str] | np.ndarray | None) -> tuple[str, dict[str, np.ndarray]]:
    """Kind and file tensors of some ids; None, or 0, 1, 2 .., need no tensor at all."""
    if ids is None:
        return "range", {}
    array = np.asarray(ids)
    if array.dtype.kind in "iu" and (np.abs(array.astype(np.float64)) < SAFE_INTEGER).all():
        return _integer_tensors(name, array.astype(np.int64))
    strings = [str(value) for value in ids]
    tensors = text_tensors(name, strings)  # first: it refuses what is no text
    order = sorted(range(len(strings)), key=lambda at: strings[at].encode("utf-8"))
    if any(strings[a] == strings[b] for a, b in pairwise(order)):
        raise errors.CannotWrite(f"{name}: the same id occurs twice")
    if order != list(range(len(order))):
        tensors[f"{name}.order"] = np.array(order, np.uint32)
    return "string", tensors


def _integer_tensors(name: str, array: np.ndarray) -> tuple[str, dict[str, np.ndarray]]:
    if np.array_equal(array, np.arange(len(array))):
        return "range", {}
    order = np.argsort(array, kind="stable")
    if (np.diff(array[order]) == 0).any():
        raise errors.CannotWrite(f"{name}: the same id occurs twice")
    narrow = np.abs(array).max() < 1 << 31
    tensors = {name: array.astype(np.int32 if narrow else np.int64)}
    if not np.array_equal(order, np.arange(len(order))):
        tensors[f"{name}.order"] = order.astype(np.uint32)
    return "int", tensors


def read_ids(container: Container, name: str, kind: str, count: int) -> Ids:
    """Check that the ids strictly ascend in the order stored with them, which makes lookup a binary search."""
    if kind == "range":
        return Ids(count, None, None)
    values: np.ndarray | TextTable
    if kind == "int":
        values = container.get(name, ("I32", "I64"), (count,))
        if (values > SAFE_INTEGER).any() or (values < -SAFE_INTEGER).any():
            raise errors.BadIds(f"{name}: an integer id is beyond 2^53 - 1")
    else:
        values = read_text(container, name, count)
    order = None
    if f"{name}.order" in container:
        order = container.get(f"{name}.order", ("U32",), (count,))
        if (order >= count).any():
            raise errors.BadIds(f"{name}.order: an entry is beyond the last id")
    if isinstance(values, np.ndarray):
        ordered = values if order is None else values[order]
        ascend = bool((ordered[1:] > ordered[:-1]).all())
    else:
        ascend = _texts_ascend(values, order)
    if not ascend:
        raise errors.BadIds(f"{name}: ids do not strictly ascend in their order, or occur twice")
    return Ids(count, values, order)


def _texts_ascend(table: TextTable, order: np.ndarray | None) -> bool:
    """Some at a time, each with the first of the next: keys take more than what they are of."""
    for first in range(0, len(table), BLOCK):
        block = slice(first, min(first + BLOCK + 1, len(table)))
        places = np.arange(block.start, block.stop) if order is None else order[block].astype(np.int64)
        if not _some_ascend(table, places):
            return False
    return True


def _some_ascend(table: TextTable, places: np.ndarray) -> bool:
    """Compare the first eight bytes of neighbours as one number each, and whole strings only where those are equal."""
    begin, end = table.offset[places].astype(np.int64), table.offset[places + 1].astype(np.int64)
    keys = np.zeros(len(begin), np.uint64)
    for step in range(8):
        at = begin + step
        used = at < end
        byte = np.zeros(len(begin), np.uint64)
        byte[used] = table.text[at[used]]
        keys = (keys << np.uint64(8)) | byte
    if (keys[1:] < keys[:-1]).any():
        return False
    raw = memoryview(table.text)  # type: ignore[arg-type]
    same = np.flatnonzero(keys[1:] == keys[:-1])
    return all(bytes(raw[begin[j] : end[j]]) < bytes(raw[begin[j + 1] : end[j + 1]]) for j in same.tolist())
