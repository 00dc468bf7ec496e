"""Reading the parts of a model from a container, each checked as docs/format.md says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from . import errors
from .container import Container
from .filter import graph_filter
from .fold_in import COUNTS, read_fold_in
from .graph import read_graph
from .memory_limit import CLASS_BYTES, NODE_BYTES
from .profile import Profile
from .rows import read_rows
from .scorers import FullScorer, ItemsScorer, NeighboursScorer, Scorer
from .table import check_padding
from .tables import read_any_table
from .term import Terms, coefficients_name, read_terms
from .text import TextTable, has_text, read_text


@dataclass(frozen=True)
class Tags:
    """Names of the tags, and which items have which."""

    names: TextTable
    bitset: np.ndarray  # (items, ceil(tags / 8)) uint8

    def of_item(self, item: int) -> tuple[str, ...]:
        """Names of an item's tags, each once."""
        bits = np.unpackbits(self.bitset[item], bitorder="little")
        return tuple(dict.fromkeys(self.names[int(tag)] for tag in np.flatnonzero(bits)))

    def items_with(self, tags: Iterable[str]) -> np.ndarray:
        """Items that have at least one of the tags: (items,) bool. A name that stands twice is one tag."""
        some = np.zeros(len(self.bitset), np.bool_)
        for tag in tags:
            numbers = self.names.places(tag)
            if not numbers:
                raise errors.UnknownTag(f"no tag {tag!r} in this file")
            for number in numbers:
                some |= (self.bitset[:, number >> 3] >> (number & 7) & 1).astype(np.bool_)
        return some


def read_scorer(container: Container, profile: Profile) -> Scorer:
    """What turns a history or a user into scores."""
    _check_rows(container, profile)
    weight = container.get(coefficients_name(container), ("F64",), (None,))
    if not 1 <= len(weight) <= 65 or not (np.abs(weight) <= 1e6).all():
        raise errors.BadCoefficients("the filter needs 1 to 65 finite coefficients of at most 1e6")
    if profile.mode == "full":
        return _read_full(container, profile, weight)
    if profile.mode == "neighbours":
        return _read_neighbours(container, profile)
    return _read_items(container, profile)


def _check_rows(container: Container, profile: Profile) -> None:
    """Levels may take no bytes, vectors in memory do: no file has more rows than bytes, and few have as many."""
    rows = profile.items + (profile.users if profile.mode == "full" else 0)
    payload = len(container.buffer) - container.payload_start
    if rows > payload:
        raise errors.WrongCount(f"{rows} rows cannot be in {payload} bytes")
    container.limit.take(NODE_BYTES * rows, f"scores and degrees of {rows:,} rows")
    graph = container.entries.get("graph.class")
    if profile.mode == "full" and graph is not None:
        container.limit.take(CLASS_BYTES * (graph.end - graph.begin), "the graph")


def _read_items(container: Container, profile: Profile) -> ItemsScorer:
    score = read_any_table(container, "score", profile.items, profile.dim)
    tables = range(profile.fold_tables)
    fold = tuple(read_any_table(container, f"fold.{q}", profile.items, profile.dim) for q in tables)
    weights = None
    if profile.size_power is None:
        degree = container.get("item.degree", COUNTS, (profile.items,))
    else:
        weights, degree = read_fold_in(container, profile.items, profile.size_power)
    vector = None
    if profile.mode == "personal":
        vector = container.get("user.vector", ("F32",), (profile.dim,))
        if not np.isfinite(vector).all():
            raise errors.BadVector("the user vector is not finite")
    return ItemsScorer(score, fold, degree, profile.self_loops, vector, weights)


def _read_neighbours(container: Container, profile: Profile) -> NeighboursScorer:
    assert profile.size_power is not None
    lists = read_rows(container, "lists", profile.items, profile.items)
    weights, degree = read_fold_in(container, profile.items, profile.size_power)
    return NeighboursScorer(lists, degree, weights)


def _read_full(container: Container, profile: Profile, weight: np.ndarray) -> FullScorer:
    layer0 = read_any_table(container, "layer0", profile.users + profile.items, profile.dim)
    graph = read_graph(container, profile.users, profile.items)
    norms = None
    if "item.norm" in container:
        norms = container.get("item.norm", ("F16", "F32"), (profile.items,))
        if not (np.isfinite(norms) & (norms >= 0)).all():
            raise errors.BadScale("tensor 'item.norm': a length is negative or not finite")
    return FullScorer(layer0, graph_filter(graph, profile.self_loops), weight, norms)


def read_item_terms(container: Container, profile: Profile, scorer: Scorer) -> Terms | None:
    """What is added to the score of each item, where the file says so."""
    weights = None if isinstance(scorer, FullScorer) else scorer.item_weights
    return read_terms(container, profile.items, weights)


def read_seen(container: Container, profile: Profile) -> np.ndarray:
    """Items that the one user of a personal file has seen already."""
    if profile.mode != "personal" or "user.seen" not in container:
        return np.zeros(0, np.int64)
    seen = container.get("user.seen", ("U32",), (None,))
    if (seen >= profile.items).any():
        raise errors.IndexOutOfRange("tensor 'user.seen' names an item that is not there")
    return seen.astype(np.int64)


def read_popularity(container: Container, profile: Profile, scorer: Scorer) -> np.ndarray:
    """How popular each item is; the degrees where the file says nothing else."""
    if "item.popularity" in container:
        return container.get("item.popularity", COUNTS, (profile.items,))
    return scorer.filter.graph.item_degree if isinstance(scorer, FullScorer) else scorer.degree


def read_tags(container: Container, profile: Profile) -> Tags | None:
    """Tags, where the file has them."""
    if not has_text(container, "tag") and "item.tags" not in container:
        return None
    names = read_text(container, "tag", None)
    bitset = container.get("item.tags", ("U8",), (profile.items, -(-len(names) // 8)))
    check_padding("item.tags", bitset, len(names))
    return Tags(names, bitset)
