"""Anybody's vectors become a file: what it keeps of the float lists is measured, and recipes for two trainers run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas
import pytest
import scipy.sparse
from kinds_toy import small_pairs

import sparserec
from sparserec.device.errors import CannotWrite
from sparserec.errors import DataError, SettingError

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "own-vectors.md"


def some_vectors(n_items: int = 60, dim: int = 16) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n_items, dim)).astype(np.float32)


def test_the_file_scores_as_the_vectors_do(tmp_path: Path) -> None:
    """Oracle: the sum of the fold-in rows, weighed by count^-1/2 over the root of the size, times all item vectors."""
    items, fold = some_vectors(), some_vectors()[::-1].copy()
    counts, ids = np.arange(1, 61), [f"v{number:02d}" for number in range(60)]
    report = sparserec.pack(
        items, ids, tmp_path / "own.srec", fold=fold, counts=counts, fold_exponent=0.5, quiet=True,
        encoding={"kind": "int", "bits": 8, "keep": 16},
    )  # fmt: skip
    file = sparserec.load(report.path)
    history = [3, 40]
    vector = (fold[history] / np.sqrt(counts[history])[:, None]).sum(axis=0) / np.sqrt(2)
    found = file.recommend(history=[ids[one] for one in history], k=60 - 2)
    expected = items @ vector
    np.testing.assert_allclose(found.scores, [expected[ids.index(one)] for one in found.ids], atol=0.06)
    best = [ids[one] for one in np.argsort(-expected) if one not in history][:5]
    assert len(set(best) & set(found.ids[:5])) >= 4
    popular = file.recommend(history=[], k=3)
    assert popular.ids == ["v59", "v58", "v57"] and popular.basis == "popularity"


def test_what_is_kept_is_what_the_file_gives(tmp_path: Path) -> None:
    items = some_vectors(200)
    log = pandas.DataFrame({"user": np.repeat(np.arange(40), 5), "item": np.arange(200)})
    report = sparserec.pack(items, path=tmp_path / "own.srec", log=log, page=True, budget="6kB", quiet=True)
    assert report.bytes == (tmp_path / "own.srec").stat().st_size <= 6000
    assert (tmp_path / "own.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    file, shares = sparserec.load(report.path), []
    for user in range(40):
        history = np.arange(5 * user, 5 * user + 5)
        scores = items @ items[history].sum(axis=0)
        scores[history] = -np.inf
        found = file.recommend(history=history, k=20).ids
        shares.append(len(set(found) & set(np.argsort(-scores)[:20].tolist())) / 20)
    assert report.kept == pytest.approx(np.mean(shares), abs=0.01)
    assert "40 histories of the log" in str(report) and f"{report.kept:.1%}" in str(report)
    frame = report.to_frame()
    assert (
        frame["bytes"].is_monotonic_increasing and report.kept == frame[frame["bytes"] <= 6000]["kept"].max()
    )


def test_without_a_budget_the_smallest_good_file(tmp_path: Path) -> None:
    report = sparserec.pack(some_vectors(), path=tmp_path / "own.srec", quiet=True)
    frame = report.to_frame()
    assert report.kept >= 0.95
    assert not (
        (frame["kept"] >= 0.95) & (frame["bytes"] < frame["bytes"][frame["kept"] == report.kept].min())
    ).any()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"item_vectors": np.ones(5)}, "a matrix of finite numbers"),
        ({"item_vectors": np.full((3, 2), np.nan)}, "finite"),
        ({"ids": ["a"]}, "ids: 1 for 60 item vectors"),
        ({"fold": np.ones((2, 2))}, "fold has the shape"),
        ({"counts": np.full(60, 0.5)}, "whole numbers from 0"),
        ({"log": [("u", "nothing")]}, "none of its items has a vector"),
        ({"budget": "100"}, "the smallest file takes"),
        ({"encoding": {"kinds": "int"}}, "no 'kinds'"),
        ({"encoding": {"kind": "neighbours"}}, "vectors alone"),
        ({"encoding": {"kind": "gaps", "learnt": True}}, "vectors alone"),
        ({"fold_exponent": -400.0}, "fold_exponent -400"),
        ({"ids": [*map(str, range(59)), "\ud800"]}, "surrogates"),
    ],
)
def test_what_cannot_be_packed(wrong: dict, message: str, tmp_path: Path) -> None:
    given = {"item_vectors": some_vectors(), "counts": np.full(60, 2), **wrong}
    with pytest.raises((DataError, SettingError, CannotWrite), match=message):
        sparserec.pack(**given, path=tmp_path / "own.srec", quiet=True)
    assert not list(tmp_path.iterdir())


def recipe(name: str) -> str:
    blocks = re.findall(r"```python not-run\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if name in block)


def matrix() -> scipy.sparse.csr_matrix:
    pairs = np.array([(int(user[1:]), int(item[1:])) for user, item in small_pairs()])
    return scipy.sparse.csr_matrix((np.ones(len(pairs), np.float32), pairs.T))


def kinds_of(path: Path) -> list[float]:
    """Of what the file recommends to somebody with two items of a kind: the share of that kind."""
    file = sparserec.load(path)
    answers = [file.recommend(history=[kind, kind + 4], k=4).ids for kind in range(4)]
    return [np.mean([one % 4 == kind for one in ids]) for kind, ids in enumerate(answers)]


def test_coming_from_implicit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("implicit")
    monkeypatch.chdir(tmp_path)
    variables: dict[str, object] = {"user_items": matrix()}
    exec(compile(recipe("implicit"), str(PAGE), "exec"), variables)
    als, links, file = variables["als"], matrix(), sparserec.load(tmp_path / "als.srec")
    shares = []
    for user in range(links.shape[0]):
        own, _ = als.recommend(0, links[user], N=5, recalculate_user=True)  # type: ignore[attr-defined]
        shares.append(len(set(file.recommend(history=links[user].indices, k=5).ids) & set(own.tolist())) / 5)
    assert np.mean(shares) >= 0.75, "the file must recommend what implicit does"


def test_coming_from_a_lightgcn_state_dict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipe's vectors are those of our own LightGCN with the same layer-0 table."""
    import torch

    from sparserec.data import Interactions
    from sparserec.graph import build_adjacency

    monkeypatch.chdir(tmp_path)
    links, rng = matrix(), np.random.default_rng(0)
    users, items = links.nonzero()
    kinds = np.eye(4, 8)
    state = {
        f"embedding_{side}.weight": torch.tensor(kinds[np.arange(count) % 4] + 0.1 * rng.random((count, 8)))
        for side, count in zip(("user", "item"), links.shape)
    }
    variables: dict[str, object] = {"user_items": links, "state": state}
    exec(compile(recipe("embedding_"), str(PAGE), "exec"), variables)
    train = Interactions.from_pairs(users, items)
    graph = build_adjacency(train)
    adjacency = scipy.sparse.csr_matrix((graph.weights, graph.neighbours, graph.offsets))
    layer = np.concatenate([state["embedding_user.weight"].numpy(), state["embedding_item.weight"].numpy()])
    final = layer.copy()
    for _ in range(3):
        layer = adjacency @ layer
        final += layer
    np.testing.assert_allclose(variables["item_vectors"], final[links.shape[0] :] / 4, rtol=1e-4)
    assert np.mean(kinds_of(tmp_path / "lightgcn.srec")) >= 0.9
