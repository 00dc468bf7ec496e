"""One user or many, one history or many, in whatever they come: the same answers, and a word for what is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from kinds_toy import N_ITEMS

import sparserec
from sparserec.errors import RunError, SettingError, SparserecError
from sparserec.serving import QuestionError

HISTORY = ["i02", "i06", "i01"]


@pytest.fixture(scope="module")
def file(model: sparserec.Model, tmp_path_factory: pytest.TempPathFactory) -> sparserec.FileModel:
    path = tmp_path_factory.mktemp("file") / "small.srec"
    model.export(path, min_users=0, encoding={"kind": "int", "bits": 8, "keep": 16, "fold": "own"})
    found = sparserec.load(path)
    assert isinstance(found, sparserec.FileModel)
    return found


@pytest.fixture(params=["run", "file"])
def any_model(request: pytest.FixtureRequest, model: sparserec.Model, file: sparserec.FileModel) -> Any:
    return model if request.param == "run" else file


@pytest.mark.parametrize(
    "some",
    [np.array, tuple, pandas.Series, polars.Series, iter, lambda ids: np.array(ids, object)],
    ids=["array", "tuple", "pandas", "polars", "iterator", "objects"],
)
def test_a_history_is_any_iterable(any_model: Any, some: Callable) -> None:
    assert any_model.recommend(history=some(HISTORY), k=4) == any_model.recommend(history=HISTORY, k=4)
    why = any_model.explain(history=some(HISTORY), item="i10")
    assert why == any_model.explain(history=HISTORY, item="i10")


def test_a_text_is_one_id(any_model: Any) -> None:
    assert any_model.recommend(history="i02", k=4) == any_model.recommend(history=["i02"], k=4)
    assert any_model.recommend(history=["i02"], allow="i06", k=2).ids == ["i06"]
    assert "i06" not in any_model.recommend(history=["i02"], deny="i06", k=20).ids


def test_several_histories_are_answered_row_by_row(any_model: Any) -> None:
    several = [["i02", "i06"], np.array(["i03"]), []]
    found = any_model.recommend(history=several, k=4)
    ids, scores = found
    assert ids.shape == scores.shape == (3, 4)
    for row, history in enumerate(several):
        alone = any_model.recommend(history=history, k=4)
        assert ids[row].tolist() == alone.ids
        np.testing.assert_allclose(scores[row], alone.scores, rtol=1e-5)
    short = any_model.recommend(history=several, k=4, allow=["i02", "i10"])
    assert short.ids[0].tolist() == ["i10", "", "", ""] and short.scores[0, 1] == -np.inf
    frame = short.to_frame()
    assert frame["history"].tolist() == [0, 1, 1, 2, 2] and frame["rank"].tolist() == [1, 1, 2, 1, 2]


def test_answers_become_frames(model: sparserec.Model) -> None:
    one = model.recommend("u05", k=3)
    frame = one.to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame) == ["rank", "item", "title", "score"]
    assert frame["item"].tolist() == one.ids and frame["title"].tolist() == one.titles
    assert isinstance(one.to_frame("polars"), polars.DataFrame)
    many = model.recommend(pandas.Series(["u05", "u06"]), k=2).to_frame()
    assert list(many) == ["user", "rank", "item", "title", "score"]
    assert many["user"].tolist() == ["u05", "u05", "u06", "u06"]
    assert many["item"].tolist() == model.recommend("u05", k=2).ids + model.recommend("u06", k=2).ids
    assert many["title"][0] == model.recommend("u05", k=2)[0].title
    with pytest.raises(SettingError, match="'excel' is not one of pandas"):
        one.to_frame("excel")


def test_titles_in_a_notebook_are_harmless(model: sparserec.Model) -> None:
    named = sparserec.serving.Recommendations(
        (sparserec.device.Recommendation("a", 0.5, "<script>alert(1)</script>"),), "history"
    )
    assert "<script>" not in named._repr_html_() and "&lt;script&gt;" in named._repr_html_()
    assert "Place" in model.recommend(["u05"], k=2)._repr_html_()
    assert "32 items" in model._repr_html_()


def test_weights_count_as_often_as_they_say(model: sparserec.Model, file: sparserec.FileModel) -> None:
    """Oracle: LightGCN's fold-in term of each item, 1/sqrt(size * degree) * row, times its weight."""
    weights = [2.0, -1.0, 0.5]
    fold, graph = model._vectors.fold[0], model._vectors.graph
    numbers = [model.item_ids.tolist().index(item) for item in HISTORY]
    terms = fold[numbers] * (graph.item_weights[numbers] / np.sqrt(3))[:, None]
    vector = (np.array(weights)[:, None] * terms).sum(axis=0)
    np.testing.assert_allclose(model.user_vector(history=HISTORY, weights=weights), vector, rtol=1e-5)
    scores = dict(zip(model.item_ids.tolist(), model.item_vectors @ vector.astype(np.float32)))
    found = model.recommend(history=HISTORY, weights=weights, k=5)
    assert found.ids == sorted(set(scores) - set(HISTORY), key=lambda item: -scores[item])[:5]
    why = model.explain(history=HISTORY, weights=weights, item=found.ids[0])
    assert why.score == pytest.approx(found.scores[0], rel=1e-4)
    same = file.explain(history=HISTORY, weights=weights, item=found.ids[0])
    assert [part.id for part in same.contributions] == [part.id for part in why.contributions]
    assert same.score == pytest.approx(why.score, rel=0.1)


def test_an_item_that_counts_nothing_is_seen_and_no_more(any_model: Any) -> None:
    """What counts of a history is what is known, each item as it stands there first."""
    half = any_model.recommend(history=["i02", "i07"], weights=[1, 0], k=6)
    assert half.scores == pytest.approx(any_model.recommend(history=["i02"], k=7, deny=["i07"]).scores[:6])
    assert "i07" not in half.ids
    assert any_model.recommend(history=["i02"], weights=[-1], k=2).basis == "popularity"
    for history, weights in ((["nonsense", "i02"], [1, -1]), (["i02", "i02"], [0, 1])):
        assert any_model.recommend(history=history, weights=weights, k=2).basis == "popularity"
    several = any_model.recommend(history=[["i02"], ["i03", "i07"]], weights=[None, [1, 0.5]], k=3)
    assert several.ids[1].tolist() == any_model.recommend(history=["i03", "i07"], weights=[1, 0.5], k=3).ids


def test_tags_say_what_may_be_recommended(any_model: Any) -> None:
    found = any_model.recommend(history=["i02"], tags=["kind 1", "kind 3"], k=20)
    assert {int(item[1:]) % 4 for item in found.ids} == {1, 3} and len(found) == N_ITEMS // 2
    assert any_model.recommend(history=["i02"], tags="kind 1", deny=["i01"], k=20).ids.count("i01") == 0
    with pytest.raises(QuestionError, match="no tag 'kind 9'"):
        any_model.recommend(history=["i02"], tags=["kind 9"])


def test_vectors_and_ids_are_there_for_an_index(any_model: Any) -> None:
    assert any_model.item_ids.shape == (N_ITEMS,) and any_model.item_vectors.dtype == np.float32
    scores = any_model.item_vectors @ any_model.user_vector(history=HISTORY)
    found = any_model.recommend(history=HISTORY, k=5, exclude_seen=False)
    best = np.argsort(-scores)[:5]
    assert any_model.item_ids[best].tolist() == found.ids
    np.testing.assert_allclose(scores[best], found.scores, rtol=1e-4)
    with pytest.raises(QuestionError, match="no vector"):
        any_model.user_vector(history=[])


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda model: model.recommend(history=["i01", ["i02"]]), "'i01' stands beside lists of items"),
    (lambda model: model.recommend(history={"i01": 2.0}), "dict is no list of ids.*`weights`"),
    (lambda model: model.recommend(history=pandas.DataFrame({"a": ["i01"]})), "DataFrame is no list of ids"),
    (lambda model: model.recommend(history=[None]), "history: None is no id"),
    (lambda model: model.recommend(history=[1.5]), "1.5 is no id"),
    (lambda model: model.recommend(history=["i01"], weights=["a"]), "are not all numbers"),
    (lambda model: model.recommend(history=["i01"], weights=[True]), "a True or False is none"),
    (lambda model: model.recommend(history=["i01"], weights=[1, 2]), "2 for a history of 1"),
    (lambda model: model.recommend(history=["i01"], weights=[np.nan]), "numbers from -1e"),
    (lambda model: model.recommend(history=[["i01"]], weights=[1]), "as many lists of weights"),
    (lambda model: model.recommend("u05", weights=[1]), "weights go with a history"),
    (lambda model: model.recommend([["u05"]]), r"user: \['u05'\] is no id"),
    (lambda model: model.recommend(pandas.DataFrame({"u": ["u05"]})), "DataFrame is no list"),
    (lambda model: model.recommend(history=["i01"], allow=3.5), "allow: 3.5 is no id"),
    (lambda model: model.similar([3, 4]), "one at a time"),
    (lambda model: model.similar(None), "None is no id"),
    (lambda model: model.explain(history=["i01"], item=["i02"]), r"item: \['i02'\] is no id"),
]


@pytest.mark.parametrize(("ask", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_no_question_gets_a_word(any_model: Any, ask: Callable, message: str) -> None:
    with pytest.raises(QuestionError, match=message):
        ask(any_model)


def test_a_run_is_not_saved_under_the_name_of_a_file(model: sparserec.Model, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"model\.export\('x\.srec'\)"):
        model.save(tmp_path / "x.srec")
    assert not list(tmp_path.iterdir())


LOGS: list[tuple[Any, str]] = [
    ({"ann": ["a", "b"], "bob": ["c"]}, "for user, items in data.items"),
    ({}, "a dict holds columns"),
    (pandas.DataFrame({"user": [], "item": [], "time": []}), "there are no rows"),
    (np.ones((5, 9)), "scipy.sparse.csr_matrix"),
    (3, "cannot read interactions from int"),
]


@pytest.mark.parametrize(("data", "message"), LOGS, ids=[message for _, message in LOGS])
def test_what_is_no_log_gets_a_word(data: Any, message: str) -> None:
    with pytest.raises(SparserecError, match=message):
        sparserec.fit(data, quiet=True)


def test_a_setting_of_the_recipe_is_pointed_there() -> None:
    with pytest.raises(SettingError, match=r"write recipe=\{'learning_rate': 0\.1\}"):
        sparserec.fit("no-such-file.csv", learning_rate=0.1)
    with pytest.raises(SettingError, match="`threads` is 0"):
        sparserec.fit("no-such-file.csv", threads=0)
    with pytest.raises(SettingError, match="recipe is 5; name one"):
        sparserec.fit([("a", "b")], recipe=5, epochs=1)
