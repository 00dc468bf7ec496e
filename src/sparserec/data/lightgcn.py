"""LightGCN text: one line a user, `user item item ...`, whole numbers; train.txt and test.txt beside each other."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from sparserec.data.columns import Columns
from sparserec.data.errors import EmptyUserError, IdRangeError, MalformedLineError
from sparserec.data.sniff import read_bytes

_SPACE = np.isin(np.arange(256), list(b" \t\r\n"))
_DIGIT = np.isin(np.arange(256), list(b"0123456789"))
_LONGEST_NUMBER = 18  # digits that always fit int64


def read_lightgcn(paths: dict[str, Path]) -> dict[str, Columns]:
    """Columns of each part. A user may have an empty list in one file, but not in all of them."""
    parts: dict[str, Columns] = {}
    lonely: list[tuple[int, str]] = []
    for name, path in paths.items():
        users, items, empty = parse_lightgcn(read_bytes(path), path)
        parts[name] = Columns(users, items, where=str(path))
        lonely += [(user, f"{path}:{line}") for user, line in empty]
    if lonely:
        _refuse_lonely(parts, lonely)
    return parts


def parse_lightgcn(data: bytes, path: Path) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    """Users and items of all pairs, and (user, line) of the users with an empty list."""
    numbers, lines = parse_numbers(data, path)
    starts = np.flatnonzero(np.r_[True, lines[1:] != lines[:-1]])
    lengths = np.diff(np.r_[starts, len(numbers)])
    is_item = np.ones(len(numbers), bool)
    is_item[starts] = False
    users = np.repeat(numbers[starts], lengths - 1)
    alone = starts[lengths == 1]
    return users, numbers[is_item], list(zip(numbers[alone].tolist(), lines[alone].tolist()))


def parse_numbers(data: bytes, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """All whole numbers of a text and the line (from 1) of each; anything else is refused with its line."""
    raw = np.frombuffer(data, np.uint8)
    space = _SPACE[raw]
    start = ~space & np.r_[True, space[:-1]]
    newline = raw == ord("\n")
    strange = np.flatnonzero(~space & ~_DIGIT[raw])
    if len(strange):
        _refuse(data, int(strange[0]), path)
    at = np.flatnonzero(start)
    ends = np.flatnonzero(~space & np.r_[space[1:], True])
    lines = np.searchsorted(np.flatnonzero(newline), at).astype(np.int32) + 1
    too_long = np.flatnonzero(ends - at >= _LONGEST_NUMBER)
    if len(too_long):
        word = data[at[too_long[0]] : ends[too_long[0]] + 1].decode()
        raise IdRangeError(f"{path}:{lines[too_long[0]]}: id {word} does not fit 64 bits; renumber the ids")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numbers = np.fromstring(data, dtype=np.int64, sep=" ")
    assert len(numbers) == len(at)
    return numbers, lines


def _refuse(data: bytes, position: int, path: Path) -> None:
    line = data.count(b"\n", 0, position) + 1
    start = (
        max(data.rfind(b" ", 0, position), data.rfind(b"\n", 0, position), data.rfind(b"\t", 0, position)) + 1
    )
    word = data[start : start + 40].split()[0].decode("utf-8", "replace")
    if word.startswith("-") and word[1:].isdigit():
        raise IdRangeError(f"{path}:{line}: id {word} is negative; ids in LightGCN text start at 0")
    raise MalformedLineError(f"{path}:{line}: expected `user item item ...` in whole numbers, found {word!r}")


def _refuse_lonely(parts: dict[str, Columns], lonely: list[tuple[int, str]]) -> None:
    active = np.unique(np.concatenate([part.users for part in parts.values()]))
    for user, where in lonely:
        if not np.isin(user, active):
            raise EmptyUserError(f"{where}: user {user} has no interactions in any file; remove the line")
