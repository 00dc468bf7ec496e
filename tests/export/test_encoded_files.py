"""Files of every encoding answer as the tables do that their quality was measured with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_city import N_USERS, full_options, train

from sparserec import device
from sparserec.classics import histories
from sparserec.encodings import Encoding, encode
from sparserec.encodings.cooccurrence import CooccurrenceLists, choose_lists
from sparserec.encodings.lists import encode_lists
from sparserec.encodings.neighbours import Neighbours
from sparserec.errors import SettingError
from sparserec.export import ExportOptions, export_run
from sparserec.recommenders import FoldIn, user_history
from sparserec.runs.trained import Trained


@pytest.mark.parametrize("fold", ["own", "shared"])
@pytest.mark.parametrize("keep", [6, 16])
def test_items_file_folds_in_as_measured(plain: Trained, tmp_path: Path, fold: str, keep: int) -> None:
    encoding = Encoding(8, keep, fold)  # type: ignore[arg-type]
    export_run(plain, tmp_path / "m.srec", ExportOptions(encoding=encoding))
    model = device.load(tmp_path / "m.srec")
    vectors = plain.recommender.vectors(plain.graph, plain.table)
    items, tables = encode(vectors, encoding).read
    scores = FoldIn(tables, plain.graph).users() @ items.T
    train_part, ids = plain.split.train, plain.split.train.item_ids
    for user in range(0, N_USERS, 7):
        history = train_part.items[train_part.users == user]
        answer = model.recommend(history=list(ids.external(history)), k=8)
        found = ids.index_of([one.id for one in answer])
        allowed = scores[user].copy()
        allowed[history] = -np.inf
        np.testing.assert_allclose(scores[user, found], np.sort(allowed)[::-1][:8], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    "encoding",
    [
        Encoding(3, 6, "shared", "gaps"),
        Encoding(6, 16, "own", "gaps"),
        Encoding(5, 9, "own", "prefix"),
        Encoding(8, 4, "own", "codes"),
        Encoding(8, 8, "shared", "codes"),
        Encoding(4, 12, "shared", "neighbours"),
        Encoding(4, 6, "shared", "together"),
    ],
    ids=lambda encoding: encoding.label,
)
def test_every_encoding_answers_as_measured(plain: Trained, tmp_path: Path, encoding: Encoding) -> None:
    """The file ranks items as the tables do that its quality was measured with."""
    report = export_run(plain, tmp_path / "m.srec", ExportOptions(encoding=encoding))
    model = device.load(tmp_path / "m.srec")
    assert report.encoding["kind"] == encoding.kind and report.mode == model.profile.mode
    vectors = plain.recommender.vectors(plain.graph, plain.table)
    card = model.card()
    assert (card["base"] == "together") == (encoding.kind == "together") == ("test" not in card["card"])
    if encoding.kind == "neighbours":
        history_of = user_history(plain.graph)
        neighbours = Neighbours(vectors.fold[0], vectors.items, encoding.keep)
        lists = neighbours.encode(encoding.keep, encoding.bits)
        scores = (history_of @ lists.matrix(np.arange(plain.split.n_items), plain.split.n_items)).toarray()
    elif encoding.kind == "together":
        chosen = choose_lists(plain.split, plain.split.valid, 3)
        lists = encode_lists(CooccurrenceLists(plain.split.train, chosen).cut(encoding.keep), encoding.bits)
        seen = histories(plain.split.train)
        scores = (seen @ lists.matrix(np.arange(plain.split.n_items), plain.split.n_items)).toarray()
        scores /= np.sqrt(np.maximum(seen.sum(axis=1), 1))  # a file divides by the root of a history's length
    else:
        items, tables = encode(vectors, encoding).read
        scores = FoldIn(tables, plain.graph).users() @ items.T
    train_part, ids = plain.split.train, plain.split.train.item_ids
    exact = FoldIn(vectors.fold, plain.graph).users() @ vectors.items.T
    for user in range(0, N_USERS, 9):
        history = train_part.items[train_part.users == user]
        answer = model.recommend(history=list(ids.external(history)), k=30, exclude_seen=False)
        found = ids.index_of([one.id for one in answer])
        if encoding.kind == "codes":  # k-means starts elsewhere when items come in another order
            assert np.corrcoef([one.score for one in answer], exact[user, found])[0, 1] > 0.5
        else:
            np.testing.assert_allclose(
                [one.score for one in answer], scores[user, found], rtol=1e-3, atol=1e-4
            )


def test_what_an_encoding_cannot_hold(plain: Trained, tmp_path: Path) -> None:
    for encoding, message in (
        (Encoding(3, 8, "shared"), "4 or 8"),
        (Encoding(8, 17, "shared", "codes"), "at most a byte for each of the 16 columns"),
        (Encoding(4, 16, "shared", "int", learnt=True), "cannot be learnt: gaps and codes"),
        (Encoding(4, 16, "own", "gaps", learnt=True), "cannot be learnt: gaps and codes"),
        (Encoding(9, 8, "shared", "gaps"), "1 to 8"),
    ):
        with pytest.raises(SettingError, match=message):
            export_run(plain, tmp_path / "m.srec", ExportOptions(encoding=encoding))
    lists = ExportOptions(
        mode="personal",
        user=plain.split.train.user_ids.external([5])[0],
        encoding=Encoding(4, 5, "shared", "neighbours"),
    )
    with pytest.raises(SettingError, match="personal"):
        export_run(plain, tmp_path / "m.srec", lists)


def test_a_personal_vector_turns_with_the_axes(plain: Trained, tmp_path: Path) -> None:
    user = plain.split.train.user_ids.external([5])[0]
    options = ExportOptions(mode="personal", user=user, encoding=Encoding(8, 16, "shared", "prefix"))
    export_run(plain, tmp_path / "m.srec", options)
    vectors = plain.recommender.vectors(plain.graph, plain.table)
    answer = device.load(tmp_path / "m.srec").recommend(user=user, k=6, exclude_seen=False)
    found = plain.split.train.item_ids.index_of([one.id for one in answer])
    np.testing.assert_allclose(
        [one.score for one in answer], (vectors.items @ vectors.users[5])[found], rtol=0.05, atol=1e-3
    )


def test_a_file_of_histories_weighs_items_as_training_did(tmp_path: Path) -> None:
    run = train(
        tmp_path / "run", "history", {"item_exponent": 0.3, "length_exponent": 0.2, "users_per_batch": 16}
    )
    export_run(run, tmp_path / "m.srec", ExportOptions(encoding=Encoding(8, 16, "shared")))
    model = device.load(tmp_path / "m.srec")
    vectors = run.recommender.vectors(run.graph, run.table)
    items, tables = encode(vectors, Encoding(8, 16, "shared")).read
    scores = FoldIn(tables, run.graph).users() @ items.T
    for user in (4, 11):
        history = run.split.train.items[run.split.train.users == user]
        answer = model.recommend(history=list(run.split.train.item_ids.external(history)), k=5)
        found = run.split.train.item_ids.index_of([one.id for one in answer])
        np.testing.assert_allclose([one.score for one in answer], scores[user, found], rtol=1e-3)
    with pytest.raises(SettingError, match="mode items serves every user exactly"):
        export_run(run, tmp_path / "full.srec", full_options())


def test_fold_in_with_self_loops(tmp_path: Path) -> None:
    run = train(tmp_path / "run", "mgdcf", {"self_loops": True})
    learnt = ExportOptions(encoding=Encoding(4, 8, "shared", "gaps", learnt=True))
    with pytest.raises(SettingError, match="this run's mgdcf has self-loops"):
        export_run(run, tmp_path / "m.srec", learnt)
    export_run(run, tmp_path / "m.srec", ExportOptions(encoding=Encoding(8, 16, "own")))
    model = device.load(tmp_path / "m.srec")
    vectors = run.recommender.vectors(run.graph, run.table)
    items, tables = encode(vectors, Encoding(8, 16, "own")).read
    assert len(tables) == len(run.recommender.taps[0]) - 1
    scores = FoldIn(tables, run.graph).users() @ items.T
    history = run.split.train.items[run.split.train.users == 4]
    answer = model.recommend(history=list(run.split.train.item_ids.external(history)), k=5)
    found = run.split.train.item_ids.index_of([one.id for one in answer])
    allowed = scores[4].copy()
    allowed[history] = -np.inf
    np.testing.assert_allclose(scores[4, found], np.sort(allowed)[::-1][:5], rtol=1e-3, atol=1e-5)


def test_personal_file_scores_that_user_with_the_trained_vector(plain: Trained, tmp_path: Path) -> None:
    user = plain.split.train.user_ids.external([5])[0]
    options = ExportOptions(mode="personal", user=user, encoding=Encoding(8, 16, "own"))
    export_run(plain, tmp_path / "m.srec", options)
    vectors = plain.recommender.vectors(plain.graph, plain.table)
    items, _ = encode(vectors, options.encoding).read
    scores = vectors.users[5] @ items.T
    answer = device.load(tmp_path / "m.srec").recommend(user=user, k=6)
    found = plain.split.train.item_ids.index_of([one.id for one in answer])
    known = plain.split.everything()
    scores[known.items[known.users == 5]] = -np.inf
    np.testing.assert_allclose(scores[found], np.sort(scores)[::-1][:6], rtol=1e-3, atol=1e-5)
