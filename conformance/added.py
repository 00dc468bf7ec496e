"""What format 1.1 added: golden files of each new part, and files with one thing wrong in it."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
from files import Parts, Tensor, lay_out, put_together, take_apart
from golden import toy_parts
from malformed import Change, model_change, orr, poke, resize, retype, without
from toy import BASES, Toy, item_tables, make_toy

from sparserec.device import EncodedTable, FoldInWeights, ModelParts, encode_codes, encode_rows, model_bytes


def added_golden() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every golden file of version 1.1."""
    yield from weight_files()
    yield from row_files()
    yield from code_files()
    yield from neighbour_files()


def added_malformed() -> Iterator[tuple[str, str, bytes]]:
    """Name, error name and bytes of every malformed file of version 1.1."""
    for source, cases in (
        (_weights_source(), _weight_cases()),
        (_rows_source("gaps"), _gap_cases()),
        (_rows_source("prefix"), _prefix_cases()),
        (_codes_source(), _code_cases()),
        (_neighbours_source(), _neighbour_cases()),
    ):
        for name, error, change in cases:
            parts = take_apart(source)
            change(parts)
            yield name, error, put_together(*lay_out(parts))


def weighted(toy: Toy, mode: str, fold_in: FoldInWeights, **more: Any) -> ModelParts:
    """A toy whose users are weighted sums of item rows."""
    plain = toy_parts(toy, BASES["mf"], mode, 8, None)
    return ModelParts(**(plain.__dict__ | {"base": "history", "fold": (), "fold_in": fold_in} | more))


def random_weights(items: int, seed: int) -> list[float]:
    random = Random(seed)
    return [round(random.random() * 3, 2) if item % 7 else 0.0 for item in range(items)]


def weight_files() -> Iterator[tuple[str, bytes]]:
    toy = make_toy(200)
    yield "items-weights-of-degrees", model_bytes(weighted(toy, "items", FoldInWeights(exponent=0.1)))
    own = FoldInWeights(weight=random_weights(toy.items, 1), size_power=0.0, levels=8)
    yield "items-own-weights", model_bytes(weighted(toy, "items", own))
    yield (
        "personal-weights-mean",
        model_bytes(weighted(toy, "personal", FoldInWeights(exponent=0.0, size_power=1.0))),
    )
    many = make_toy(201, users=40, items=60, dim=5)
    few = FoldInWeights(exponent=0.25, levels=4)
    yield "items-few-degrees", model_bytes(weighted(many, "items", few, popularity=np.arange(60)[::-1] % 50))


def row_files() -> Iterator[tuple[str, bytes]]:
    """Positions, widths of codes, scales or none, signs or none; an empty row in each."""
    for number, (positions, bits, unit) in enumerate(
        (
            ("gaps", 4, True),
            ("gaps", 3, False),
            ("gaps", 8, True),
            ("prefix", 5, False),
            ("prefix", 2, True),
            ("all", 6, False),
        )
    ):
        toy = make_toy(210 + number)
        final, _ = item_tables(toy, toy.layer0, BASES["mf"])
        signed = final if number % 2 else np.abs(final)
        table = encode_rows(signed, bits, positions, unit)
        kind = "unit" if unit else "scaled"
        yield (
            f"items-{positions}-{bits}-{kind}",
            model_bytes(weighted(toy, "items", FoldInWeights(0.2), score=table)),
        )
    wide = make_toy(220, items=30, dim=300)
    few = encode_rows(np.where(np.arange(300) % 7 == 0, wide.layer0[wide.users :], 0.0), 2)
    yield "personal-wide-gaps", model_bytes(_personal(wide, few))
    loops = toy_parts(make_toy(221), BASES["mgdcf-loops"], "items", 8, None)
    final, fold = item_tables(make_toy(221), make_toy(221).layer0, BASES["mgdcf-loops"])
    tables = {"score": encode_rows(final, 4), "fold": tuple(encode_rows(part, 6) for part in fold)}
    yield "items-gaps-self-loops", model_bytes(ModelParts(**(loops.__dict__ | tables)))
    toy = make_toy(222)
    full = toy_parts(toy, BASES["lightgcn"], "full", 8, None)
    layer0 = {"layer0": encode_rows(toy.layer0, 4)}
    yield "full-gaps", model_bytes(ModelParts(**(full.__dict__ | layer0)))


def _personal(toy: Toy, table: EncodedTable) -> ModelParts:
    vector = toy.layer0[3]
    return weighted(toy, "personal", FoldInWeights(0.2), score=table, user_vector=vector)


def random_codes(
    seed: int, rows: int, slices: int, entries: int, width: int
) -> tuple[np.ndarray, np.ndarray]:
    """Codes and codebooks."""
    random = Random(seed)
    code = [[random.randrange(entries) for _ in range(slices)] for _ in range(rows)]
    book = [round(random.random() * 2 - 1, 3) for _ in range(slices * entries * width)]
    return np.array(code), np.array(book).reshape(slices, entries, width)


def code_files() -> Iterator[tuple[str, bytes]]:
    """Slices of several widths, codebooks of several sizes, rows with and without a scale, a fold-in table
    of its own.
    """
    for number, (slices, entries, bits) in enumerate(((4, 5, 8), (12, 16, 4), (1, 2, 6), (3, 256, 8))):
        toy = make_toy(230 + number)
        code, book = random_codes(number, toy.items, slices, entries, toy.dim // slices)
        scale = None if number % 2 else np.array([(item % 5) / 4 for item in range(toy.items)])
        table = encode_codes(code, book, bits, scale)
        parts = weighted(toy, "items", FoldInWeights(0.1), score=table)
        if number == 1:
            own = encode_codes(*random_codes(9, toy.items, 2, 7, 6))
            parts = ModelParts(**(parts.__dict__ | {"fold": (own,)}))
        yield f"items-codes-{slices}x{entries}-{bits}", model_bytes(parts)
    toy = make_toy(240)
    layer0 = encode_codes(*random_codes(10, toy.users + toy.items, 6, 9, 2))
    full = toy_parts(toy, BASES["mgdcf-loops"], "full", 8, None)
    yield "full-codes", model_bytes(ModelParts(**(full.__dict__ | {"layer0": layer0})))


def random_lists(seed: int, items: int, signed: bool) -> np.ndarray:
    """How much each item speaks for each other one; every seventh item says nothing."""
    random = Random(seed)
    lists = np.zeros((items, items))
    for item in range(items):
        for other in random.sample(range(items), 4 if item % 7 else 0):
            lists[item, other] = (
                round(random.random() - (0.5 if signed else 0.0), 3) if other != item else 0.0
            )
    return lists


def neighbours(toy: Toy, lists: EncodedTable, fold_in: FoldInWeights, **more: Any) -> ModelParts:
    plain = weighted(toy, "items", fold_in)
    return ModelParts(
        **(
            plain.__dict__
            | {"mode": "neighbours", "base": "neighbours", "score": None, "lists": lists}
            | more
        )
    )


def neighbour_files() -> Iterator[tuple[str, bytes]]:
    toy = make_toy(250)
    lists = encode_rows(random_lists(0, toy.items, signed=False), 4)
    yield "neighbours-4", model_bytes(neighbours(toy, lists, FoldInWeights(0.3, size_power=0.0)))
    more = make_toy(251, items=70)
    signed = encode_rows(random_lists(1, more.items, signed=True), 8)
    yield (
        "neighbours-8-signed",
        model_bytes(neighbours(more, signed, FoldInWeights(0.0), titles=[f"T{i}" for i in range(70)])),
    )


def _weights_source() -> bytes:
    """Nine items; five levels of weights, so three bits each, and padding."""
    toy = make_toy(7, users=4, items=9, dim=12)
    weight = np.array([0.5, 0.25, 1.5, 0.5, 0.0, 2.0, 0.25, 0.5, 1.5])
    degree = np.array([1, 2, 3, 4, 5, 1, 2, 3, 4])
    return model_bytes(weighted(toy, "items", FoldInWeights(weight=weight), degree=degree))


def _weight_cases() -> list[tuple[str, str, Change]]:
    def plain_degrees(parts: Any) -> None:
        parts.tensors["item.degree"] = Tensor("U8", [9], bytes(9))

    def many_levels(parts: Any) -> None:
        parts.tensors["item.weight.value"] = Tensor("F32", [257], bytes(4 * 257))

    return [
        ("fold-in-not-an-object", "BadMetadata", model_change(fold_in=0.5)),
        ("fold-in-null", "BadMetadata", model_change(fold_in=None)),
        ("fold-in-other-power", "BadMetadata", model_change(fold_in={"size_power": 0.3})),
        ("fold-in-with-self-loops", "BadMetadata", model_change(self_loops=True)),
        ("degrees-twice", "AmbiguousEncoding", plain_degrees),
        ("degree-values-missing", "MissingTensor", without("item.degree.value")),
        ("degree-levels-missing", "MissingTensor", without("item.degree.level")),
        ("weights-missing", "MissingTensor", without("item.weight.value")),
        ("degree-one-value", "WrongTensor", resize("item.degree.value", -4)),
        ("weight-no-value", "WrongTensor", resize("item.weight.value", -5)),
        ("weight-too-many-values", "WrongTensor", many_levels),
        ("weight-wrong-type", "WrongTensor", retype("item.weight.value", "U32")),
        ("weight-negative", "BadWeight", poke("item.weight.value", 0, struct.pack("<f", -0.5))),
        ("weight-not-finite", "BadWeight", poke("item.weight.value", 4, struct.pack("<f", float("nan")))),
        ("weight-huge", "BadWeight", poke("item.weight.value", 4, struct.pack("<f", 2e6))),
        ("weight-levels-short", "WrongCount", resize("item.weight.level", -1)),
        ("weights-for-other-degrees", "WrongCount", _fewer_weights),
        ("weight-level-out-of-range", "LevelOutOfRange", poke("item.weight.level", 0, b"\x07")),
        ("degree-level-padding", "NonzeroPadding", orr("item.degree.level", -1, 0x80)),
    ]  # fmt: skip


def _fewer_weights(parts: Any) -> None:
    """One weight too few for the levels of the degrees, which are then meant."""
    without("item.weight.level")(parts)
    resize("item.weight.value", -1)(parts)


def _rows_source(positions: str) -> bytes:
    """Nine items in twelve columns, codes of three bits with all but the last of eight values, four levels
    of scales.
    """
    toy = make_toy(7, users=4, items=9, dim=12)
    final, _ = item_tables(toy, toy.layer0, BASES["mf"])
    final[0, :] = 0.0
    final[8, :] = final[7, :]  # the bits of the gaps do not end with a byte
    table = encode_rows(np.round(final, 1), 3, positions, scale_levels=4)
    values = table.tensors["code.value"]
    assert len(values) < 8 or positions == "gaps"
    return model_bytes(weighted(toy, "items", FoldInWeights(0.2), score=table))


def _rename(old: str, new: str) -> Change:
    def change(parts: Parts) -> None:
        parts.tensors = {(new if name == old else name): tensor for name, tensor in parts.tensors.items()}

    return change


def _add(name: str, tensor: Tensor) -> Change:
    return lambda parts: parts.tensors.update({name: tensor})


def _gap_cases() -> list[tuple[str, str, Change]]:
    return [
        ("rows-twice", "AmbiguousEncoding", _add("score.code", Tensor("I8", [1], b"\1"))),
        ("rows-gaps-and-prefixes", "AmbiguousEncoding", _add("score.size.value", Tensor("U8", [1], b"\1"))),
        ("rows-code-values-missing", "MissingTensor", without("score.code.value")),
        ("rows-codes-missing", "MissingTensor", without("score.code.level")),
        ("rows-gaps-missing", "MissingTensor", without("score.gap.low")),
        (
            "rows-one-code",
            "WrongTensor",
            lambda parts: resize("score.code.value", 1 - parts.tensors["score.code.value"].shape[0])(parts),
        ),
        ("rows-code-minus-128", "CodeOutOfRange", poke("score.code.value", 0, b"\x80")),
        ("rows-scale-nan", "BadScale", poke("score.scale.value", 4, struct.pack("<f", float("nan")))),
        ("rows-scale-negative", "BadScale", poke("score.scale.value", 0, struct.pack("<f", -1.0))),
        ("rows-scale-levels-long", "WrongCount", resize("score.scale.level", 1)),
        ("rows-too-many-entries", "WrongCount", poke("score.count.value", -1, b"\x0d")),
        ("rows-entries-and-gaps", "WrongCount", poke("score.count.value", -1, b"\x01")),
        ("rows-quotients-long", "WrongCount", resize("score.gap.high", 1)),
        ("rows-remainders-long", "WrongCount", resize("score.gap.low", 1)),
        (
            "rows-remainders-short",
            "WrongCount",
            lambda parts: resize("score.gap.low", -parts.tensors["score.gap.low"].shape[0])(parts),
        ),
        ("rows-gap-too-wide", "IndexOutOfRange", _late_first("score.gap.high")),
        ("rows-remainder-padding", "NonzeroPadding", orr("score.gap.low", -1, 0x80)),
        ("rows-codes-short", "WrongCount", resize("score.code.level", -1)),
        ("rows-more-than-bytes", "WrongCount", model_change(items=1_000_000)),
    ]


def _late_first(name: str) -> Change:
    """The first gap eight steps of its quotient wider than it was."""

    def change(parts: Parts) -> None:
        tensor = parts.tensors[name]
        tensor.data, tensor.shape = b"\0" + tensor.data, [tensor.shape[0] + 1]

    return change


def _prefix_cases() -> list[tuple[str, str, Change]]:
    return [
        ("prefix-too-long", "WrongCount", poke("score.size.value", -1, b"\x0d")),
        ("prefix-other-sum", "WrongCount", poke("score.size.value", -1, b"\x01")),
        ("prefix-sizes-missing", "MissingTensor", without("score.size.level")),
        ("prefix-sizes-wrong-type", "WrongTensor", retype("score.size.value", "I8")),
        ("prefix-code-out-of-range", "LevelOutOfRange", poke("score.code.level", 0, b"\xff")),
        ("prefix-as-all-columns", "WrongCount", without("score.size.value")),
    ]


def _codes_source() -> bytes:
    """Nine items in twelve columns: four slices with five entries each, so three bits a code."""
    toy = make_toy(7, users=4, items=9, dim=12)
    table = encode_codes(*random_codes(3, 9, 4, 5, 3), scale=np.arange(9) / 8)
    return model_bytes(weighted(toy, "items", FoldInWeights(0.2), score=table))


def _code_cases() -> list[tuple[str, str, Change]]:
    return [
        ("codes-twice", "AmbiguousEncoding", _add("score.code", Tensor("I8", [1], b"\1"))),
        ("codes-and-rows", "AmbiguousEncoding", _add("score.code.value", Tensor("I8", [2], b"\1\2"))),
        ("codes-no-slices", "BadSlices", poke("score.slices", 0, struct.pack("<H", 0))),
        ("codes-slices-do-not-divide", "BadSlices", poke("score.slices", 0, struct.pack("<H", 5))),
        ("codes-one-entry", "BadSlices", poke("score.slices", 2, struct.pack("<H", 1))),
        ("codes-too-many-entries", "BadSlices", poke("score.slices", 2, struct.pack("<H", 257))),
        ("codes-slices-wrong-type", "WrongTensor", retype("score.slices", "F16")),
        ("codes-scale-infinite", "BadScale", poke("score.scale.value", 4, struct.pack("<f", float("inf")))),
        ("codes-short", "WrongCount", resize("score.part.level", -1)),
        ("codes-missing", "MissingTensor", without("score.part.level")),
        ("codes-out-of-range", "LevelOutOfRange", poke("score.part.level", 0, b"\x07")),
        ("codes-padding", "NonzeroPadding", orr("score.part.level", -1, 0x80)),
        ("codes-book-missing", "MissingTensor", without("score.book.code.value")),
        ("codes-book-short", "WrongCount", resize("score.book.code.level", -1)),
        ("codes-book-scale", "BadScale", poke("score.book.scale.value", 0, struct.pack("<f", -2.0))),
    ]


def _neighbours_source() -> bytes:
    toy = make_toy(7, users=4, items=9, dim=12)
    return model_bytes(neighbours(toy, encode_rows(random_lists(2, 9, signed=False), 4), FoldInWeights(0.2)))


def _neighbour_cases() -> list[tuple[str, str, Change]]:
    return [
        ("neighbours-without-fold-in", "BadMetadata", _without_fold_in),
        ("neighbours-with-fold-tables", "BadMetadata", model_change(fold_tables=1)),
        ("neighbours-missing", "MissingTensor", without("lists.code.value")),
        ("neighbours-more-items", "WrongCount", model_change(items=100)),
        ("neighbours-gap-too-wide", "IndexOutOfRange", _late_first("lists.gap.high")),
        (
            "neighbours-golden-user",
            "BadGolden",
            lambda parts: parts.metadata.update(golden='[{"user":0,"items":[],"scores":[]}]'),
        ),
    ]


def _without_fold_in(parts: Parts) -> None:
    model = parts.model
    del model["fold_in"]
    parts.metadata["model"] = json.dumps(model)
