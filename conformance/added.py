"""What format 1.1 added: golden files of each new part, and files with one thing wrong in it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
from files import Tensor, lay_out, put_together, take_apart
from golden import toy_parts
from malformed import Change, model_change, orr, poke, resize, retype, without
from toy import BASES, Toy, make_toy

from sparserec.device import FoldIn, ModelParts, model_bytes


def added_golden() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every golden file of version 1.1."""
    yield from weight_files()


def added_malformed() -> Iterator[tuple[str, str, bytes]]:
    """Name, error name and bytes of every malformed file of version 1.1."""
    for source, cases in ((_weights_source(), _weight_cases()),):
        for name, error, change in cases:
            parts = take_apart(source)
            change(parts)
            yield name, error, put_together(*lay_out(parts))


def weighted(toy: Toy, mode: str, fold_in: FoldIn, **more: Any) -> ModelParts:
    """A toy whose users are weighted sums of item rows."""
    plain = toy_parts(toy, BASES["mf"], mode, 8, None)
    return ModelParts(**(plain.__dict__ | {"base": "history", "fold": (), "fold_in": fold_in} | more))


def random_weights(items: int, seed: int) -> list[float]:
    random = Random(seed)
    return [round(random.random() * 3, 2) if item % 7 else 0.0 for item in range(items)]


def weight_files() -> Iterator[tuple[str, bytes]]:
    toy = make_toy(200)
    yield "items-weights-of-degrees", model_bytes(weighted(toy, "items", FoldIn(exponent=0.1)))
    own = FoldIn(weight=random_weights(toy.items, 1), size_power=0.0, levels=8)
    yield "items-own-weights", model_bytes(weighted(toy, "items", own))
    yield (
        "personal-weights-mean",
        model_bytes(weighted(toy, "personal", FoldIn(exponent=0.0, size_power=1.0))),
    )
    many = make_toy(201, users=40, items=60, dim=5)
    few = FoldIn(exponent=0.25, levels=4)
    yield "items-few-degrees", model_bytes(weighted(many, "items", few, popularity=np.arange(60)[::-1] % 50))


def _weights_source() -> bytes:
    """Nine items; five levels of weights, so three bits each, and padding."""
    toy = make_toy(7, users=4, items=9, dim=12)
    weight = np.array([0.5, 0.25, 1.5, 0.5, 0.0, 2.0, 0.25, 0.5, 1.5])
    degree = np.array([1, 2, 3, 4, 5, 1, 2, 3, 4])
    return model_bytes(weighted(toy, "items", FoldIn(weight=weight), degree=degree))


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
