"""Gaps in classes and terms of items, of format 1.2: by hand, there and back, and written only where they pay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from added import neighbours, random_lists, weighted
from golden import toy_parts
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import BASES, make_toy

from sparserec.device import FoldInWeights, ItemTerm, Model, ModelParts, encode_rows, loads, model_bytes
from sparserec.device import gap_classes as module
from sparserec.device.container import parse, serialise
from sparserec.device.encode import BYTES_TO_SAVE
from sparserec.device.errors import CannotWrite, TooLarge
from sparserec.device.gap_classes import code_lengths, encode_classes, read_classes
from sparserec.device.memory_limit import MemoryLimit
from sparserec.device.model import read_model
from sparserec.device.table import starts_of

TOY = make_toy(7, users=4, items=9, dim=12)


def test_classes_by_hand() -> None:
    """Columns 2, 7 and 0 1 2: steps 3, 5 and 1 1 1, of classes 1, 2, 0 0 0.

    Class 0 is the most frequent and gets one bit, the others two: canonical codes 0, 10, 11, the first bit lowest, so
    1 0, 1 1, 0 0 0 are the bits of 0b0001101. Extras: 3 - 2 in one bit, 5 - 4 in two: 1 10 are those of 0b011.
    """
    tensors = encode_classes(np.array([2, 7, 0, 1, 2]), np.array([2, 3]))
    assert tensors["gap.length"].tolist() == [1, 2, 2]
    assert tensors["gap.class"].tolist() == [0b0001101]
    assert tensors["gap.extra"].tolist() == [0b011]


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 2, 9, 200, 300, 70_000, 1 << 24]),
    st.integers(0, 40),
    st.sampled_from([1, 3, module.BLOCK_BYTES]),
)
def test_classes_there_and_back(seed: int, dim: int, rows: int, block: int) -> None:
    """However many bytes and gaps are read at a time."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, min(dim, 20) + 1, rows)
    columns = [np.unique(rng.integers(0, dim, 400))[:count] for count in counts]
    counts = np.array([len(row) for row in columns], np.int64)
    flat = np.concatenate([np.zeros(0, np.int64), *columns])
    tensors = {f"t.{name}": tensor for name, tensor in encode_classes(flat, counts).items()}
    container = parse(serialise({"format": "srec", "version": "1.2"}, tensors))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_BYTES", block)
        patch.setattr(module, "BLOCK_GAPS", 8 * block)
        read = read_classes(container, "t", starts_of(counts), dim)
    assert read.tolist() == flat.tolist()


@pytest.mark.parametrize(
    "counts", [[0, 0], [5, 0], [0, 0, 7], [1] * 24, [3, 5, 9], [1 << k for k in range(24)]]
)
def test_codes_are_complete_and_short(counts: list[int]) -> None:
    """2^-length of all codes add up to one, frequent classes have no longer codes than rare ones."""
    lengths = code_lengths(np.array(counts)).astype(int)
    used = lengths[lengths > 0]
    assert used.max() <= 8 and (2.0**-used).sum() == 1
    present = [place for place in np.argsort(counts)[::-1] if counts[place]]
    assert all(lengths[present]) and list(lengths[present]) == sorted(lengths[present])


def clustered(rows: int, dim: int, entries: int) -> np.ndarray:
    """Rows whose columns lie together, somewhere."""
    rng = np.random.default_rng(0)
    table = np.zeros((rows, dim))
    for row in table:
        row[rng.integers(dim - 4 * entries) + rng.choice(4 * entries, entries, replace=False)] = (
            1 + rng.random(entries)
        )
    return table


def test_classes_are_written_where_they_are_clearly_smaller() -> None:
    """Columns that lie together take a third less; for evenly spread ones readers of 1.1 are not shut out."""
    together = clustered(300, 2000, 16)
    chosen = encode_rows(together, 4)
    assert chosen.encoding == "gap classes" == encode_rows(together, 4, "gap classes").encoding
    bits = 8 * sum(chosen.tensors[f"gap.{part}"].nbytes for part in ("length", "class", "extra")) / (300 * 16)
    assert bits < 5.2  # of which log2 of the number of such rows has 4.3
    spread = np.random.default_rng(1).permuted(together, axis=1)
    assert encode_rows(spread, 4).encoding == "gaps"
    few = together[
        :10
    ]  # would save a third as well, but that is less than one more tensor in a header is worth
    assert encode_rows(few, 4).encoding == "gaps" and BYTES_TO_SAVE > 100


def versions(**changes: Any) -> str:
    parts = weighted(TOY, "items", FoldInWeights(0.2))
    return loads(model_bytes(replace(parts, **changes))).container.metadata["version"]


def test_files_have_the_oldest_version_that_can_hold_them() -> None:
    rows = np.abs(TOY.layer0[TOY.users :])
    plain = toy_parts(TOY, BASES["lightgcn"], "items", 8, None)
    assert loads(model_bytes(plain)).container.metadata["version"] == "1.0"
    assert versions() == versions(score=encode_rows(rows, 4)) == "1.1"
    assert versions(score=encode_rows(rows, 4, "gap classes")) == versions(term=ItemTerm(0.1)) == "1.2"


def termed(term: ItemTerm | None, mode: str = "items") -> Model:
    parts = weighted(TOY, mode, FoldInWeights(0.2), term=term)
    return loads(model_bytes(parts))


def test_a_term_is_added_to_every_score_and_to_nothing_else() -> None:
    """Item i gets i / 8: recommended scores and explained ones have it, similar items and popularity do not."""
    own = np.arange(TOY.items) / 8
    plain, model = termed(None), termed(ItemTerm(term=own))
    without, having = (
        {one.id: one.score for one in m.recommend(history=[1, 4], k=9)} for m in (plain, model)
    )
    assert having == {item: score + own[item] for item, score in without.items()}
    bare, reason = (m.explain([1, 4], 6) for m in (plain, model))
    assert (bare.term, reason.term) == (0.0, 0.75) and reason.contributions == bare.contributions
    assert reason.score == bare.score + 0.75 == sum(part.score for part in reason.contributions) + 0.75
    assert model.similar(3) == plain.similar(3)
    assert model.recommend(history=[]) == plain.recommend(history=[])
    assert model.explain([], 6).term == 0.0 and model.explain([], 6).score == plain.explain([], 6).score
    assert [one.score for one in termed(ItemTerm(term=own), "personal").recommend(k=9)] != [
        one.score for one in termed(None, "personal").recommend(k=9)
    ]


def test_terms_of_degrees_take_no_byte_an_item() -> None:
    """Where degrees are levels; weight * log(degree) of each, and of an item without users 0."""
    degree = np.array([1, 2, 2, 4, 8, 0, 1, 2, 8])
    parts = weighted(TOY, "items", FoldInWeights(0.2), term=ItemTerm(0.5), degree=degree)
    model = loads(model_bytes(parts))
    assert "item.term.level" not in model.container and model.terms is not None
    expected = (0.5 * np.log(np.maximum(degree, 1))).astype(np.float32)
    assert [model.terms[item] for item in range(9)] == expected.tolist()
    lists = encode_rows(random_lists(2, 9, signed=False), 4)
    listed = loads(model_bytes(neighbours(TOY, lists, FoldInWeights(0.2), term=ItemTerm(0.5), degree=degree)))
    assert listed.explain([0], 4).term == expected[4]


def test_own_terms_take_half_a_byte_an_item() -> None:
    """Sixteen levels, evenly spaced: the nearest of them, a thirtieth of the range away at most."""
    toy = make_toy(8, items=100)
    own = np.linspace(-1, 2, 100) ** 3
    model = loads(model_bytes(weighted(toy, "items", FoldInWeights(0.2), term=ItemTerm(term=own))))
    entry = model.container.entries["item.term.level"]
    assert entry.end - entry.begin == 50 and model.terms is not None
    assert max(abs(model.terms[item] - own[item]) for item in range(100)) <= 9 / 30 + 1e-6
    few = ItemTerm(term=own, levels=4)
    assert len(loads(model_bytes(weighted(toy, "items", FoldInWeights(0.2), term=few))).terms.value) == 4  # type: ignore[union-attr]


def test_readers_of_before_refuse_terms() -> None:
    """They look for the coefficients where they used to be."""
    model = termed(ItemTerm(0.3))
    assert "filter.weight" not in model.container and "filter.coefficient" in model.container
    assert "filter.weight" in termed(None).container


@pytest.mark.parametrize(
    "term",
    [
        ItemTerm(np.nan),
        ItemTerm(term=[1.0]),
        ItemTerm(term=[2e6] * 9),
        ItemTerm(term=[0.0, 1.0] * 4 + [2.0], levels=1),
    ],
)
def test_terms_that_cannot_be_written(term: ItemTerm) -> None:
    with pytest.raises(CannotWrite, match="term"):
        termed(term)


def test_terms_are_counted() -> None:
    """A byte an item where they have levels of their own."""
    own = ItemTerm(term=np.arange(TOY.items) / 8)
    data = [model_bytes(replace(_plain(), term=term)) for term in (None, own)]
    limits = [MemoryLimit(1 << 20), MemoryLimit(1 << 20)]
    for one, limit in zip(data, limits):
        read_model(replace(parse(one), limit=limit))
    used = (1 << 20) - limits[1].left
    assert limits[0].left - limits[1].left == TOY.items
    with pytest.raises(TooLarge):
        read_model(replace(parse(data[1]), limit=MemoryLimit(used - 1)))


def _plain() -> ModelParts:
    return toy_parts(TOY, BASES["lightgcn"], "items", 8, None)
