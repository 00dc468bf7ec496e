"""Random questions to random models: the C reader answers as the others do, bit by bit, or fails by the same name."""

from __future__ import annotations

import ctypes
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from added import neighbours, random_codes, random_lists, random_weights, weighted
from compiled import ROOT, CModel, CReaderError, Question, run
from golden import toy_parts
from toy import BASES, item_tables, make_toy

from absent import absent
from sparserec.device import (
    DeviceError,
    FoldInWeights,
    ItemTerm,
    Model,
    ModelParts,
    encode_codes,
    encode_rows,
    loads,
    model_bytes,
)

QUESTIONS = 10_000
ENCODINGS = ("bitmask", "byte-index", "dense")


def models() -> Iterator[tuple[str, bytes]]:
    """Every mode, encoding and kind of weights, with more rows and columns than the conformance folder has."""
    yield from wide_models()
    yield from narrow_models()
    toy = make_toy(402, users=30, items=300, dim=12)
    for name, parts in (
        ("own weights", weighted(toy, "items", FoldInWeights(weight=random_weights(300, 3), size_power=0.0))),
        ("mean", weighted(toy, "personal", FoldInWeights(exponent=0.3, size_power=1.0))),
        ("terms", weighted(toy, "items", FoldInWeights(0.1), term=ItemTerm(term=random_weights(300, 4)))),
        ("titles and tags", described(toy_parts(toy, BASES["lightgcn"], "items", 8, None))),
    ):
        yield name, model_bytes(parts)


def wide_models() -> Iterator[tuple[str, bytes]]:
    toy = make_toy(400, users=40, items=150, dim=20)
    for number, mode in enumerate(("items", "full", "personal")):
        for base in ("lightgcn", "mgdcf-loops", "mf"):
            for bits, encoding in ((8, ENCODINGS[number]), (4, ENCODINGS[number - 1])):
                yield (
                    f"{mode} {base} {encoding} {bits}",
                    model_bytes(toy_parts(toy, BASES[base], mode, bits, encoding)),
                )


def narrow_models() -> Iterator[tuple[str, bytes]]:
    toy = make_toy(401, users=30, items=700, dim=24)
    final, _ = item_tables(toy, toy.layer0, BASES["mf"])
    kinds = (
        ("gaps", 4, True),
        ("gaps", 3, False),
        ("gap classes", 4, True),
        ("gap classes", 3, False),
        ("prefix", 5, False),
        ("prefix", 2, True),
        ("all", 6, False),
    )
    tables = {f"{where} {bits}": encode_rows(final, bits, where, unit) for where, bits, unit in kinds}
    tables["codes"] = encode_codes(*random_codes(5, 700, 4, 16, 6), 8, np.arange(700) % 5 / 4)
    tables["wide codes"] = encode_codes(*random_codes(6, 700, 3, 200, 8))
    for name, table in tables.items():
        yield name, model_bytes(weighted(toy, "items", FoldInWeights(0.2), score=table))
    full = toy_parts(toy, BASES["mgdcf-loops"], "full", 8, None)
    for name, layer0 in (
        ("full gaps", encode_rows(toy.layer0, 4)),
        ("full gap classes", encode_rows(toy.layer0, 4, "gap classes")),
        ("full codes", encode_codes(*random_codes(7, 730, 4, 9, 6))),
    ):
        yield name, model_bytes(ModelParts(**(full.__dict__ | {"layer0": layer0})))
    lists = encode_rows(random_lists(8, 700, signed=True), 5)
    yield "neighbours", model_bytes(neighbours(toy, lists, FoldInWeights(0.3)))
    lists = encode_rows(random_lists(9, 700, signed=True), 5, "gap classes")
    yield "termed neighbours", model_bytes(neighbours(toy, lists, FoldInWeights(0.3), term=ItemTerm(0.4)))


def described(parts: ModelParts) -> ModelParts:
    items = len(parts.degree) if parts.degree is not None else 300
    return ModelParts(**(parts.__dict__ | {
        "titles": [f"Title {item % 7} ☃" for item in range(items)],
        "tags": [[f"tag{tag}" for tag in range(10) if (item + tag) % 4 == 0] for item in range(items)],
        "popularity": np.arange(items) * 37 % 300,
    }))  # fmt: skip


def python_answer(model: Model, call: str, args: dict[str, Any]) -> Any:
    if call == "explain":
        found = model.explain(**args)
        return found.score, [(part.id, part.score) for part in found.contributions]
    return [(one.id, one.score, one.title) for one in getattr(model, call)(**args)]


def outcome(ask: Any, *arguments: Any) -> Any:
    try:
        return ask(*arguments)
    except CReaderError as error:
        return str(error)
    except DeviceError as error:
        return type(error).__name__


def question(random: Random, model: Model) -> tuple[str, dict[str, Any]]:
    ids = [model.ids[index] for index in range(model.profile.items)]

    def some(most: int) -> list[Any]:
        return [
            random.choice(ids) if random.random() < 0.95 else "not there"
            for _ in range(random.randrange(most))
        ]

    history = some(random.choice((3, 20, 300)))
    weights = [
        random.choice((1.0, 0.5, -1.0, 0.0, random.gauss(0, 3), 1e6, 2e6 if random.random() < 0.02 else 1.0))
        for _ in history
    ]
    call = random.choice(("recommend", "recommend", "recommend", "explain", "similar"))
    if call == "similar":
        return call, {"item": random.choice([*ids, "not there"]), "k": random.choice((1, 5, len(ids)))}
    args: dict[str, Any] = {"history": history}
    if random.random() < 0.7:
        args["weights"] = weights
    if call == "explain":
        return call, args | {"item": random.choice(ids)}
    if random.random() < 0.2:
        args = {"user": random.choice(("user 0", "user 7", "me", "nobody"))}
    if model.profile.mode == "personal" and random.random() < 0.3:
        args = {}
    optional = {
        "k": random.choice((1, 7, 20, 2 * len(ids))), "exclude": some(9), "deny": some(9), "allow": some(len(ids)),
        "tags": [random.choice(("tag2", "tag9", "tag0", "no tag" if random.random() < 0.1 else "tag3"))],
        "exclude_seen": random.random() < 0.5,
    }  # fmt: skip
    chances = {"allow": 0.2, "tags": 0.1 if model.tags is None else 0.5}
    return call, args | {
        key: value for key, value in optional.items() if random.random() < chances.get(key, 0.5)
    }


def asked(name: str, python: Model) -> list[tuple[str, dict[str, Any]]]:
    """The questions that a model is asked: the same in every run."""
    random = Random(name)
    return [question(random, python) for _ in range(QUESTIONS // len(MODELS) + 1)]


def c_answer(model: CModel, call: str, args: dict[str, Any]) -> Any:
    return getattr(model, call)(**args)


MODELS = dict(models())


@pytest.mark.parametrize("name", MODELS)
def test_random_questions(reader: ctypes.CDLL, name: str) -> None:
    python, c = loads(MODELS[name]), CModel(reader, MODELS[name])
    assert c.self_test() == python.self_test()
    questions, failed = asked(name, python), 0
    for call, args in questions:
        expected = outcome(python_answer, python, call, args)
        failed += isinstance(expected, str)
        assert outcome(c_answer, c, call, args) == expected, (call, args)
    assert failed < len(questions) / 2


ASK_IN_NODE = """
  import { readFileSync } from 'node:fs'
  import { loadFile } from '%s'
  const plain = ({ id, score, title }) => [id, score, title]
  for (const [path, questions] of JSON.parse(readFileSync(0, 'utf8'))) {
    const model = await loadFile(path)
    const answers = questions.map(([call, { exclude_seen: excludeSeen, ...args }]) => {
      try {
        const found = model[call](excludeSeen === undefined ? args : { ...args, excludeSeen })
        if (call !== 'explain') return found.map(plain)
        return [found.score, found.contributions.map(({ id, score }) => [id, score])]
      } catch (error) { return error.name }
    })
    console.log(JSON.stringify(answers))
  }
"""


def test_javascript_says_the_same(reader: ctypes.CDLL, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        absent("node is not installed: the C reader is not compared with the JavaScript reader")
    lists = []
    for number, (name, data) in enumerate(MODELS.items()):
        path = tmp_path / f"{number}.srec"
        path.write_bytes(data)
        lists.append((str(path), asked(name, loads(data))))
    script = tmp_path / "ask.mjs"
    script.write_text(ASK_IN_NODE % (ROOT / "js" / "node.js").as_uri(), encoding="utf-8")
    lines = run([node, script], json.dumps(lists).encode()).splitlines()
    for data, (path, questions), line in zip(MODELS.values(), lists, lines, strict=True):
        model = CModel(reader, data)
        for (call, args), answer in zip(questions, json.loads(line), strict=True):
            assert json.loads(json.dumps(outcome(c_answer, model, call, args))) == answer, (path, call, args)


def test_a_stored_user_is_not_explained(reader: ctypes.CDLL) -> None:
    """Its history is not in the question: the answer would be that of nobody's, popularity."""
    model = CModel(reader, MODELS["full mf bitmask 4"])
    asked, found, score = Question(by_user=1, user=1), ctypes.c_size_t(), ctypes.c_double()
    code = reader.srec_explain(
        model.model, ctypes.byref(asked), 3, None, ctypes.byref(found), ctypes.byref(score)
    )
    assert reader.srec_name(code) == b"BadQuery"


def long_models() -> Iterator[tuple[str, bytes]]:
    """More items than one block of a sum has rows."""
    items = 5000
    random = np.random.default_rng(9)
    toy = make_toy(403, users=3, items=items, dim=4)
    yield "dense", model_bytes(weighted(toy, "items", FoldInWeights(0.2)))
    gaps = encode_rows(np.where(random.random((items, 4)) < 0.5, random.normal(size=(items, 4)), 0.0), 4)
    yield "gaps", model_bytes(weighted(toy, "items", FoldInWeights(0.2), score=gaps))
    codes = encode_codes(*random_codes(5, items, 2, 16, 2))
    yield "codes", model_bytes(weighted(toy, "items", FoldInWeights(0.2), score=codes))
    full = toy_parts(toy, BASES["mgdcf-loops"], "full", 8, None)
    yield "full", model_bytes(full)
    for name, layer0 in (
        ("full gaps", encode_rows(toy.layer0, 3)),
        ("full gap classes", encode_rows(toy.layer0, 3, "gap classes")),
        ("full codes", encode_codes(*random_codes(7, items + 3, 2, 9, 2))),
    ):
        yield name, model_bytes(ModelParts(**(full.__dict__ | {"layer0": layer0})))
    lists = encode_rows(
        np.where(random.random((items, items)) < 0.002, random.normal(size=(items, items)), 0.0), 5
    )
    yield "neighbours", model_bytes(neighbours(toy, lists, FoldInWeights(0.3)))


def test_histories_of_more_than_a_block(reader: ctypes.CDLL) -> None:
    random = Random(3)
    for name, data in long_models():
        python, c = loads(data), CModel(reader, data)
        ids = [python.ids[index] for index in range(5000)]
        history = random.sample(ids, 4700) + ids[:400]
        weights = [random.gauss(0.2, 1) for _ in history]
        args = {"history": history, "weights": weights, "exclude_seen": False, "k": 5000}
        assert c_answer(c, "recommend", args) == python_answer(python, "recommend", args), name
