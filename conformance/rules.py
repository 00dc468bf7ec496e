"""Where readers once disagreed, and files that unpack to many times their size: golden files and malformed ones."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from files import Parts, Tensor, lay_out, put_together, take_apart
from golden import toy_parts
from malformed import Change, HeaderChange
from toy import BASES, make_toy

from sparserec.device import ModelParts, model_bytes

DEEPEST = 64
UNKNOWN_NAMES = (
    "item.title.language", "item.titles", "tag.colour", "tags", "item.id.kind", "user.id.kind", "score.code.old",
    "score.count.of", "score.slicesx", "scores.index", "fold.1.code", "fold.00.code", "graph.classes",
    "item.degree.of", "10", "9", "1e1", "__proto__", "constructor", "",
)  # fmt: skip


def rule_golden() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of files that every reader must take, and answer alike."""
    yield "items-names-that-begin-alike", _unknown_names(model_bytes(_plain(260)))
    tags = [[f"tag{tag}" for tag in range(10) if (item + tag) % 4 == 0] for item in range(24)]
    yield "items-doubled-tags", _doubled_tags(model_bytes(_plain(261, tags=tags)))
    ids = np.array([(item * 7919 + 13) % 1009 - 100 for item in range(24)])
    ids[3], ids[4] = 0, -7
    yield "items-ids-spelt", model_bytes(_plain(262, item_ids=ids, card={"ask": "spellings"}))
    text = [f"{item}" for item in range(24)]
    text[5], text[6], text[7] = "-0", "007", "-8"
    yield "items-texts-spelt", model_bytes(_plain(263, item_ids=text, card={"ask": "spellings"}))
    yield "items-range-spelt", model_bytes(_plain(264, card={"ask": "spellings"}))
    yield "items-refused-questions", model_bytes(_plain(268, card={"ask": "refused"}))
    yield "items-deepest-card", model_bytes(_plain(265, card={"nested": nested(DEEPEST - 1)}))
    yield "items-brackets-in-text", model_bytes(_plain(266, card={"brackets": '["{' * 99 + '\\"['}))


def rule_malformed() -> Iterator[tuple[str, str, bytes]]:
    """Name, error name and bytes of files that every reader must refuse alike."""
    source = model_bytes(_plain(267))
    changes: list[tuple[str, str, Change]] = [
        ("card-too-deep", "BadMetadata", _metadata("card", {"nested": nested(DEEPEST)})),
        ("model-too-deep", "BadMetadata", lambda parts: parts.set_model(novel=nested(DEEPEST))),
        ("golden-too-deep", "BadGolden", _metadata("golden", nested(DEEPEST + 1))),
        ("card-too-deep-and-hidden", "BadMetadata", _hidden),
    ]
    for name, error, change in changes:
        parts = take_apart(source)
        change(parts)
        yield name, error, put_together(*lay_out(parts))
    headers: list[tuple[str, str, HeaderChange]] = [
        ("header-too-deep", "HeaderNotJson", lambda header: header.update({"novel": nested(DEEPEST)})),
        ("two-wrong-entries", "BadTensorEntry", _two_wrong("7", "z", shape=[-1], dtype="F8_E4M3")),
        ("two-wrong-dtypes", "UnknownDtype", _two_wrong("z", "7", dtype="F8_E4M3", data_offsets=[0, 2**50])),
        ("two-wrong-ranges", "OffsetOutOfRange", _two_wrong("7", "z", data_offsets=[0, 2**50], shape=[3])),
        ("two-wrong-lengths", "WrongLength", _two_wrong("z", "7", shape=[3], data_offsets=[1, 9], dtype="F64")),
    ]  # fmt: skip
    for name, error, header_change in headers:
        header, payload = lay_out(take_apart(source))
        header_change(header)
        yield name, error, put_together(header, payload)
    yield from bombs()


def nested(depth: int) -> list[Any]:
    """So many lists inside one another."""
    inner: list[Any] = []
    for _ in range(depth - 1):
        inner = [inner]
    return inner


def _plain(seed: int, **more: Any) -> ModelParts:
    plain = toy_parts(make_toy(seed), BASES["lightgcn"], "items", 8, "byte-index")
    return ModelParts(**(plain.__dict__ | {"item_ids": None} | more))


def _metadata(key: str, value: Any) -> Change:
    return lambda parts: parts.metadata.update({key: json.dumps(value)})


def _hidden(parts: Parts) -> None:
    """Too deep in a key that a later one of the same name hides."""
    deep = json.dumps(nested(DEEPEST))
    parts.metadata["card"] = f'{{"a": {deep}, "a": 1}}'


def _unknown_names(data: bytes) -> bytes:
    parts = take_apart(data)
    for number, name in enumerate(UNKNOWN_NAMES):
        parts.tensors[name] = Tensor("U8", [number], bytes(number))
    return put_together(*lay_out(parts))


def _doubled_tags(data: bytes) -> bytes:
    """Tag 9 gets the name of tag 2, which stays a tag of all that had one of the two."""
    parts = take_apart(data)
    text = parts.tensors["tag.text"]
    text.data = text.data.replace(b"tag9", b"tag2")
    return put_together(*lay_out(parts))


def _two_wrong(first: str, second: str, **fields: Any) -> HeaderChange:
    """Two tensors, each wrong in one way: what is checked first counts, not which tensor comes first."""
    (one, value), *rest = fields.items()

    def change(header: dict[str, Any]) -> None:
        entry = header.pop("score.code")
        header[second] = entry | dict(rest)
        header[first] = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} | {one: value}

    return change


def bombs() -> Iterator[tuple[str, str, bytes]]:
    """Small files that would unpack to more than ten times their size, if nobody counted before."""
    book = empty_rows("score.book")
    for name, data in (
        ("bomb-codebook-rows", bomb(1, codes("score", 1, 4096, 256) | book, dim=4096)),
        ("bomb-codebook-slices", bomb(1, codes("score", 1, 65535, 2) | book, dim=65535)),
        ("bomb-codes", bomb(100, codes("score", 1, 65535, 2) | book, dim=65535)),
        ("bomb-prefixes", bomb(100, sized("score", "size", 65536), dim=65536)),
        ("bomb-all-columns", bomb(100, sized("score", None, 0), dim=65536)),
        ("bomb-gaps", bomb(100, sized("score", "count", 4096), dim=65536)),
        ("bomb-lists", bomb(2000, sized("lists", "size", 2000), mode="neighbours")),
        ("bomb-fold-tables", bomb(3000, _many(65), self_loops=True, fold_tables=64, fold_in=None)),
    ):
        yield name, "TooLarge", data


def bomb(items: int, tensors: dict[str, Tensor], **model: Any) -> bytes:
    """A file of so many items with these tables; what else it needs is there."""
    profile = {"mode": "items", "base": "bomb", "items": items, "users": 0, "dim": 8, "self_loops": False}
    profile |= {"fold_tables": 0, "item_ids": "range", "fold_in": {"size_power": 0.5}} | model
    if profile["fold_in"] is None:
        del profile["fold_in"]
    parts = Parts({"format": "srec", "version": "1.1", "model": json.dumps(profile)})
    parts.tensors = {
        "filter.weight": Tensor("F64", [1], struct.pack("<d", 1.0)),
        "item.weight.value": Tensor("F32", [2], struct.pack("<2f", 1.0, 0.5)),
    }
    if "fold_in" in profile:
        parts.tensors["item.degree.value"] = Tensor("U8", [2], b"\1\2")
        parts.tensors["item.degree.level"] = levels(items, 1)
    else:
        parts.tensors["item.degree"] = Tensor("U8", [items], b"\1" * items)
    parts.tensors["so-many-rows-need-as-many-bytes"] = Tensor("U8", [items], bytes(items))
    widths = {"F64": 8, "F32": 4, "U32": 4, "U16": 2}
    parts.tensors = dict(
        sorted((parts.tensors | tensors).items(), key=lambda pair: -widths.get(pair[1].dtype, 1))
    )
    return put_together(*lay_out(parts))


def levels(count: int, bits: int) -> Tensor:
    """Places 0 of so many numbers."""
    size = -(-count * bits // 8)
    return Tensor("U8", [size], bytes(size))


def sized(name: str, kind: str | None, size: int, rows: int = 0, bits: int = 1) -> dict[str, Tensor]:
    """Rows of one size with codes of so many bits: of so many rows, of none unless given."""
    tensors = {
        f"{name}.code.value": Tensor("I8", [1 << bits], bytes(byte + 1 for byte in range(1 << bits))),
        f"{name}.code.level": levels(rows * size, bits),
    }
    if kind is not None:
        tensors[f"{name}.{kind}.value"] = Tensor("U32", [1], struct.pack("<I", size))
        tensors[f"{name}.{kind}.level"] = levels(0, 0)
    return tensors


def one_bit_gaps(name: str, rows: int, dim: int) -> dict[str, Tensor]:
    """Rows that have all columns and name them: every gap is 0 and takes a bit, as every code does."""
    bits = rows * dim
    ones = b"\xff" * (bits // 8) + (bytes([(1 << bits % 8) - 1]) if bits % 8 else b"")
    high = {f"{name}.gap.high": Tensor("U8", [len(ones)], ones), f"{name}.gap.low": levels(0, 0)}
    return sized(name, "count", dim, rows) | high


def empty_rows(name: str) -> dict[str, Tensor]:
    """Rows that take no bytes, with scales that take none."""
    scale = {
        f"{name}.scale.value": Tensor("F32", [1], struct.pack("<f", 1.0)),
        f"{name}.scale.level": levels(0, 0),
    }
    return sized(name, "size", 0) | scale


def codes(name: str, rows: int, slices: int, entries: int) -> dict[str, Tensor]:
    """Product codes, without their codebook."""
    return {
        f"{name}.slices": Tensor("U16", [2], struct.pack("<2H", slices, entries)),
        f"{name}.part.level": levels(rows * slices, (entries - 1).bit_length()),
    }


def _many(tables: int) -> dict[str, Tensor]:
    found = sized("score", "size", 0)
    for number in range(tables - 1):
        found |= sized(f"fold.{number}", "size", 0)
    return found
