"""Writing a model file from plain arrays, atomically, with golden queries answered by the reader itself."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .codecs import ENCODINGS, EncodedTable
from .container import MAJOR, MINOR, serialise
from .errors import CannotWrite
from .fold_in import FoldInWeights
from .graph import encode_graph, smallest_counts
from .ids import id_tensors
from .model import Model, loads
from .term import COEFFICIENTS, PLAIN_COEFFICIENTS, ItemTerm
from .text import text_tensors
from .top_k import top

Ids = Sequence[str] | np.ndarray | None
GOLDEN_TOP = 10


@dataclass(frozen=True)
class ModelParts:
    """Everything a file can hold. Which parts a mode needs is in docs/format.md; the writer says what is missing."""

    mode: str
    base: str
    weight: np.ndarray  # (layers + 1,) filter coefficients w_0 .. w_L
    self_loops: bool = False
    score: EncodedTable | None = None  # final item vectors: items, personal
    fold: tuple[EncodedTable, ...] = ()  # tables for new users; none: the scoring table stands in
    degree: np.ndarray | None = None  # (items,) interactions of each item: items, personal
    fold_in: FoldInWeights | None = None  # weights of items in a history; None: by their degrees
    term: ItemTerm | None = None  # what is added to the score of each item; None: nothing
    lists: EncodedTable | None = None  # row i: how much item i speaks for each other one: neighbours
    layer0: EncodedTable | None = None  # users then items: full
    edges: tuple[np.ndarray, np.ndarray] | None = None  # distinct (user, item) index pairs: full
    users: int = 0
    popularity: np.ndarray | None = None  # (items,) counts where they differ from the degrees
    item_norm: np.ndarray | None = None  # (items,) lengths of the final item vectors: full
    item_ids: Ids = None  # None: the id is the index
    user_ids: Ids = None
    titles: Sequence[str] | None = None
    tags: Sequence[Sequence[str]] | None = None  # tags of each item
    user_vector: np.ndarray | None = None  # (dim,) personal
    user_seen: np.ndarray | None = None  # item indices: personal
    user_id: str | int | None = None
    card: dict[str, Any] = field(default_factory=dict)  # producer, hashes, metrics, licence ..
    golden_histories: Sequence[Sequence[int]] | None = None  # item indices; None: a few drawn at random


def write_model(path: str | Path, parts: ModelParts) -> Model:
    """Write a file under a temporary name, sync and rename it; returns the model read back from the bytes written."""
    data = model_bytes(parts)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return loads(data)


def model_bytes(parts: ModelParts) -> bytes:
    """The bytes of a file. It is built twice: the reader answers the golden queries of the first."""
    metadata, tensors = _assemble(parts)
    model = loads(serialise(metadata, tensors))
    histories = parts.golden_histories
    golden = answer_golden(model, made_up_histories(model.profile.items) if histories is None else histories)
    return serialise(metadata | {"golden": _json(golden)}, tensors)


def made_up_histories(items: int, seed: int = 0) -> list[list[int]]:
    """Six histories of one to eight random items, and an empty one: nobody's."""
    rng = np.random.default_rng(seed)
    sizes = [0, 1, 2, 3, 5, 8, 8]
    return [rng.choice(items, min(size, items), replace=False).tolist() for size in sizes]


def answer_golden(model: Model, histories: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """Golden queries with the answers this reader gives: the histories, one with a dislike, and known users."""
    queries: list[dict[str, Any]] = [{"history": list(history)} for history in histories]
    longest = max(histories, key=len, default=[])
    if len(longest) > 1:
        queries.append({"history": list(longest), "weights": [1.0] * (len(longest) - 1) + [-1.0]})
    known = {"full": min(2, model.profile.users), "personal": 1}.get(model.profile.mode, 0)
    queries += [{"user": user} for user in range(known)]
    for query in queries:
        scores, seen = model.score_indices(query.get("user"), query.get("history"), query.get("weights"))
        allowed = np.ones(len(scores), np.bool_)
        allowed[seen] = False
        items = top(scores, GOLDEN_TOP, allowed)
        query |= {"items": items.tolist(), "scores": scores[items].tolist()}
    return queries


def _assemble(parts: ModelParts) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    full = parts.mode == "full"
    name = {"full": "layer0", "neighbours": "lists"}.get(parts.mode, "score")
    main: EncodedTable | None = getattr(parts, name)
    if main is None:
        raise CannotWrite(f"mode {parts.mode!r} needs the table {name!r}")
    items = main.rows - parts.users if full else main.rows
    coefficients = PLAIN_COEFFICIENTS if parts.term is None else COEFFICIENTS
    tensors: dict[str, np.ndarray] = {coefficients: np.asarray(parts.weight, np.float64)}
    tensors |= _full_tensors(parts) if full else _items_tensors(parts)
    tensors |= _term_tensors(parts, items, tensors.get("item.degree.value"))
    tensors |= _optional_tensors(parts, items)
    item_ids, id_parts = id_tensors("item.id", parts.item_ids)
    profile: dict[str, Any] = {
        "mode": parts.mode,
        "base": parts.base,
        "items": int(items),
        "users": int(parts.users),
        "dim": 1 if name == "lists" else int(main.dim),
        "self_loops": bool(parts.self_loops),
        "fold_tables": len(parts.fold),
        "item_ids": item_ids,
    }
    tensors |= id_parts
    if full:
        profile["user_ids"], id_parts = id_tensors("user.id", parts.user_ids)
        tensors |= id_parts
    elif parts.user_id is not None:
        profile["user_id"] = parts.user_id
    if parts.fold_in is not None:
        profile["fold_in"] = {"size_power": parts.fold_in.size_power}
    about = {"model": _json(profile), "card": _json(parts.card)}
    return {"format": "srec", "version": _version(parts), **about}, tensors


def _version(parts: ModelParts) -> str:
    """The oldest that can hold these parts."""
    tables = (parts.score, parts.lists, parts.layer0, *parts.fold)
    encodings = {table.encoding for table in tables if table is not None}
    if parts.term is not None or "gap classes" in encodings:
        return f"{MAJOR}.{MINOR}"
    return "1.1" if parts.fold_in is not None or not encodings <= set(ENCODINGS) else "1.0"


def _table_tensors(name: str, table: EncodedTable) -> dict[str, np.ndarray]:
    return {f"{name}.{part}": tensor for part, tensor in table.tensors.items()}


def _items_tensors(parts: ModelParts) -> dict[str, np.ndarray]:
    if parts.degree is None or (parts.lists is not None and parts.fold_in is None):
        raise CannotWrite(f"mode {parts.mode!r} needs 'degree', and 'fold_in' with 'lists'")
    degree = np.asarray(parts.degree)
    tensors: dict[str, np.ndarray] = {}
    for name, table in (("score", parts.score), ("lists", parts.lists)):
        tensors |= {} if table is None else _table_tensors(name, table)
    if parts.fold_in is None:
        tensors["item.degree"] = smallest_counts(degree)
    else:
        tensors |= parts.fold_in.tensors(degree)
    for number, table in enumerate(parts.fold):
        tensors |= _table_tensors(f"fold.{number}", table)
    if parts.mode == "personal":
        if parts.user_vector is None:
            raise CannotWrite("mode 'personal' needs 'user_vector'")
        tensors["user.vector"] = np.asarray(parts.user_vector, np.float32)
        if parts.user_seen is not None:
            tensors["user.seen"] = np.asarray(parts.user_seen, np.uint32)
    return tensors


def _full_tensors(parts: ModelParts) -> dict[str, np.ndarray]:
    if parts.layer0 is None or parts.edges is None:
        raise CannotWrite("mode 'full' needs 'layer0' and 'edges'")
    tensors = _table_tensors("layer0", parts.layer0) | encode_graph(*parts.edges, parts.users)
    if parts.item_norm is not None:
        tensors["item.norm"] = np.asarray(parts.item_norm, np.float32)
    return tensors


def _term_tensors(parts: ModelParts, items: int, degree_values: np.ndarray | None) -> dict[str, np.ndarray]:
    if parts.term is None:
        return {}
    degree = parts.degree
    if degree is None:
        assert parts.edges is not None
        degree = np.bincount(np.asarray(parts.edges[1]), minlength=items)
    return parts.term.tensors(np.asarray(degree), degree_values)


def _optional_tensors(parts: ModelParts, items: int) -> dict[str, np.ndarray]:
    tensors: dict[str, np.ndarray] = {}
    if parts.popularity is not None:
        tensors["item.popularity"] = smallest_counts(np.asarray(parts.popularity))
    if parts.titles is not None:
        tensors |= text_tensors("item.title", parts.titles)
    if parts.tags is not None:
        names = sorted({tag for tags in parts.tags for tag in tags})
        number = {name: at for at, name in enumerate(names)}
        present = np.zeros((items, len(names)), np.bool_)
        for item, tags in enumerate(parts.tags):
            present[item, [number[tag] for tag in tags]] = True
        tensors |= text_tensors("tag", names)
        tensors["item.tags"] = np.packbits(present, axis=1, bitorder="little")
    return tensors


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
