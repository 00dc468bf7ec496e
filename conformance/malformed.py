"""Files with exactly one thing wrong, and the error every reader must raise for each."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from files import Parts, lay_out, put_together, reseal, take_apart
from golden import toy_parts
from toy import BASES, make_toy

from sparserec.device import ModelParts, model_bytes

Change = Callable[[Parts], None]
HeaderChange = Callable[[dict[str, Any]], None]


def malformed_files() -> Iterator[tuple[str, str, bytes]]:
    """Name, error name and bytes of every malformed file."""
    for source, cases in (
        (_items_source(), _items_cases()),
        (_full_source(), _full_cases()),
        (_bitmask_source(), _mask_cases()),
    ):
        for name, error, change in cases:
            parts = take_apart(source)
            change(parts)
            yield name, error, put_together(*lay_out(parts))
    for name, error, header_change in _header_cases():
        header, payload = lay_out(take_apart(_items_source()))
        header_change(header)
        yield name, error, put_together(header, payload)
    yield from _raw_cases(_items_source())


def _items_source() -> bytes:
    """A personal file with everything optional in it, byte-index, int8."""
    toy = make_toy(7, users=4, items=9, dim=12)
    plain = toy_parts(toy, BASES["lightgcn"], "personal", 8, "byte-index")
    extra = {
        "item_ids": [f"id-{(item * 4) % 9}" for item in range(9)],
        "titles": [f"tïtle {item}" for item in range(9)],
        "tags": [[f"tag{tag}" for tag in range(10) if (item + tag) % 3 == 0] for item in range(9)],
        "popularity": np.arange(9),
    }
    return model_bytes(ModelParts(**(plain.__dict__ | extra)))


def _full_source() -> bytes:
    toy = make_toy(8, users=5, items=9, dim=12)
    plain = toy_parts(toy, BASES["lightgcn"], "full", 4, "byte-index", ids=1)
    edges = (np.array([0, 0, 1, 2, 3]), np.array([2, 4, 0, 8, 5]))
    return model_bytes(ModelParts(**(plain.__dict__ | {"edges": edges, "item_norm": np.ones(9)})))


def _bitmask_source() -> bytes:
    """int4 with an odd number of entries, so that the last half byte is padding."""
    toy = make_toy(9, users=4, items=9, dim=12)
    plain = toy_parts(toy, BASES["lightgcn"], "items", 4, "bitmask")
    parts = take_apart(model_bytes(plain))
    entries = sum(bin(byte).count("1") for byte in parts.tensors["score.mask"].data)
    if entries % 2 == 0:
        _drop_last_entry(parts)
    return put_together(*lay_out(parts))


def _drop_last_entry(parts: Parts) -> None:
    mask = bytearray(parts.tensors["score.mask"].data)
    last = max(at for at, byte in enumerate(mask) if byte)
    mask[last] ^= 1 << (mask[last].bit_length() - 1)
    parts.tensors["score.mask"].data = bytes(mask)
    codes = bytearray(parts.tensors["score.code"].data)
    codes[-1] &= 15
    parts.tensors["score.code"].data = bytes(codes)
    del parts.metadata["golden"]


def poke(name: str, at: int, value: bytes) -> Change:
    """Overwrite some bytes of a tensor; a negative position counts from its end."""

    def change(parts: Parts) -> None:
        data = bytearray(parts.tensors[name].data)
        begin = at % len(data)
        data[begin : begin + len(value)] = value
        parts.tensors[name].data = bytes(data)

    return change


def orr(name: str, at: int, bits: int) -> Change:
    def change(parts: Parts) -> None:
        data = bytearray(parts.tensors[name].data)
        data[at % len(data)] |= bits
        parts.tensors[name].data = bytes(data)

    return change


def resize(name: str, by: int) -> Change:
    """Make a one-dimensional tensor longer or shorter, its shape following."""

    def change(parts: Parts) -> None:
        tensor = parts.tensors[name]
        size = len(tensor.data) // tensor.shape[0] if tensor.data else 1
        tensor.data = tensor.data + bytes(size * by) if by > 0 else tensor.data[: by * size]
        tensor.shape = [tensor.shape[0] + by]

    return change


def without(name: str) -> Change:
    def change(parts: Parts) -> None:
        del parts.tensors[name]

    return change


def model_change(**fields: Any) -> Change:
    return lambda parts: parts.set_model(**fields)


def _metadata(**fields: Any) -> Change:
    return lambda parts: parts.metadata.update(fields)


def _golden(change: Callable[[list[dict[str, Any]]], Any]) -> Change:
    def apply(parts: Parts) -> None:
        queries = json.loads(parts.metadata["golden"])
        change(queries)
        parts.metadata["golden"] = json.dumps(queries)

    return apply


def retype(name: str, dtype: str) -> Change:
    return lambda parts: setattr(parts.tensors[name], "dtype", dtype)


def _items_cases() -> list[tuple[str, str, Change]]:
    half_nan, half_inf = struct.pack("<e", float("nan")), struct.pack("<e", float("inf"))
    return [
        ("metadata-no-model", "BadMetadata", lambda parts: parts.metadata.pop("model") and None),
        ("metadata-model-not-json", "BadMetadata", _metadata(model="{")),
        ("metadata-model-not-object", "BadMetadata", _metadata(model="[1]")),
        ("metadata-wrong-format", "BadMetadata", _metadata(format="other")),
        ("metadata-bad-version", "BadMetadata", _metadata(version="one")),
        ("metadata-card-not-object", "BadMetadata", _metadata(card="3")),
        ("metadata-not-a-string", "BadMetadata", _metadata(novelty=3)),
        ("newer-version", "NewerVersion", _metadata(version="2.0")),
        ("model-unknown-mode", "BadMetadata", model_change(mode="everything")),
        ("model-no-items", "BadMetadata", model_change(items=0)),
        ("model-items-a-string", "BadMetadata", model_change(items="9")),
        ("model-items-huge", "BadMetadata", model_change(items=2**60)),
        ("model-items-wrong", "WrongTensor", model_change(items=10)),
        ("model-dim-zero", "BadMetadata", model_change(dim=0)),
        ("model-dim-huge", "BadMetadata", model_change(dim=65537)),
        ("model-loops-not-boolean", "BadMetadata", model_change(self_loops=1)),
        ("model-too-many-folds", "BadMetadata", model_change(fold_tables=2)),
        ("model-unknown-id-kind", "BadMetadata", model_change(item_ids="guid")),
        ("model-user-id-a-list", "BadMetadata", model_change(user_id=[1])),
        ("coefficients-missing", "MissingTensor", without("filter.weight")),
        (
            "coefficients-not-finite",
            "BadCoefficients",
            poke("filter.weight", 8, struct.pack("<d", float("nan"))),
        ),
        ("coefficients-huge", "BadCoefficients", poke("filter.weight", 8, struct.pack("<d", 1e7))),
        ("coefficients-none", "BadCoefficients", resize("filter.weight", -4)),
        ("scale-missing", "MissingTensor", without("score.scale")),
        ("code-missing", "MissingTensor", without("score.code")),
        ("count-missing", "MissingTensor", without("score.count")),
        ("fold-missing", "MissingTensor", without("fold.0.scale")),
        ("degree-missing", "MissingTensor", without("item.degree")),
        ("vector-missing", "MissingTensor", without("user.vector")),
        ("title-text-missing", "MissingTensor", without("item.title.text")),
        ("tags-missing", "MissingTensor", without("item.tags")),
        ("ids-missing", "MissingTensor", without("item.id.offset")),
        ("scale-wrong-type", "WrongTensor", retype("score.scale", "U16")),
        ("scale-too-short", "WrongTensor", resize("score.scale", -1)),
        ("count-two-rows", "WrongTensor", resize("score.count", -7)),
        ("scale-nan", "BadScale", poke("score.scale", 4, half_nan)),
        ("scale-infinite", "BadScale", poke("score.scale", 0, half_inf)),
        ("scale-negative", "BadScale", poke("fold.0.scale", 2, struct.pack("<e", -0.5))),
        ("code-minus-128", "CodeOutOfRange", poke("score.code", 3, b"\x80")),
        ("index-out-of-range", "IndexOutOfRange", poke("score.index", -1, b"\x0c")),
        ("index-not-ascending", "IndexNotAscending", poke("score.index", 1, b"\x00")),
        ("count-wrong-sum", "WrongCount", poke("score.count", 0, b"\x0b")),
        ("code-too-short", "WrongCount", resize("score.code", -1)),
        ("vector-not-finite", "BadVector", poke("user.vector", 4, struct.pack("<f", float("inf")))),
        ("seen-out-of-range", "IndexOutOfRange", poke("user.seen", 0, struct.pack("<I", 9))),
        ("popularity-wrong-type", "WrongTensor", retype("item.popularity", "I8")),
        ("title-offset-falls", "BadTextOffsets", poke("item.title.offset", 8, struct.pack("<I", 3))),
        ("title-offset-not-zero", "BadTextOffsets", poke("item.title.offset", 0, struct.pack("<I", 1))),
        ("title-offset-end", "BadTextOffsets", poke("item.title.offset", -4, struct.pack("<I", 10**9))),
        ("title-bad-utf8", "BadText", poke("item.title.text", 0, b"\xff")),
        ("title-surrogate", "BadText", poke("item.title.text", 3, b"\xed\xa0\x80")),
        ("title-splits-character", "BadText", poke("item.title.offset", 4, struct.pack("<I", 2))),
        ("tag-padding", "NonzeroPadding", orr("item.tags", 1, 0x80)),
        ("id-order-out-of-range", "BadIds", poke("item.id.order", 0, struct.pack("<I", 9))),
        ("id-order-repeats", "BadIds", poke("item.id.order", 4, struct.pack("<I", 0))),
        ("ids-not-sorted", "BadIds", without("item.id.order")),
        ("id-bad-utf8", "BadText", poke("item.id.text", 0, b"\xc0")),
        ("golden-not-json", "BadGolden", _metadata(golden="[")),
        ("golden-not-a-list", "BadGolden", _metadata(golden="{}")),
        ("golden-no-question", "BadGolden", _golden(lambda queries: queries[0].pop("history"))),
        ("golden-item-out-of-range", "BadGolden", _golden(lambda queries: queries[1]["items"].append(9))),
        ("golden-lengths-differ", "BadGolden", _golden(lambda queries: queries[1]["scores"].pop())),
        ("golden-user-out-of-range", "BadGolden", _golden(lambda queries: queries[-1].update(user=1))),
        (
            "golden-weight-huge",
            "BadGolden",
            _golden(lambda queries: queries[1].update(weights=[1e300] * len(queries[1]["history"]))),
        ),
        (
            "golden-score-a-string",
            "BadGolden",
            _golden(lambda queries: queries[1]["scores"].__setitem__(0, "1")),
        ),
    ]


def _full_cases() -> list[tuple[str, str, Change]]:
    """The graph's first gaps are 2, 1; there are five edges, so the last half byte of the classes is padding."""
    return [
        ("full-fold-tables", "BadMetadata", model_change(fold_tables=1)),
        ("full-no-users", "BadMetadata", model_change(users=0)),
        ("full-no-user-ids", "BadMetadata", model_change(user_ids=None)),
        ("full-users-wrong", "WrongTensor", model_change(users=6)),
        ("graph-missing", "MissingTensor", without("graph.extra")),
        ("graph-width", "BadGraph", poke("graph.width", 15, b"\x19")),
        ("graph-count", "WrongCount", poke("graph.count", 0, b"\x09")),
        ("graph-class-padding", "NonzeroPadding", orr("graph.class", -1, 0x10)),
        ("graph-extra-length", "WrongCount", resize("graph.extra", 3)),
        ("graph-item-out-of-range", "BadGraph", _far_item),
        ("norm-not-finite", "BadScale", poke("item.norm", 0, struct.pack("<f", float("nan")))),
        ("integer-ids-repeat", "BadIds", lambda parts: poke("item.id", 4, parts.tensors["item.id"].data[:4])(parts)),
        ("integer-id-too-wide", "BadIds", _widen_ids),
        ("code-minus-8", "CodeOutOfRange", poke("layer0.code", 0, b"\x88")),
        ("int4-too-long", "WrongCount", resize("layer0.code", 1)),
    ]  # fmt: skip


def _far_item(parts: Parts) -> None:
    """One class of width 4, so that every gap fits, and the first gap is 15."""
    parts.tensors["graph.width"].data = b"\x04" * 16
    parts.tensors["graph.class"].data = bytes(3)
    parts.tensors["graph.extra"].data = b"\x0f\x00\x00"
    parts.tensors["graph.extra"].shape = [3]


def _widen_ids(parts: Parts) -> None:
    """The same ids in 64 bits, one of them beyond what JavaScript can hold."""
    tensor = parts.tensors["item.id"]
    wide = np.frombuffer(tensor.data, "<i4").astype("<i8")
    wide[wide.argmax()] = 2**53
    tensor.dtype, tensor.data = "I64", wide.tobytes()
    parts.tensors = dict(sorted(parts.tensors.items(), key=lambda pair: pair[1].dtype not in ("F64", "I64")))


def _mask_cases() -> list[tuple[str, str, Change]]:
    def both(parts: Parts) -> None:
        parts.tensors["score.index"] = parts.tensors["score.code"]

    return [
        ("mask-and-index", "AmbiguousEncoding", both),
        ("mask-missing", "WrongTensor", without("score.mask")),
        ("mask-padding", "NonzeroPadding", orr("score.mask", 1, 0x80)),
        ("mask-bits-wrong", "WrongCount", _fill_mask),
        ("int4-padding", "NonzeroPadding", orr("score.code", -1, 0x10)),
    ]


def _fill_mask(parts: Parts) -> None:
    rows = parts.tensors["score.mask"].shape[0]
    parts.tensors["score.mask"].data = b"\xff\x0f" * rows


def _entry(name: str, **fields: Any) -> HeaderChange:
    return lambda header: header[name].update(fields)


def _header_cases() -> list[tuple[str, str, HeaderChange]]:
    def shift(name: str, begin: int, end: int) -> HeaderChange:
        def change(header: dict[str, Any]) -> None:
            offsets = header[name]["data_offsets"]
            header[name]["data_offsets"] = [offsets[0] + begin, offsets[1] + end]

        return change

    def overlap(header: dict[str, Any]) -> None:
        header["score.code"]["data_offsets"] = header["score.index"]["data_offsets"]

    return [
        ("entry-not-an-object", "BadTensorEntry", lambda header: header.update({"score.code": 5})),
        ("entry-no-shape", "BadTensorEntry", lambda header: header["score.code"].pop("shape") and None),
        ("entry-negative", "BadTensorEntry", _entry("score.code", shape=[-1])),
        ("entry-fraction", "BadTensorEntry", _entry("score.code", shape=[1.5])),
        ("entry-deep", "BadTensorEntry", _entry("score.code", shape=[1] * 9)),
        ("entry-three-offsets", "BadTensorEntry", _entry("score.code", data_offsets=[0, 1, 2])),
        ("entry-unknown-dtype", "UnknownDtype", _entry("score.code", dtype="F8_E4M3")),
        ("offset-out-of-range", "OffsetOutOfRange", shift("score.code", 0, 10**6)),
        ("offset-huge", "OffsetOutOfRange", shift("score.code", 0, 2**50)),
        ("length-wrong", "WrongLength", _entry("score.code", shape=[3])),
        ("length-overflow", "WrongLength", _entry("score.code", shape=[2**32, 2**32, 2**32])),
        ("offsets-reversed", "WrongLength", lambda header: header["score.code"]["data_offsets"].reverse()),
        ("misaligned", "Misaligned", shift("user.vector", 1, 1)),
        ("overlap", "OverlappingTensors", overlap),
        ("hole", "HoleInPayload", lambda header: header.pop("item.tags") and None),
        ("metadata-a-list", "BadMetadata", _second_metadata),
    ]  # fmt: skip


def _second_metadata(header: dict[str, Any]) -> None:
    """Values of another type than text."""
    header["__metadata__"]["golden"] = []


def _raw_cases(data: bytes) -> Iterator[tuple[str, str, bytes]]:
    length = int.from_bytes(data[:8], "little")
    yield "empty", "Truncated", b""
    yield "seven-bytes", "Truncated", data[:7]
    yield "truncated-header", "Truncated", data[: 8 + length - 40]
    yield "truncated-payload", "OffsetOutOfRange", reseal(data[:-5])
    yield "trailing-bytes", "HoleInPayload", reseal(data + b"tail")
    yield "huge-header-length", "HeaderTooLarge", (2**63).to_bytes(8, "little") + data[8:]
    yield "not-srec", "NotSrec", data[:8] + data[8:].replace(b"sha256", b"sha512", 1)
    yield "safetensors-without-checksum", "NotSrec", (16).to_bytes(8, "little") + b"{}" + b" " * 14
    yield "checksum-not-hex", "NotSrec", data[:35] + b"G" + data[36:]
    yield "wrong-checksum", "WrongChecksum", data[:-1] + bytes([data[-1] ^ 1])
    yield "wrong-checksum-metadata", "WrongChecksum", data.replace(b"conformance", b"c0nformance", 1)
    unpadded = data[8 : 8 + length].rstrip(b" ") + b" "
    unpadded += b"" if len(unpadded) % 8 else b" "
    yield (
        "header-not-padded",
        "HeaderNotPadded",
        reseal(len(unpadded).to_bytes(8, "little") + unpadded + data[8 + length :]),
    )
    yield "header-bad-utf8", "HeaderNotUtf8", reseal(data.replace(b"producer", b"prod\xffcer", 1))
    yield "header-not-json", "HeaderNotJson", reseal(data.replace(b'"shape"', b'"shape,', 1))
    yield (
        "header-nan",
        "HeaderNotJson",
        reseal(data.replace(b'"shape":[9', b'"shape":[NaN', 1).replace(b"    ", b"  ", 1)),
    )
