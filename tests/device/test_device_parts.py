"""Graph coding, ids, text and ranking, each against the obvious way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparserec.device import filter as filter_module
from sparserec.device import graph as graph_module
from sparserec.device.container import parse, serialise
from sparserec.device.errors import CannotWrite
from sparserec.device.filter import graph_filter
from sparserec.device.graph import best_widths, encode_graph, read_graph
from sparserec.device.ids import id_tensors, read_ids
from sparserec.device.text import read_text, text_tensors
from sparserec.device.top_k import top

HEAD = {"format": "srec", "version": "1.0"}


def stored(tensors):  # type: ignore[no-untyped-def]
    """The tensors after a trip through a file."""
    return parse(serialise(HEAD, tensors))


def test_graph_by_hand() -> None:
    """User 0 has items 2 and 4: gaps 2, 1. User 1 none. User 2 has item 0: gap 0."""
    tensors = encode_graph(np.array([2, 0, 0]), np.array([0, 4, 2]), 3)
    assert tensors["graph.count"].tolist() == [2, 0, 1]
    assert tensors["graph.width"].tolist() == [0] * 16  # classes 0 to 15 hold the gaps 0 to 15
    assert tensors["graph.class"].tolist() == [2 | 1 << 4, 0]
    assert tensors["graph.extra"].tolist() == []


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from([1, 20, 3000, 2_000_000]))
def test_graph_round_trip(seed: int, users: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.unique(rng.integers(0, [users, items], (int(rng.integers(0, 200)), 2)), axis=0)
    shuffled = rng.permutation(pairs)
    tensors = encode_graph(shuffled[:, 0], shuffled[:, 1], users)
    graph = read_graph(stored(tensors), users, items)
    assert graph.item.tolist() == pairs[:, 1].tolist()
    assert graph.count.tolist() == np.bincount(pairs[:, 0], minlength=users).tolist()
    assert [graph.items_of(u).tolist() for u in range(users)] == [
        pairs[pairs[:, 0] == u, 1].tolist() for u in range(users)
    ]


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoding and multiplying in blocks of eight edges gives the bits that one block gives."""
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(0, [40, 500], (300, 2)), axis=0)
    container = stored(encode_graph(pairs[:, 0], pairs[:, 1], 42))
    x = (rng.standard_normal(42), rng.standard_normal(500))

    def everything() -> list[list[float]]:
        graph = read_graph(container, 42, 500)
        users, items = graph_filter(graph, self_loops=True).step(x)
        return [graph.item.tolist(), users.tolist(), items.tolist()]  # type: ignore[union-attr]

    whole = everything()
    monkeypatch.setattr(graph_module, "BLOCK_EDGES", 8)
    monkeypatch.setattr(filter_module, "BLOCK_EDGES", 8)
    assert everything() == whole


def test_widths_are_close_to_the_best_on_known_gaps() -> None:
    """All gaps below 16 need no extra bits; one gap in 100 far out must not widen the others."""
    assert best_widths(np.arange(16)).tolist() == [0] * 16
    gaps = np.array([0, 1, 2] * 99 + [5000])
    widths = best_widths(gaps)
    assert widths[:3].tolist() == [0, 0, 0] and (1 << widths).sum() > 5000


def test_same_pair_twice_is_refused() -> None:
    with pytest.raises(CannotWrite, match="twice"):
        encode_graph(np.array([0, 0]), np.array([1, 1]), 1)


unique_texts = st.lists(st.text(max_size=12), unique=True, max_size=40)
unique_integers = st.lists(st.integers(-(2**53) + 2, 2**53 - 2), unique=True, min_size=1, max_size=40)


@given(st.one_of(unique_texts, unique_integers))
def test_every_id_is_found_and_others_are_not(ids: list) -> None:
    array = np.array(ids) if ids and isinstance(ids[0], int) else ids
    kind, tensors = id_tensors("item.id", array)
    read = read_ids(stored(tensors), "item.id", kind, len(ids))
    assert [read[index] for index in range(len(ids))] == ids
    assert [read.find(identifier) for identifier in ids] == list(range(len(ids)))
    assert read.find("no such id") is None and read.find(2**53 - 1) is None


def test_range_ids_take_no_bytes_and_wide_integers_become_text() -> None:
    assert id_tensors("item.id", np.arange(5)) == ("range", {})
    assert id_tensors("item.id", None) == ("range", {})
    kind, tensors = id_tensors("item.id", np.array([2**60, 5]))
    read = read_ids(stored(tensors), "item.id", kind, 2)
    assert kind == "string" and read.find(2**60) == 0 and read[1] == "5"


def test_numbers_are_found_as_text_and_the_reverse() -> None:
    kind, tensors = id_tensors("item.id", np.array([30, 10]))
    read = read_ids(stored(tensors), "item.id", kind, 2)
    assert read.find("10") == 1 and read.find("010") is None and read.find("-") is None


def test_ids_that_repeat_are_refused() -> None:
    for ids in (["a", "b", "a"], np.array([7, 7])):
        with pytest.raises(CannotWrite, match="twice"):
            id_tensors("item.id", ids)


@given(st.lists(st.text(max_size=10), max_size=20))
def test_text_round_trip(strings: list[str]) -> None:
    table = read_text(stored(text_tensors("item.title", strings)), "item.title", len(strings))
    assert [table[index] for index in range(len(table))] == strings


def test_half_a_surrogate_is_refused() -> None:
    with pytest.raises(CannotWrite, match="surrogate"):
        text_tensors("item.title", ["\ud800"])


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=60), st.integers(1, 70), st.integers(0, 10**6))
def test_top_breaks_ties_by_position(values: list[int], k: int, seed: int) -> None:
    scores = np.array(values, np.float64)
    allowed = np.random.default_rng(seed).random(len(values)) < 0.7
    expected = sorted(np.flatnonzero(allowed).tolist(), key=lambda index: (-values[index], index))[:k]
    assert top(scores, k, allowed).tolist() == expected
