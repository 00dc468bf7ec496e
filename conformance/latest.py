"""What format 1.2 added: gaps in classes and terms of items, each in golden files and in files with one thing wrong."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from added import neighbours, random_lists, weighted
from files import Parts, Tensor, lay_out, put_together, take_apart
from golden import toy_parts
from malformed import Change, orr, poke, resize, retype, without
from rules import bomb, levels, sized
from toy import BASES, item_tables, make_toy

from sparserec.device import FoldInWeights, ItemTerm, ModelParts, encode_rows, model_bytes
from sparserec.device.bits import pack_bits

CLASSES = "gap classes"


def latest_golden() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every golden file of version 1.2."""
    yield from class_files()
    yield from term_files()


def latest_malformed() -> Iterator[tuple[str, str, bytes]]:
    """Name, error name and bytes of every malformed file of version 1.2."""
    for source, cases in (
        (_classes_source(), _class_cases()),
        (_shared_source(), _shared_cases()),
        (_own_source(), _own_cases()),
    ):
        for name, error, change in cases:
            parts = take_apart(source)
            change(parts)
            yield name, error, put_together(*lay_out(parts))
    yield "bomb-gap-classes", "TooLarge", bomb(100, _class_bomb(4096), dim=65536)


def class_files() -> Iterator[tuple[str, bytes]]:
    """Lists and tables, scales or none, columns of one, two and four bytes, empty rows and nothing but those."""
    toy = make_toy(300)
    lists = encode_rows(random_lists(3, toy.items, signed=False), 4, CLASSES)
    yield "neighbours-classes-4", model_bytes(neighbours(toy, lists, FoldInWeights(0.3, size_power=0.0)))
    many = make_toy(301, items=300)
    signed = encode_rows(random_lists(4, many.items, signed=True), 8, CLASSES)
    yield "neighbours-classes-8-signed", model_bytes(neighbours(many, signed, FoldInWeights(0.0)))
    empty = encode_rows(np.zeros((24, 24)), 3, CLASSES)
    yield "neighbours-classes-empty", model_bytes(neighbours(toy, empty, FoldInWeights(0.0)))
    plain = encode_rows(np.zeros((24, 24)), 3)  # of 1.1, where no file had rows all empty
    yield "neighbours-gaps-empty", model_bytes(neighbours(toy, plain, FoldInWeights(0.0)))
    for number, (bits, unit) in enumerate(((4, True), (3, False))):
        toy = make_toy(302 + number)
        final, _ = item_tables(toy, toy.layer0, BASES["mf"])
        table = encode_rows(final, bits, CLASSES, unit)
        name = f"items-classes-{bits}-{'unit' if unit else 'scaled'}"
        yield name, model_bytes(weighted(toy, "items", FoldInWeights(0.2), score=table))
    wide = make_toy(304, items=12, dim=2_000)
    few = encode_rows(np.where(np.arange(wide.dim) % 37 == 0, wide.layer0[wide.users :], 0.0), 2, CLASSES)
    parts = weighted(wide, "personal", FoldInWeights(0.2), score=few, user_vector=wide.layer0[3])
    yield "personal-classes-wide", model_bytes(parts)
    toy = make_toy(305)
    full = toy_parts(toy, BASES["mgdcf-loops"], "full", 8, None)
    yield "full-classes", model_bytes(_with(full, layer0=encode_rows(toy.layer0, 4, CLASSES)))


def term_files() -> Iterator[tuple[str, bytes]]:
    """Terms that follow from the degrees and others, one value alone, in every mode."""
    toy = make_toy(310)
    lists = encode_rows(random_lists(5, toy.items, signed=True), 4, CLASSES)
    shared = neighbours(toy, lists, FoldInWeights(0.3), term=ItemTerm(0.3))
    yield "neighbours-term-of-degrees", model_bytes(shared)
    own = ItemTerm(term=_some_terms(toy.items), levels=8)
    yield "items-term-of-its-own", model_bytes(weighted(toy, "items", FoldInWeights(0.1), term=own))
    plain = toy_parts(make_toy(311), BASES["lightgcn"], "items", 4, None)
    yield "items-term-plain-degrees", model_bytes(_with(plain, term=ItemTerm(-0.25)))
    alike = ItemTerm(term=np.full(toy.items, 0.75))
    yield "items-term-alike", model_bytes(weighted(toy, "items", FoldInWeights(0.1), term=alike))
    personal = toy_parts(make_toy(312), BASES["mgdcf-loops"], "personal", 8, None)
    yield "personal-term", model_bytes(_with(personal, term=ItemTerm(0.5, levels=5)))
    full = toy_parts(make_toy(313), BASES["lightgcn"], "full", 8, None)
    yield "full-term", model_bytes(_with(full, term=ItemTerm(0.2)))


def _some_terms(items: int) -> np.ndarray:
    return np.array([((item * 7) % 13) / 8 - 0.5 for item in range(items)])


def _with(parts: ModelParts, **changes: Any) -> ModelParts:
    return ModelParts(**(parts.__dict__ | changes))


def _classes_source() -> bytes:
    """Nine items in twelve columns; neither stream ends with a byte."""
    toy = make_toy(7, users=4, items=9, dim=12)
    final, _ = item_tables(toy, toy.layer0, BASES["mf"])
    final[0, :] = 0.0
    data = model_bytes(
        weighted(toy, "items", FoldInWeights(0.2), score=encode_rows(np.round(final, 1), 3, CLASSES))
    )
    parts = take_apart(data)
    assert all(parts.tensors[f"score.gap.{part}"].data[-1] < 128 for part in ("class", "extra"))
    return data


def _shared_source() -> bytes:
    """Terms that share the levels of the degrees."""
    toy = make_toy(7, users=4, items=9, dim=12)
    return model_bytes(weighted(toy, "items", FoldInWeights(0.2), term=ItemTerm(0.3)))


def _own_source() -> bytes:
    """Five levels of terms, so three bits each, and padding; degrees as plain counts."""
    toy = make_toy(7, users=4, items=9, dim=12)
    plain = toy_parts(toy, BASES["lightgcn"], "items", 8, None)
    term = np.array([0.0, 0.5, 1.0, -0.5, 0.25, 0.0, 1.0, 0.5, 0.5])
    return model_bytes(_with(plain, term=ItemTerm(term=term)))


def _lengths(*lengths: int) -> Change:
    """Another code."""

    def change(parts: Parts) -> None:
        parts.tensors["score.gap.length"] = Tensor("U8", [len(lengths)], bytes(lengths))

    return change


def _add(name: str, tensor: Tensor) -> Change:
    return lambda parts: parts.tensors.update({name: tensor})


def _first(name: str, tensor: Tensor) -> Change:
    """Before all others, as wide ones must lie."""

    def change(parts: Parts) -> None:
        parts.tensors = {name: tensor} | parts.tensors

    return change


def _cut(name: str) -> Change:
    return lambda parts: parts.tensors.update({name: Tensor("U8", [0], b"")})


def _wide_gaps(parts: Parts) -> None:
    """Every gap of the widest class, with no other bit set: far beyond the last column."""
    _lengths(*([0] * 22), 1, 1)(parts)
    count = _entries(parts)
    parts.tensors["score.gap.class"] = _bits([0] * count, [1] * count)
    parts.tensors["score.gap.extra"] = _bits([0] * count, [22] * count)


def _beyond(parts: Parts) -> None:
    """Gaps that are possible one by one, and too wide together."""
    count = _entries(parts)
    _lengths(0, 0, 1, 1)(parts)
    parts.tensors["score.gap.class"] = _bits([1] * count, [1] * count)
    parts.tensors["score.gap.extra"] = _bits([0] * count, [3] * count)


def _entries(parts: Parts) -> int:
    """Of all rows: counts of nine rows, as levels."""
    values, packed = parts.tensors["score.count.value"].data, parts.tensors["score.count.level"].data
    width = (len(values) - 1).bit_length()
    stream = int.from_bytes(packed, "little")
    return sum(values[stream >> width * row & ((1 << width) - 1)] for row in range(9))


def _bits(values: list[int], widths: list[int]) -> Tensor:
    packed = pack_bits(np.array(values), np.array(widths)).tobytes()
    return Tensor("U8", [len(packed)], packed)


def _class_cases() -> list[tuple[str, str, Change]]:
    gap = "score.gap."
    return [
        ("classes-and-quotients", "AmbiguousEncoding", _add(f"{gap}high", Tensor("U8", [1], b"\1"))),
        ("classes-and-remainders", "AmbiguousEncoding", _add(f"{gap}low", Tensor("U8", [0], b""))),
        ("classes-no-lengths", "WrongTensor", _lengths()),
        ("classes-too-many-lengths", "WrongTensor", _lengths(*([0] * 23), 1, 1)),
        ("classes-lengths-wrong-type", "WrongTensor", retype(f"{gap}length", "I8")),
        ("classes-code-too-long", "BadCode", _lengths(1, 2, 3, 4, 5, 6, 7, 8, 9, 9)),
        ("classes-code-incomplete", "BadCode", _lengths(2, 2, 2)),
        ("classes-code-overfull", "BadCode", _lengths(1, 1, 1)),
        ("classes-code-of-one", "BadCode", _lengths(1)),
        ("classes-no-code", "BadCode", _lengths(0, 0)),
        ("classes-missing", "MissingTensor", without(f"{gap}class")),
        ("classes-extra-missing", "MissingTensor", without(f"{gap}extra")),
        ("classes-wrong-type", "WrongTensor", retype(f"{gap}class", "I8")),
        ("classes-short", "WrongCount", resize(f"{gap}class", -1)),
        ("classes-gone", "WrongCount", _cut(f"{gap}class")),
        ("classes-long", "WrongCount", resize(f"{gap}class", 1)),
        ("classes-extra-short", "WrongCount", resize(f"{gap}extra", -1)),
        ("classes-extra-long", "WrongCount", resize(f"{gap}extra", 1)),
        ("classes-padding", "NonzeroPadding", orr(f"{gap}class", -1, 0x80)),
        ("classes-extra-padding", "NonzeroPadding", orr(f"{gap}extra", -1, 0x80)),
        ("classes-gap-too-wide", "IndexOutOfRange", _wide_gaps),
        ("classes-gaps-too-wide-together", "IndexOutOfRange", _beyond),
    ]


def _class_bomb(size: int) -> dict[str, Tensor]:
    """Rows of many entries, of which the file holds none."""
    streams = {f"score.gap.{part}": levels(0, 0) for part in ("class", "extra")}
    return sized("score", "count", size) | streams | {"score.gap.length": Tensor("U8", [2], b"\1\1")}


def one_bit_classes(name: str, rows: int, entries: int) -> dict[str, Tensor]:
    """Rows of the first columns, named one by one: every gap is 0 and its class takes a bit, as every code does."""
    streams = {f"{name}.gap.class": levels(rows * entries, 1), f"{name}.gap.extra": levels(0, 0)}
    return sized(name, "count", entries, rows) | streams | {f"{name}.gap.length": Tensor("U8", [2], b"\1\1")}


def _shared_cases() -> list[tuple[str, str, Change]]:
    return [
        ("term-nan", "BadTerm", poke("item.term.value", 0, struct.pack("<f", float("nan")))),
        ("term-infinite", "BadTerm", poke("item.term.value", 0, struct.pack("<f", float("-inf")))),
        ("term-huge", "BadTerm", poke("item.term.value", 4, struct.pack("<f", -2e6))),
        ("term-wrong-type", "WrongTensor", retype("item.term.value", "U32")),
        ("terms-for-other-degrees", "WrongCount", resize("item.term.value", -1)),
        ("term-too-many-values", "WrongTensor", _add("item.term.value", Tensor("F32", [257], bytes(4 * 257)))),
        (
            "term-for-older-readers-too",
            "AmbiguousEncoding",
            _first("filter.weight", Tensor("F64", [1], struct.pack("<d", 1.0))),
        ),
        ("term-coefficients-missing", "MissingTensor", without("filter.coefficient")),
    ]  # fmt: skip


def _own_cases() -> list[tuple[str, str, Change]]:
    return [
        ("term-values-missing", "MissingTensor", without("item.term.value")),
        ("term-no-values", "WrongTensor", _add("item.term.value", Tensor("F32", [0], b""))),
        ("term-levels-missing", "MissingTensor", without("item.term.level")),
        ("term-levels-short", "WrongCount", resize("item.term.level", -1)),
        ("term-level-out-of-range", "LevelOutOfRange", poke("item.term.level", 0, b"\x07")),
        ("term-level-padding", "NonzeroPadding", orr("item.term.level", -1, 0x80)),
    ]
