"""Files written from a run answer as the training side does, hold what they say, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from sparserec import device
from sparserec.classics import histories
from sparserec.data import read_source
from sparserec.errors import RunError, SettingError
from sparserec.evaluation import top_items
from sparserec.export import ExportOptions, draw_curve, export_run
from sparserec.export.choose import Measure, choose_good, possible_encodings, smallest_good
from sparserec.export.learn import learn_encoding, lesson_of
from sparserec.export.prefer import surely_near
from sparserec.recommenders import RECOMMENDERS, graph_of
from sparserec.runs.measure import Trained, open_run
from sparserec.runs.train import train_run
from sparserec.training.config import Recipe, RunConfig
from sparserec.units import parse_size
from sparserec.vectors import (
    Encoding,
    FoldIn,
    ListsOfLog,
    Neighbours,
    as_read,
    choose_lists,
    encode,
    encoded_quality,
    make_vectors,
    user_history,
)

N_USERS, N_ITEMS = 60, 45


def city(text_ids: bool) -> object:
    rng = np.random.default_rng(1)
    pairs = [(u, i) for u in range(N_USERS) for i in range(N_ITEMS) if u % 3 == i % 3 and rng.random() < 0.7]
    pairs += [(i % N_USERS, i) for i in range(N_ITEMS)]
    return read_source([(f"user {u}", f"place {i}") for u, i in pairs] if text_ids else pairs)


def train(
    folder: Path,
    base: str,
    base_settings: dict | None = None,
    text_ids: bool = False,
    method: str = "sparserec",
) -> Trained:
    settings = {"nmf_iterations": 3} if method == "sparserec" else {}
    config = RunConfig(
        base=base, base_settings=base_settings or {}, method=method, method_settings=settings, dim=16, density=0.3,
        recipe=Recipe(epochs=2, batch_size=200, validate_every=1),
    )  # fmt: skip
    train_run(config, folder, source=city(text_ids))
    return open_run(folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    import os

    os.environ["SPARSEREC_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    return train(tmp_path_factory.mktemp("runs") / "lightgcn", "lightgcn")


def full_options(**changes: object) -> ExportOptions:
    return ExportOptions(mode="full", include_everyones_history=True, **changes)  # type: ignore[arg-type]


def assert_full_equals_evaluator(run: Trained, path: Path, bits: int) -> None:
    """Top-10 of every user from the file = ranking by the training side on the same quantised values."""
    export_run(run, path, full_options(bits=bits))
    model = device.load(path)
    known = run.split.everything()
    vectors = make_vectors(run.recommender, graph_of(run.recommender, known), run.table.quantised(bits))
    users = np.arange(run.split.n_users, dtype=np.int32)
    seen = [(known.offsets(), known.items)]
    items = torch.from_numpy(np.ascontiguousarray(vectors.items))
    expected = top_items(lambda ids: torch.from_numpy(vectors.users[ids]), items, users, 10, seen)
    scores = vectors.users @ vectors.items.T
    for user in users:
        answer = model.recommend(user=run.split.train.user_ids.external([user])[0], k=10)
        found = run.split.train.item_ids.index_of([one.id for one in answer])
        wanted = [item for item in expected[user] if item >= 0]
        np.testing.assert_allclose(scores[user, found], scores[user, wanted], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("bits", [8, 4])
def test_full_file_ranks_like_the_evaluator(plain: Trained, tmp_path: Path, bits: int) -> None:
    assert_full_equals_evaluator(plain, tmp_path / "m.srec", bits)


@pytest.mark.parametrize("base", sorted(name for name, kind in RECOMMENDERS.items() if kind.user_rows))
def test_full_file_of_every_base(base: str, tmp_path: Path) -> None:
    assert_full_equals_evaluator(train(tmp_path / "run", base, text_ids=True), tmp_path / "m.srec", 8)


@pytest.mark.parametrize("fold", ["own", "shared"])
@pytest.mark.parametrize("keep", [6, 16])
def test_items_file_folds_in_as_measured(plain: Trained, tmp_path: Path, fold: str, keep: int) -> None:
    encoding = Encoding(8, keep, fold)  # type: ignore[arg-type]
    export_run(plain, tmp_path / "m.srec", ExportOptions(encoding=encoding))
    model = device.load(tmp_path / "m.srec")
    vectors = make_vectors(plain.recommender, plain.graph, plain.table)
    items, tables = as_read(vectors, encoding)
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
    vectors = make_vectors(plain.recommender, plain.graph, plain.table)
    card = model.card()
    assert (card["base"] == "together") == (encoding.kind == "together") == ("test" not in card["card"])
    if encoding.kind == "neighbours":
        history_of = user_history(plain.graph)
        lists = Neighbours(vectors, encoding.keep).encode(encoding.keep, encoding.bits)
        scores = (history_of @ lists.matrix(np.arange(plain.split.n_items), plain.split.n_items)).toarray()
    elif encoding.kind == "together":
        chosen = choose_lists(plain.split, plain.split.valid, 3)
        lists = ListsOfLog(plain.split.train, chosen).encode(encoding.keep, encoding.bits)
        seen = histories(plain.split.train)
        scores = (seen @ lists.matrix(np.arange(plain.split.n_items), plain.split.n_items)).toarray()
        scores /= np.sqrt(np.maximum(seen.sum(axis=1), 1))  # a file divides by the root of a history's length
    else:
        items, tables = as_read(vectors, encoding)
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
    vectors = make_vectors(plain.recommender, plain.graph, plain.table)
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
    vectors = make_vectors(run.recommender, run.graph, run.table)
    items, tables = as_read(vectors, Encoding(8, 16, "shared"))
    scores = FoldIn(tables, run.graph).users() @ items.T
    for user in (4, 11):
        history = run.split.train.items[run.split.train.users == user]
        answer = model.recommend(history=list(run.split.train.item_ids.external(history)), k=5)
        found = run.split.train.item_ids.index_of([one.id for one in answer])
        np.testing.assert_allclose([one.score for one in answer], scores[user, found], rtol=1e-3)
    with pytest.raises(SettingError, match="mode items serves every user exactly"):
        export_run(run, tmp_path / "full.srec", full_options())


@pytest.fixture(scope="module")
def of_histories(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    settings = {"users_per_batch": 16, "temperature": 0.3}
    return train(tmp_path_factory.mktemp("runs") / "history", "history", settings, method="dense")


@pytest.mark.parametrize(
    "encoding", [Encoding(3, 5, "shared", "gaps"), Encoding(8, 4, "shared", "codes")], ids=["gaps", "codes"]
)
def test_learnt_codes_change_numbers_and_nothing_else(
    of_histories: Trained, tmp_path: Path, encoding: Encoding
) -> None:
    """Tensors of the same sizes (rows that are dealt differ in their counts), other codes in them, and what the report
    says is what the file does.
    """
    run, tensors = of_histories, []
    for name, one in (("plain", encoding), ("learnt", replace(encoding, learnt=True))):
        report = export_run(run, tmp_path / f"{name}.srec", ExportOptions(encoding=one, min_users=2))
        raw = (tmp_path / f"{name}.srec").read_bytes()
        header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
        assert header.pop("__metadata__")["version"] == "1.1"
        tensors.append({name: (part["dtype"], part["shape"]) for name, part in header.items()})
    plain, learnt = (device.load(tmp_path / f"{name}.srec") for name in ("plain", "learnt"))
    if encoding.kind == "gaps":
        before, after = ({name for name in one if ".count" not in name} for one in tensors)
        assert before == after and "score.count.level" in tensors[1], "rows are of several sizes now"
        assert report.bytes == pytest.approx((tmp_path / "plain.srec").stat().st_size, rel=0.1)
    else:
        assert tensors[0] == tensors[1]
    assert report.encoding["learnt"] and learnt.card()["card"]["encoding"].endswith(", learnt")
    users, found = run.split.valid.users, []
    for model in (plain, learnt):
        answers = []
        for user in np.unique(users):
            history = run.split.train.items[run.split.train.users == user]
            known = run.split.train.item_ids.external(history)
            answers.append([one.id for one in model.recommend(history=list(known), k=20)])
        found.append(answers)
    assert found[0] != found[1], "codes were learnt"
    truth = [
        set(run.split.train.item_ids.external(run.split.valid.items[users == u])) for u in np.unique(users)
    ]
    recall = np.mean([len(own & set(answer)) / len(own) for own, answer in zip(truth, found[1])])
    assert report.quality["file"]["folded"]["recall@20"] == pytest.approx(recall, abs=0.02)


def test_learnt_rows_are_as_long_as_trained_ones(tmp_path: Path) -> None:
    """Codes give a row its direction; the file must not forget that items that many have are longer."""
    run = train(tmp_path / "run", "history", {"length_exponent": 0.5, "users_per_batch": 16})
    vectors = make_vectors(run.recommender, run.graph, run.table)
    lesson = lesson_of(run.recommender, vectors, run.split.train)
    learn = learn_encoding(vectors, Encoding(6, 16, "shared", "gaps", learnt=True), lesson, True)
    items, _ = learn(np.arange(run.split.n_items)).read
    lengths = np.linalg.norm(items, axis=1)
    assert lengths.max() > 1.5 * lengths.min()
    np.testing.assert_allclose(lengths, run.graph.item_lengths, rtol=0.02)


def test_a_budget_tries_learnt_codes(of_histories: Trained, tmp_path: Path) -> None:
    with_them = export_run(of_histories, tmp_path / "a.srec", ExportOptions(budget=9_000))
    learnt = [row for row in with_them.curve if row["learnt"]]
    assert {row["kind"] for row in learnt} == {"gaps", "codes"} and all(
        row["bytes"] <= 9_000 for row in learnt
    )
    for row in learnt:
        same = ("kind", "bits", "keep", "fold")
        twin = next(o for o in with_them.curve if not o["learnt"] and all(o[n] == row[n] for n in same))
        assert row["bytes"] == pytest.approx(twin["bytes"], rel=0.05 if row["kind"] == "gaps" else 0)
    without = export_run(of_histories, tmp_path / "b.srec", ExportOptions(budget=9_000, learn=False))
    assert not any(row["learnt"] for row in without.curve)


def test_fold_in_with_self_loops(tmp_path: Path) -> None:
    run = train(tmp_path / "run", "mgdcf", {"self_loops": True})
    learnt = ExportOptions(encoding=Encoding(4, 8, "shared", "gaps", learnt=True))
    with pytest.raises(SettingError, match="this run's mgdcf has self-loops"):
        export_run(run, tmp_path / "m.srec", learnt)
    export_run(run, tmp_path / "m.srec", ExportOptions(encoding=Encoding(8, 16, "own")))
    model = device.load(tmp_path / "m.srec")
    vectors = make_vectors(run.recommender, run.graph, run.table)
    items, tables = as_read(vectors, Encoding(8, 16, "own"))
    assert len(tables) == len(run.recommender.taps[0]) - 1
    scores = FoldIn(tables, run.graph).users() @ items.T
    history = run.split.train.items[run.split.train.users == 4]
    answer = model.recommend(history=list(run.split.train.item_ids.external(history)), k=5)
    found = run.split.train.item_ids.index_of([one.id for one in answer])
    allowed = scores[4].copy()
    allowed[history] = -np.inf
    np.testing.assert_allclose(scores[4, found], np.sort(allowed)[::-1][:5], rtol=1e-3, atol=1e-5)


def test_full_is_refused_without_saying_whose_data(plain: Trained, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="every user") as caught:
        export_run(plain, tmp_path / "m.srec", ExportOptions(mode="full"))
    assert "`include_everyones_history`" in str(caught.value)
    assert not (tmp_path / "m.srec").exists()


def test_items_file_holds_no_interactions(plain: Trained, tmp_path: Path) -> None:
    export_run(plain, tmp_path / "m.srec", ExportOptions())
    header = (tmp_path / "m.srec").read_bytes()
    names = json.loads(header[8 : 8 + int.from_bytes(header[:8], "little")])
    assert not [name for name in names if name.startswith(("graph", "user"))]
    assert device.load(tmp_path / "m.srec").card()["mode"] == "items"


def test_the_smallest_file_that_loses_next_to_nothing(plain: Trained, tmp_path: Path, drawing: None) -> None:
    """And against measuring every encoding that a file without budget may have, where more is asked for."""
    report = export_run(plain, tmp_path / "a.srec", ExportOptions())
    vectors = make_vectors(plain.recommender, plain.graph, plain.table)
    enough = 0.99 * report.quality["float"]["folded"]["ndcg@20"]
    assert report.quality["file"]["folded"]["ndcg@20"] >= enough
    budget = 2 * report.bytes
    bound = export_run(plain, tmp_path / "b.srec", ExportOptions(budget=budget))
    assert {"together", "neighbours", "codes"} <= {row["kind"] for row in bound.curve}
    best = max(row["quality"]["folded"]["ndcg@20"] for row in bound.curve if row["bytes"] <= budget)
    draw_curve(bound, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000
    assert (
        bound.quality["file"]["folded"]["ndcg@20"] >= 0.98 * best
    )  # chosen on the same users, items in another order
    measure = Measure(vectors, plain.split, 0)
    scores = {}
    for one in possible_encodings(vectors):
        if one.kind in ("int", "gaps"):
            scores[one] = measure.point(one, encode(vectors, one))
    best = max(scores.values(), key=lambda point: point.score)
    measure.__dict__["float_users"] = best.ndcg  # more than the float vectors have
    good = [point.bytes for point in scores.values() if surely_near(point.ndcg, best.ndcg)]
    assert min(good) > min(point.bytes for point in scores.values()), "nothing to choose between"
    found = choose_good(smallest_good(measure, True), measure)
    assert surely_near(found.ndcg, best.ndcg) and found.bytes <= 1.2 * min(good)
    assert (found.bytes, found.score) == (scores[found.encoding].bytes, scores[found.encoding].score)


def test_lists_of_the_log_are_searched_for_only_where_a_file_may_hold_them(
    plain: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sparserec.export.file.choose_lists", lambda *_: pytest.fail("searched for nothing"))
    user = plain.split.train.user_ids.external([5])[0]
    for options in (ExportOptions(mode="personal", user=user, budget=20_000), ExportOptions()):
        export_run(plain, tmp_path / "m.srec", options)


def test_a_larger_budget_never_gives_a_worse_file(of_histories: Trained, tmp_path: Path) -> None:
    """A file with vectors in it, from hardly any room to more than enough; on validation, as the report says."""
    scores = []
    user = of_histories.split.train.user_ids.external([5])[0]
    for budget in (5_700, 6_000, 7_000, 20_000):
        options = ExportOptions(mode="personal", user=user, budget=budget)
        report = export_run(of_histories, tmp_path / "m.srec", options)
        assert report.bytes <= budget
        scores.append(report.quality["file"]["folded"]["ndcg@20"])
    assert scores == sorted(scores), "see test_prefer.py for budgets that matter more"


def test_a_budget_is_kept_or_refused(plain: Trained, tmp_path: Path) -> None:
    loose = export_run(plain, tmp_path / "a.srec", ExportOptions(budget=100_000))
    budget = loose.bytes + 800
    assert export_run(plain, tmp_path / "b.srec", ExportOptions(budget=budget)).bytes <= budget
    with pytest.raises(SettingError, match="smallest file has") as caught:
        export_run(plain, tmp_path / "c.srec", ExportOptions(budget=500))
    assert "titles and tags" not in str(caught.value), "this run has none to leave out"


def test_full_takes_four_bits_only_where_they_lose_nothing(plain: Trained, tmp_path: Path) -> None:
    report = export_run(plain, tmp_path / "m.srec", full_options())
    quality = [
        encoded_quality(
            make_vectors(plain.recommender, plain.graph, table), None, plain.split, plain.split.valid
        )["trained"]["ndcg@20"]
        for table in (plain.table, plain.table.quantised(4))
    ]
    assert report.encoding["bits"] == (4 if quality[1] >= 0.99 * quality[0] else 8)


@pytest.mark.parametrize("mode", ["full", "personal"])
def test_nothing_the_user_has_is_recommended(plain: Trained, tmp_path: Path, mode: str) -> None:
    known, ids = plain.split.everything(), plain.split.train.item_ids
    for user in (3, 17, 40):
        name = plain.split.train.user_ids.external([user])[0]
        options = full_options() if mode == "full" else ExportOptions(mode="personal", user=name)
        export_run(plain, tmp_path / f"{user}.srec", options)
        answer = device.load(tmp_path / f"{user}.srec").recommend(user=name, k=N_ITEMS)
        own = set(known.items[known.users == user].tolist())
        assert len(own) > len(plain.split.train.items[plain.split.train.users == user])
        assert set(ids.index_of([one.id for one in answer]).tolist()) == set(range(N_ITEMS)) - own


def test_without_a_validation_part_the_test_part_stays_closed(tmp_path: Path) -> None:
    pairs = [(u, i) for u in range(30) for i in range(25) if (u + i) % 3 == 0]
    held_out = [pair for pair in pairs if sum(pair) % 4 == 0]
    source = read_source(train=[pair for pair in pairs if pair not in held_out], test=held_out)
    config = RunConfig(
        base="lightgcn",
        protocol="public-full",
        method="static",
        dim=8,
        density=0.5,
        recipe=Recipe(epochs=1, batch_size=50),
    )
    train_run(config, tmp_path / "run", source=source)
    run = open_run(tmp_path / "run")
    hidden = replace(run, split=replace(run.split, test=run.split.test.select(run.split.test.users < 0)))
    reports = [export_run(one, tmp_path / "m.srec", ExportOptions()) for one in (run, hidden)]
    assert reports[0] == reports[1], "what the test part holds must not matter"
    assert reports[0].quality == {} and reports[0].measured_on is None
    assert open_run(tmp_path / "run").record.times_opened == 1


def test_a_file_without_users_is_not_measured_on_trained_users(plain: Trained, tmp_path: Path) -> None:
    report = export_run(plain, tmp_path / "m.srec", ExportOptions())
    assert set(report.quality["file"]) == set(report.quality["float"]) == {"folded"}
    full = export_run(plain, tmp_path / "f.srec", full_options())
    assert set(full.quality["file"]) == {"trained", "folded"}


def test_where_a_file_cannot_be_written(plain: Trained, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="is a folder; name the file"):
        export_run(plain, tmp_path, ExportOptions())
    with pytest.raises(SettingError, match="there is no folder"):
        export_run(plain, tmp_path / "no" / "such" / "m.srec", ExportOptions())
    assert not (tmp_path / "no").exists()
    with pytest.raises(RunError, match="cannot write"):
        export_run(plain, Path("/proc/model.srec"), ExportOptions())
    with pytest.raises(SettingError, match="keep 0"):
        export_run(plain, tmp_path / "m.srec", ExportOptions(encoding=Encoding(8, 0, "own")))


def test_rare_items_are_left_out(plain: Trained, tmp_path: Path) -> None:
    counts = plain.split.train.item_counts()
    report = export_run(plain, tmp_path / "m.srec", ExportOptions(min_users=int(np.median(counts)) + 1))
    model = device.load(tmp_path / "m.srec")
    assert report.dropped_items == int((counts <= int(np.median(counts))).sum()) > 0
    rare = plain.split.train.item_ids.external([int(np.argmin(counts))])[0]
    with pytest.raises(device.DeviceError):
        model.similar(rare)


def test_personal_file_scores_that_user_with_the_trained_vector(plain: Trained, tmp_path: Path) -> None:
    user = plain.split.train.user_ids.external([5])[0]
    options = ExportOptions(mode="personal", user=user, encoding=Encoding(8, 16, "own"))
    export_run(plain, tmp_path / "m.srec", options)
    vectors = make_vectors(plain.recommender, plain.graph, plain.table)
    items, _ = as_read(vectors, options.encoding)
    scores = vectors.users[5] @ items.T
    answer = device.load(tmp_path / "m.srec").recommend(user=user, k=6)
    found = plain.split.train.item_ids.index_of([one.id for one in answer])
    known = plain.split.everything()
    scores[known.items[known.users == 5]] = -np.inf
    np.testing.assert_allclose(scores[found], np.sort(scores)[::-1][:6], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "size"), [("1MB", 10**6), ("900kB", 900_000), ("2 MiB", 2**21), ("1234", 1234)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "1 XB", "-3MB"])
def test_bad_sizes(text: str) -> None:
    with pytest.raises(SettingError, match="for example 1MB"):
        parse_size(text)
