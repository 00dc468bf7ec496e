"""Questions put to a model: arguments, fallbacks, errors, the card, and a round trip through a real file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files import lay_out, put_together, take_apart
from golden import golden_files, toy_parts
from toy import BASES, make_toy

from sparserec.device import Item, ModelParts, errors, load, loads, model_bytes, write_model

TOY = make_toy(11)


def model_of(mode: str, **changes):  # type: ignore[no-untyped-def]
    parts = toy_parts(TOY, BASES["lightgcn"], mode, 8, None)
    return loads(model_bytes(ModelParts(**(parts.__dict__ | changes))))


def test_written_file_is_mapped_and_nothing_else_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "model.srec"
    write_model(path, toy_parts(TOY, BASES["lightgcn"], "items", 8, None))
    assert [file.name for file in path.parent.iterdir()] == ["model.srec"]
    assert load(path).self_test() == 8


def test_file_opens_with_the_safetensors_library(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "model.srec"
    write_model(path, toy_parts(TOY, BASES["lightgcn"], "full", 4, None))
    tensors = safetensors.load_file(path)
    assert tensors["filter.weight"].tolist() == [0.25] * 4 and "graph.class" in tensors


def test_popularity_when_nothing_liked_is_known() -> None:
    model = model_of("items", popularity=np.arange(TOY.items))
    best = list(range(TOY.items - 1, TOY.items - 4, -1))
    assert [item.id for item in model.recommend(history=[], k=3)] == best
    assert [item.id for item in model.recommend(k=3)] == best
    assert [item.id for item in model.recommend(history=["unknown"], k=3)] == best
    disliked = model.recommend(history=[best[0]], weights=[-1.0], k=2)
    assert [item.id for item in disliked] == best[1:]
    assert model.explain([], best[0]).contributions == []


def test_filters() -> None:
    tags = [["even" if item % 2 == 0 else "odd"] for item in range(TOY.items)]
    model = model_of("items", tags=tags, titles=[f"title {item}" for item in range(TOY.items)])
    everything = model.recommend(history=[1, 2], k=100)
    assert {item.id for item in everything} == set(range(TOY.items)) - {1, 2}
    assert everything[0].title == f"title {everything[0].id}"
    assert len(model.recommend(history=[1, 2], k=100, exclude_seen=False)) == TOY.items
    assert {item.id for item in model.recommend(history=[1, 2], k=100, tags=["even"])} == set(
        range(0, TOY.items, 2)
    ) - {2}
    both = model.recommend(history=[1, 2], k=100, tags=["even", "odd"])
    assert both == everything
    picked = model.recommend(history=[1, 2], k=100, allow=[4, 5, 6, 99], deny=[5], exclude=[6])
    assert [item.id for item in picked] == [4]


def test_catalogue_says_what_the_file_says() -> None:
    tags = [
        [name for name in ("even", "low") if item % 2 == 0 or (name == "low" and item < 3)]
        for item in range(TOY.items)
    ]
    titles = [f"title {item}" for item in range(TOY.items)]
    popularity = np.arange(TOY.items)[::-1] * 2
    model = model_of("items", tags=tags, titles=titles, popularity=popularity)
    expected = [Item(*row) for row in zip(range(TOY.items), titles, map(tuple, tags), popularity.tolist())]
    assert list(model.catalogue()) == expected
    assert model.item(4) == expected[4] and model.item("no such item") is None
    assert [one.id for one in model.recommend(history=[], k=3)] == [0, 1, 2]
    bare = model_of("items").item(0)
    assert bare is not None and bare.title is None and bare.tags == ()


def test_repeated_items_count_once() -> None:
    model = model_of("full")
    assert model.recommend(history=[3, 8, 3]) == model.recommend(history=[3, 8])


def test_one_id_alone_is_one_id_and_ids_may_come_in_anything() -> None:
    """`history="p0004"` once read its letters, ignored them as unknown and answered with what is popular."""
    ids = [f"p{item:04d}" for item in range(TOY.items)]
    model = model_of(
        "items", item_ids=ids, tags=[["a tag" if item % 2 else "other"] for item in range(TOY.items)]
    )
    listed = model.recommend(history=["p0004"], k=5)
    assert listed != model.recommend(history=[], k=5)
    assert model.recommend(history="p0004", k=5) == listed
    for some in (("p0004",), {"p0004"}, iter(["p0004"]), np.array(["p0004"])):
        assert model.recommend(history=some, k=5) == listed
    assert model.explain("p0004", "p0007") == model.explain(["p0004"], "p0007")
    assert "p0007" not in [item.id for item in model.recommend(history="p0004", deny="p0007", k=30)]
    assert [item.id for item in model.recommend(history="p0004", allow="p0007", k=30)] == ["p0007"]
    assert model.recommend(history="p0004", tags="a tag") == model.recommend(history="p0004", tags=["a tag"])
    counted = model_of("items")
    for one in (3, np.int64(3), np.array([3]), np.array([3.0]), "3"):
        assert counted.recommend(history=one, k=3) == counted.recommend(history=[3], k=3)


def test_scores_of_explanations_are_added_one_by_one() -> None:
    """0.1 ten times is not 1 that way, and it is where rounding is compensated for, as sum() does since Python 3.12."""

    class Tenths:
        def contributions(self, history: Any, item: int) -> np.ndarray:
            return np.full(len(history.items), 0.1)

    model = replace(model_of("items"), scorer=Tenths())
    assert model.explain(list(range(10)), 11).score == 0.9999999999999999


def test_dislikes_push_down() -> None:
    model = model_of("items")
    plain = {item.id: item.score for item in model.recommend(history=[3, 8], k=100)}
    disliked = {item.id: item.score for item in model.recommend(history=[3, 8], weights=[1.0, -1.0], k=100)}
    close = model.similar(8, k=1)[0].id
    assert disliked[close] < plain[close]


def test_questions_that_make_no_sense() -> None:
    model = model_of("full", tags=[[] for _ in range(TOY.items)])
    for wrong in (
        {"k": 0},
        {"k": 2.5},
        {"k": True},
        {"history": [1], "weights": ["a"]},
        {"history": [1], "weights": ["1"]},
        {"history": [1], "weights": [None]},
        {"history": [1], "weights": [True]},
        {"history": [1, 2], "weights": [True, 0.5]},
        {"history": [1, 2], "weights": [np.True_, 2]},
        {"history": [1], "weights": np.array([True])},
        {"history": [1], "weights": [[1.0]]},
        {"history": [1, 2], "weights": [[1.0], [1.0, 2.0]]},
        {"history": [1], "weights": 1.0},
        {"history": [[1, 2]]},
        {"history": [1.5]},
        {"history": [True]},
        {"history": [None]},
        {"history": {1: 2.0}},
        {"history": b"1"},
        {"history": [1], "deny": [[1]]},
        {"history": [1], "weights": [1.0, 2.0]},
        {"user": "user 1", "history": [1]},
    ):
        with pytest.raises(errors.BadQuery):
            model.recommend(**wrong)
    with pytest.raises(errors.BadQuery):
        model.recommend(history=[1], weights=[float("nan")])
    for k in (0, -1, 2.5, "3", None):
        with pytest.raises(errors.BadQuery):
            model.similar(1, k=k)
    for item in ([3, 4], 1.5, None):
        with pytest.raises(errors.BadQuery):
            model.similar(item)
    with pytest.raises(errors.UnknownUser):
        model.recommend(user="nobody")
    with pytest.raises(errors.UnknownItem):
        model.similar("nothing")
    with pytest.raises(errors.UnknownTag):
        model.recommend(tags=["none"])
    with pytest.raises(errors.UnknownUser):
        model_of("personal", user_id=None).recommend(user="None")


def test_personal_knows_its_one_user() -> None:
    model = model_of("personal")
    assert model.recommend(k=5) == model.recommend(user="me", k=5)
    assert not {3, 5} & {item.id for item in model.recommend(k=100)}


def test_another_question_after_a_first_one_is_not_answered_from_memory() -> None:
    model = model_of("full")
    first = model.recommend(user="user 0")
    assert model.recommend(user="user 1") == model_of("full").recommend(user="user 1")
    assert model.recommend(user="user 0") == first


def test_card_adds_up() -> None:
    data = model_bytes(toy_parts(TOY, BASES["lightgcn"], "items", 8, None))
    card = loads(data).card()
    assert sum(card["sections"].values()) == card["bytes"] == len(data)
    assert sum(card["tables"]["score"]["row_sizes"].values()) == TOY.items
    assert card["card"]["metrics"] == {"recall@20": 0.5} and "no interaction list" in card["data_inside"]
    json.dumps(card)


def test_self_test_notices_a_wrong_answer() -> None:
    parts = take_apart(model_bytes(toy_parts(TOY, BASES["lightgcn"], "items", 8, None)))
    queries = json.loads(parts.metadata["golden"])
    queries[2]["scores"][0] += 1e-3
    parts.metadata["golden"] = json.dumps(queries)
    with pytest.raises(errors.SelfTestFailed, match="golden query 2"):
        loads(put_together(*lay_out(parts))).self_test()
    queries[2]["scores"][0] -= 1e-3
    queries[3]["items"][:2] = queries[3]["items"][1::-1]
    parts.metadata["golden"] = json.dumps(queries)
    with pytest.raises(errors.SelfTestFailed, match="golden query 3: item"):
        loads(put_together(*lay_out(parts))).self_test()


def test_golden_histories_are_nobodys() -> None:
    """They depend on the number of items alone."""
    other = ModelParts(
        **(toy_parts(TOY, BASES["mf"], "full", 8, None).__dict__ | {"edges": (np.array([0]), np.array([0]))})
    )
    histories = [
        [query.history for query in loads(model_bytes(parts)).golden]
        for parts in (other, toy_parts(TOY, BASES["lightgcn"], "full", 8, None))
    ]
    assert histories[0] == histories[1]


def test_writer_says_what_is_missing() -> None:
    parts = toy_parts(TOY, BASES["lightgcn"], "items", 8, None)
    for lacking in ("score", "degree"):
        with pytest.raises(errors.CannotWrite, match=lacking):
            model_bytes(ModelParts(**(parts.__dict__ | {lacking: None})))
    with pytest.raises(errors.CannotWrite, match="edges"):
        model_bytes(ModelParts(**(toy_parts(TOY, BASES["mf"], "full", 8, None).__dict__ | {"edges": None})))


def test_grid_holds_every_mode_encoding_and_base() -> None:
    names = [name for name, _ in golden_files()]
    for mode in ("items", "full", "personal"):
        for encoding in ("bitmask", "byte-index", "dense"):
            for base in BASES:
                assert any(name.startswith(f"{mode}-{base}-{encoding}-int") for name in names)
