"""Users held out whole: trained without them, folded in from what is given, and measured so wherever the test set
opens.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_run import blocks, small_config

from sparserec import device
from sparserec.data import split_interactions
from sparserec.encodings import Encoding, encode
from sparserec.errors import SettingError
from sparserec.export import NEW_USERS, ExportOptions, export_run
from sparserec.recommenders import FoldIn
from sparserec.runs.folder import load_split, save_split
from sparserec.runs.train import train_run
from sparserec.runs.trained import Trained, measure_again, open_run
from sparserec.runs.warm_start import WarmStart
from sparserec.serving.model import Model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("new-users") / "run"
    train_run(small_config(protocol="new-users", ks=(5, 20)), path, source=blocks())
    return path


@pytest.fixture(scope="module")
def run(folder: Path) -> Trained:
    return open_run(folder)


def test_store_round_trip(tmp_path: Path) -> None:
    split = split_interactions(blocks(), "new-users", 0)
    save_split(tmp_path / "split.safetensors", split)
    found = load_split(tmp_path / "split.safetensors")
    assert found.hash == split.hash and found.given is not None and split.given is not None
    assert found.given.pair_hash() == split.given.pair_hash()
    save_split(tmp_path / "plain.safetensors", split_interactions(blocks(), "resplit", 0))
    assert load_split(tmp_path / "plain.safetensors").given is None


def slow_recall(run: Trained, user_vectors: dict[int, np.ndarray], items: np.ndarray, k: int) -> float:
    """Mean recall of the test users, one at a time, with what is given of them hidden."""
    split, recalls = run.split, []
    assert split.given is not None
    for user, vector in user_vectors.items():
        scores = items @ vector
        scores[split.given.items[split.given.users == user]] = -np.inf
        wanted = split.test.items[split.test.users == user]
        recalls.append(np.isin(wanted, np.argsort(-scores, kind="stable")[:k]).mean())
    return float(np.mean(recalls))


@pytest.mark.parametrize(
    ("base", "settings"), [("lightgcn", {}), ("mgdcf", {"self_loops": True}), ("mf", {})]
)
def test_the_test_set_is_opened_by_folding_in(base: str, settings: dict, tmp_path: Path) -> None:
    """The recorded number is that of the serving side's fold-in, user by user."""
    config = small_config(protocol="new-users", base=base, base_settings=settings, ks=(5, 20))
    record = train_run(config, tmp_path / "run", source=blocks()).record
    model = Model(tmp_path / "run")
    given, test = model.run.split.given, model.run.split.test
    assert given is not None and model.run.split.train.user_counts()[np.unique(test.users)].max() == 0
    made = {
        user: model._vectors.folding.vector(given.items[given.users == user])
        for user in np.unique(test.users)
    }
    expected = slow_recall(model.run, made, model._vectors.items, 5)
    assert record["test"]["float"]["recall@5"] == pytest.approx(expected, abs=1e-6)


def test_opened_again_it_gives_the_same(folder: Path, run: Trained) -> None:
    for name, found in measure_again(run).items():
        assert found == run.record["test"][name]


def test_new_users_are_served_far_better_than_by_popularity(run: Trained, tmp_path: Path) -> None:
    report = export_run(run, tmp_path / "m.srec", ExportOptions(encoding=Encoding(8, 24, "own")))
    new = {stage: groups[NEW_USERS]["ndcg@20"] for stage, groups in report.quality.items()}
    assert new["float"] > 2 * new["popularity"] and new["file"] > 0.9 * new["float"]
    assert {"folded", NEW_USERS} == set(report.quality["file"]) and report.measured_on == "valid"
    float_test = run.record["test"]["float"]
    assert report.quality["float"][NEW_USERS]["recall@20"] == pytest.approx(float_test["recall@20"])


def test_the_file_folds_new_users_in_as_measured(run: Trained, tmp_path: Path) -> None:
    encoding = Encoding(8, 12, "own")
    export_run(run, tmp_path / "m.srec", ExportOptions(encoding=encoding))
    file, ids, given = device.load(tmp_path / "m.srec"), run.split.train.item_ids, run.split.given
    assert given is not None
    items, tables = encode(run.recommender.vectors(run.graph, run.table), encoding).read
    made = FoldIn(tables, run.graph).users(given)
    for user in np.unique(run.split.test.users):
        history = given.items[given.users == user]
        scores = items @ made[user]
        found = ids.index_of([one.id for one in file.recommend(history=list(ids.external(history)), k=8)])
        allowed = scores.copy()
        allowed[history] = -np.inf
        np.testing.assert_allclose(scores[found], np.sort(allowed)[::-1][:8], rtol=1e-3, atol=1e-6)


def test_budgets_and_full_files_measure_them_too(run: Trained, tmp_path: Path) -> None:
    small = export_run(run, tmp_path / "a.srec", ExportOptions(budget=6_000))
    assert small.bytes <= 6_000
    full = export_run(run, tmp_path / "b.srec", ExportOptions(mode="full", include_everyones_history=True))
    for report in (small, full):
        assert (
            report.quality["file"][NEW_USERS]["ndcg@20"] > report.quality["popularity"][NEW_USERS]["ndcg@20"]
        )


def test_a_search_leaves_them_closed(tmp_path: Path) -> None:
    train_run(small_config(protocol="new-users", open_test=False), tmp_path / "run", source=blocks())
    run = open_run(tmp_path / "run")
    assert run.record["test"] == {} and run.record["export"] is None
    report = export_run(run, tmp_path / "m.srec", ExportOptions())
    assert NEW_USERS not in report.quality["file"] and report.quality["file"]["folded"]


def test_what_is_given_is_not_recommended_again(folder: Path, run: Trained) -> None:
    given, model = run.split.given, Model(folder)
    assert given is not None
    user = int(given.users[0])
    found = model.recommend(user=run.split.train.user_ids.external([user])[0], k=20)
    known = run.split.train.item_ids.external(given.items[given.users == user])
    assert found.basis == "popularity" and not set(found.ids) & set(known.tolist())


def test_a_warm_start_is_refused(folder: Path) -> None:
    with pytest.raises(SettingError, match="may have trained on them"):
        WarmStart(open_run(folder), "identity").configure(small_config(protocol="new-users"))
