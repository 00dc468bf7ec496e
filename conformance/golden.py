"""The golden files: every mode, encoding and recommender, and the special cases, with the answers expected of any
reader.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
from files import Tensor, lay_out, put_together, take_apart
from toy import BASES, Base, Toy, item_tables, make_toy

from sparserec.device import (
    DeviceError,
    EncodedTable,
    Model,
    ModelParts,
    encode_table,
    fake_quantise,
    loads,
    model_bytes,
)
from sparserec.device.codecs import ENCODINGS

MODES = ("items", "full", "personal")
SPELLINGS: tuple[int | str, ...] = (
    0, "0", "-0", "+0", "00", "0.0", "0e0", "", " 0", 7, "7", "07", "007", "+7", "7.0", " 7", "7 ", "-7", -7, "-8", -8,
    "\u0667", "0x7", "1e1", "9007199254740993", "99999999999999999999",
)  # fmt: skip
CARD = {
    "producer": "sparserec conformance",
    "config_sha256": "0" * 64,
    "data_sha256": "0" * 64,
    "metrics": {"recall@20": 0.5},
}


def golden_files() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every golden file. Bits and kinds of ids take turns."""
    number = 0
    for mode in MODES:
        for encoding in ENCODINGS:
            for base_name, base in BASES.items():
                bits = (8, 4)[number % 2]
                parts = toy_parts(make_toy(number), base, mode, bits, encoding, ids=number % 3)
                yield f"{mode}-{base_name}-{encoding}-int{bits}", model_bytes(parts)
                number += 1
    yield from special_files()


def toy_parts(toy: Toy, base: Base, mode: str, bits: int, encoding: str | None, ids: int = 0) -> ModelParts:
    """A toy model in one of the modes."""

    def encode(table: np.ndarray) -> EncodedTable:
        return encode_table(table, bits, encoding)

    common: dict[str, Any] = {
        "mode": mode,
        "base": base.name,
        "weight": np.array(base.weight),
        "self_loops": base.self_loops,
        "users": toy.users,
        "item_ids": item_ids(toy.items, ids),
        "card": CARD,
    }
    if mode == "full":
        return ModelParts(
            **common,
            layer0=encode(toy.layer0),
            edges=toy.edges,
            user_ids=[f"user {u}" for u in range(toy.users)],
        )
    final, fold = item_tables(toy, fake_quantise(toy.layer0, bits).astype(np.float64), base)
    common |= {"score": encode(final), "fold": tuple(map(encode, fold)), "degree": toy.item_degree}
    if mode == "items":
        return ModelParts(**common)
    return ModelParts(**common, user_vector=final[3] + final[5], user_seen=np.array([3, 5]), user_id="me")


def item_ids(items: int, kind: int) -> Any:
    """Indices, scattered integers, or strings (some not ASCII), the latter two out of order."""
    if kind == 0:
        return None
    if kind == 1:
        return np.array([(item * 7919 + 13) % 1009 for item in range(items)])
    return [f"{'åéü文'[item % 4]}-{(item * 5) % items}" for item in range(items)]


def special_files() -> Iterator[tuple[str, bytes]]:
    """What the regular grid does not reach."""
    light = BASES["lightgcn"]
    wide = make_toy(100, items=10, dim=300)
    yield "items-two-byte-index", model_bytes(toy_parts(wide, light, "items", 8, "byte-index"))
    yield "items-wide-bitmask", model_bytes(toy_parts(wide, light, "items", 4, "bitmask"))
    toy = make_toy(101)
    plain = toy_parts(toy, light, "items", 8, None)
    final, _ = item_tables(toy, toy.layer0, light)
    yield "items-float32-scale", model_bytes(_with(plain, score=encode_table(final * 1e-6, 8)))
    yield "items-no-fold-tables", model_bytes(_with(plain, fold=()))
    yield "items-same-count", model_bytes(_with(plain, score=encode_table(_two_each(final), 8, "byte-index")))
    big = np.array([2**53 - 2 - item * 3 for item in range(toy.items)])
    yield "items-wide-integer-ids", model_bytes(_with(plain, item_ids=big))
    described = _with(
        plain,
        item_ids=[f"item-{item:02d}" for item in range(toy.items)],
        titles=[f"Title ☃ {item}" if item % 5 else "" for item in range(toy.items)],
        tags=[[f"tag{tag}" for tag in range(10) if (item + tag) % 4 == 0] for item in range(toy.items)],
        popularity=np.array([(item * 37) % 300 for item in range(toy.items)]),
    )
    yield "items-titles-tags-popularity", model_bytes(described)
    full = toy_parts(toy, light, "full", 8, None)
    norms = np.linalg.norm(
        item_tables(toy, fake_quantise(toy.layer0, 8).astype(np.float64), light)[0], axis=1
    )
    yield (
        "full-norms-titles",
        model_bytes(_with(full, item_norm=norms, titles=[f"T{i}" for i in range(toy.items)])),
    )
    yield "full-wide-gaps", model_bytes(_wide_gaps(light))
    yield "items-unknown-tensor-newer-minor", _newer_minor(model_bytes(plain))


def _wide_gaps(base: Base) -> ModelParts:
    """A graph whose gaps need extra bits: few edges among many items."""
    toy = make_toy(102, users=6, items=300, dim=4)
    pairs = sorted({(user, (user * 37 + step * step * 11) % 299) for user in range(6) for step in range(9)})
    parts = toy_parts(toy, base, "full", 4, None)
    return _with(parts, edges=(np.array([user for user, _ in pairs]), np.array([item for _, item in pairs])))


def _with(parts: ModelParts, **changes: Any) -> ModelParts:
    return ModelParts(**(parts.__dict__ | changes))


def _two_each(table: np.ndarray) -> np.ndarray:
    few = np.zeros_like(table)
    few[:, [2, 7]] = np.where(table[:, [2, 7]] == 0, 0.25, table[:, [2, 7]])
    return np.sign(few) * np.maximum(np.abs(few), 0.2 * (few != 0))


def _newer_minor(data: bytes) -> bytes:
    """A file of minor version 1.7 with a tensor, a metadata key and a model field nobody has heard of."""
    parts = take_apart(data)
    parts.metadata |= {"version": "1.7", "novelty": "ignore me"}
    parts.set_model(novel={"field": [1, 2]})
    parts.tensors = {"novel.thing": Tensor("BF16", [4], bytes(8))} | parts.tensors
    return put_together(*lay_out(parts))


def expected_results(data: bytes) -> dict[str, Any]:
    """Questions that use every argument, and this reader's answers."""
    model = loads(data)
    card = {key: model.card()[key] for key in ("mode", "base", "items", "users", "dim")}
    answers = [_answer(model, *question) for question in _questions(model)]
    if model.metadata.get("ask") == "refused":
        answers += [_refusal(model, *question) for question in _refused(model)]
    return {"card": card, "queries": answers}


def _questions(model: Model) -> list[tuple[str, dict[str, Any]]]:
    ids = [model.ids[index] for index in range(model.profile.items)]
    some = [ids[1], ids[4], ids[2], ids[4], "no such item"]
    questions: list[tuple[str, dict[str, Any]]] = [
        ("recommend", {"history": [], "k": 5}),
        ("recommend", {"history": some, "k": 6}),
        (
            "recommend",
            {"history": some, "k": 6, "weights": [1.0, 0.5, -1.0, 2.0, 1.0], "exclude_seen": False},
        ),
        ("recommend", {"history": [ids[0]], "k": 8, "exclude": [ids[3]], "deny": [ids[5]], "allow": ids[:8]}),
        ("recommend", {"history": [ids[6]], "k": 3, "weights": [-1.0]}),
        ("recommend", {"history": [ids[-1]], "k": 4}),
        ("explain", {"history": some, "item": ids[7]}),
        ("explain", {"history": some, "item": ids[0], "weights": [1.0, 0.0, -0.5, 1.0, 1.0]}),
        ("similar", {"item": ids[2], "k": 5}),
    ]
    if model.profile.mode == "full":
        users = (0, 5, model.profile.users - 1)
        questions += [("recommend", {"user": f"user {user}", "k": 7}) for user in users]
    if model.profile.mode == "personal":
        questions += [("recommend", {"k": 7}), ("recommend", {"user": "me", "k": 30, "exclude_seen": False})]
    if model.metadata.get("ask") == "spellings":
        questions += [("recommend", {"history": [spelt], "k": 3}) for spelt in SPELLINGS]
    if model.tags is not None:
        last = model.tags.names[len(model.tags.names) - 1]
        questions.append(("recommend", {"history": some, "k": 10, "tags": ["tag2", last]}))
        questions.append(("catalogue", {}))
    return questions


def _refused(model: Model) -> list[tuple[str, dict[str, Any]]]:
    """Questions that have no answer, to a file without users and without tags: each has one thing wrong."""
    known = model.ids[1]
    return [
        ("recommend", {"history": [known], "tags": []}),
        ("recommend", {"history": [known], "tags": ["no such tag"]}),
        ("recommend", {"user": "no such user"}),
        ("recommend", {"user": "no such user", "history": [known]}),
        ("recommend", {"history": [known], "weights": [2e6]}),
        ("recommend", {"history": [known], "k": 0}),
        ("similar", {"item": known, "k": 0}),
        ("similar", {"item": "no such item"}),
        ("explain", {"history": [known], "item": "no such item"}),
        ("explain", {"history": [known], "item": known, "weights": [-2e6]}),
    ]


def _refusal(model: Model, call: str, args: dict[str, Any]) -> dict[str, Any]:
    """The name of the error with which a question is refused."""
    try:
        getattr(model, call)(**args)
    except DeviceError as error:
        return {"call": call, "args": args, "error": type(error).__name__}
    raise AssertionError(f"{call} of {args} was answered")


def _answer(model: Model, call: str, args: dict[str, Any]) -> dict[str, Any]:
    if call == "catalogue":
        return {"call": call, "args": args, "catalogue": [asdict(item) for item in model.catalogue()]}
    if call == "explain":
        found = model.explain(**args)
        contributions = [[part.id, part.score] for part in found.contributions]
        term = {} if model.terms is None else {"term": found.term}
        return {"call": call, "args": args, "contributions": contributions, "score": found.score} | term
    answer = model.recommend(**args) if call == "recommend" else model.similar(**args)
    found_items = [item.id for item in answer]
    result: dict[str, Any] = {
        "call": call,
        "args": args,
        "items": found_items,
        "scores": [item.score for item in answer],
    }
    if model.titles is not None:
        result["titles"] = [item.title for item in answer]
    return result


def to_json(value: Any) -> bytes:
    """JSON with one query a line: small, and a change of one shows as one line."""
    if not isinstance(value, dict) or "queries" not in value:
        return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
    lines = ",\n".join(json.dumps(query, ensure_ascii=False) for query in value["queries"])
    return f'{{"card": {json.dumps(value["card"])},\n"queries": [\n{lines}\n]}}\n'.encode()
