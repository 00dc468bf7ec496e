"""The model people ask: answers against scores computed by hand from the run's own vectors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from kinds_toy import KINDS, N_ITEMS, small_pairs

import sparserec
from sparserec.errors import RunError, SettingError
from sparserec.serving import QuestionError, UnknownItemError, UnknownUserError


def known(user: str) -> set[str]:
    return {item for who, item in small_pairs() if who == user}


def by_hand(model: sparserec.Model, user: str) -> dict[str, float]:
    run = model.run
    vectors = run.recommender.outputs(run.graph, run.table)
    scores = vectors[run.split.n_users :] @ vectors[model.user_ids.tolist().index(user)]
    return dict(zip(model.item_ids.tolist(), scores.tolist()))


def test_recommends_the_best_unseen_items_by_name(model: sparserec.Model) -> None:
    scores = by_hand(model, "u05")
    found = model.recommend(user="u05", k=4)
    best = sorted(set(scores) - known("u05"), key=lambda item: -scores[item])[:4]
    assert found.ids == best and found.basis == "trained"
    np.testing.assert_allclose(found.scores, [scores[item] for item in best], rtol=1e-5)
    number = int(best[0][1:])
    assert found[0].title == f"Place {number} of kind {number % KINDS}"


def test_seen_items_come_back_when_asked_for(model: sparserec.Model) -> None:
    found = model.recommend("u05", k=5, exclude_seen=False)
    assert all(int(item[1:]) % KINDS == 5 % KINDS for item in found.ids)
    assert set(found.ids) & known("u05")


def test_history_of_a_new_user_gives_its_kind(model: sparserec.Model) -> None:
    found = model.recommend(history=["i02", "i06", "nonsense"], k=4)
    assert found.basis == "history" and found.ignored == ("nonsense",)
    assert {int(item[1:]) % KINDS for item in found.ids} == {2}
    assert not {"i02", "i06"} & set(found.ids)
    assert model.recommend(history=["i06", "i02"], k=4).ids == found.ids


def test_nothing_known_gives_what_is_popular(model: sparserec.Model) -> None:
    counts = model.run.split.train.item_counts()
    found = model.recommend(history=[], k=3)
    assert found.basis == "popularity" and found.scores == sorted(counts.tolist())[-1:-4:-1]


def test_allow_and_deny(model: sparserec.Model) -> None:
    allowed = ["i00", "i01", "i02", "i03"]
    found = model.recommend(history=["i10"], k=4, allow=allowed, deny=["i01", "gone"])
    assert set(found.ids) == {"i00", "i02", "i03"} and found.ignored == ("gone",)
    assert found.ids[0] == "i02"
    with pytest.raises(UnknownItemError):
        model.recommend(history=["i10"], allow=["gone"])


def test_arrays_of_users_as_in_implicit(model: sparserec.Model) -> None:
    ids, scores = model.recommend(np.array(["u05", "u10"]), N=4)
    assert ids.shape == scores.shape == (2, 4)
    for row, user in enumerate(["u05", "u10"]):
        one_ids, one_scores = model.recommend(user, k=4).arrays()
        assert ids[row].tolist() == one_ids.tolist()
        np.testing.assert_allclose(scores[row], one_scores, rtol=1e-5)
    ids, scores = model.recommend(["u05"], k=3, allow=["i00", "i02"])
    assert ids[0].tolist()[2] == "" and scores[0, 2] == -np.inf


def test_explanation_adds_up_to_the_score(model: sparserec.Model) -> None:
    history = ["i02", "i06", "i01"]
    found = {item.id: item.score for item in model.recommend(history=history, k=5)}
    for item, score in found.items():
        why = model.explain(history=history, item=item)
        assert {part.id for part in why.contributions} == set(history) and why.trained_score is None
        assert sum(part.score for part in why.contributions) == pytest.approx(score, rel=1e-5)
        assert [part.score for part in why.contributions] == sorted(
            (part.score for part in why.contributions), reverse=True
        )


def test_trained_users_are_explained_by_their_train_history(model: sparserec.Model) -> None:
    why = model.explain("u05", item="i09")
    assert {part.id for part in why.contributions} <= known("u05")
    assert why.trained_score == pytest.approx(by_hand(model, "u05")["i09"], rel=1e-5)
    assert why.score == pytest.approx(sum(part.score for part in why.contributions))
    assert model.explain(history=[], item="i09").basis == "popularity"


def test_similar_items_are_of_the_same_kind(model: sparserec.Model) -> None:
    found = model.similar("i03", k=4)
    assert {int(item[1:]) % KINDS for item in found.ids} == {3} and "i03" not in found.ids
    assert all(-1.0001 <= score <= 1.0001 for score in found.scores)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_everybody_into_a_file(model: sparserec.Model, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"all{suffix}"
    rows = model.recommend_all(k=3, out=out)
    table = pyarrow.csv.read_csv(out) if suffix == ".csv" else pyarrow.parquet.read_table(out)
    assert table.num_rows == rows == 3 * len(model.user_ids)
    assert table.column_names == ["user", "rank", "item", "score", "title"]
    mine = [row for row in table.to_pylist() if row["user"] == "u07"]
    assert [row["item"] for row in mine] == model.recommend("u07", k=3).ids
    assert [row["rank"] for row in mine] == [1, 2, 3] and mine[0]["title"].startswith("Place ")
    assert list(tmp_path.iterdir()) == [out]


def test_stored_result_and_opening_the_test_set_again(model: sparserec.Model, tmp_path: Path) -> None:
    copy = sparserec.load(model.save(tmp_path / "copy"))
    assert isinstance(copy, sparserec.Model)
    assert copy.evaluate() == copy.record["test"] and copy.evaluate()["float"]["recall@5"] > 0.3
    assert copy.evaluate(again=True) == copy.record["test"]
    copy.evaluate(again=True)
    assert len(json.loads((tmp_path / "copy" / "record.json").read_text())["test_opened_again"]) == 2


def test_saved_model_answers_the_same(model: sparserec.Model, tmp_path: Path) -> None:
    copy = sparserec.load(model.save(tmp_path / "deep" / "copy"))
    assert copy.recommend("u05", k=5) == model.recommend("u05", k=5)
    with pytest.raises(RunError, match="not empty"):
        model.save(tmp_path / "deep" / "copy")


def test_a_copy_that_fails_leaves_nothing(model: sparserec.Model, tmp_path: Path) -> None:
    """A pipe in the folder cannot be copied; without it the same name is free."""
    first = model.save(tmp_path / "first")
    os.mkfifo(first / "pipe")
    with pytest.raises(RunError, match=r"second: cannot write .*pipe"):
        sparserec.load(first).save(tmp_path / "second")
    assert [path.name for path in tmp_path.iterdir()] == ["first"]
    (first / "pipe").unlink()
    assert sparserec.load(first).save(tmp_path / "second").is_dir()


def test_questions_that_make_no_sense(model: sparserec.Model, tmp_path: Path) -> None:
    for asked in ({}, {"user": "u05", "history": ["i01"]}):
        with pytest.raises(QuestionError, match="either a user or a history"):
            model.recommend(**asked)  # type: ignore[arg-type]
        with pytest.raises(QuestionError, match="either a user or a history"):
            model.explain(**asked, item="i01")  # type: ignore[arg-type]
    with pytest.raises(QuestionError, match=f"only {N_ITEMS} items"):
        model.recommend("u05", k=N_ITEMS + 1)
    with pytest.raises(UnknownUserError, match="nearest: u05"):
        model.recommend("U05x")
    with pytest.raises(UnknownItemError, match="nearest: i02"):
        model.similar("i02x")
    with pytest.raises(UnknownItemError):
        model.explain("u05", item="none")
    with pytest.raises(QuestionError, match=r"\.csv or \.parquet"):
        model.recommend_all(out=tmp_path / "all.xlsx")
    with pytest.raises(RunError, match="cannot write"):
        blocked = tmp_path / "file"
        blocked.write_text("")
        model.recommend_all(k=2, out=blocked / "all.csv")


def test_folders_that_are_not_runs(model: sparserec.Model, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such run"):
        sparserec.load(tmp_path / "nothing")
    with pytest.raises(RunError, match="not a run folder"):
        sparserec.load(tmp_path)
    other = tmp_path / "other.srec"
    other.write_bytes(b"not a model")
    with pytest.raises(RunError, match="not a usable model file"):
        sparserec.load(other)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("name", ["config.json", "record.json", "model.safetensors", "data.safetensors"])
@pytest.mark.parametrize("harm", [cut, Path.unlink])
def test_damaged_run_folders_name_the_file(
    model: sparserec.Model, tmp_path: Path, name: str, harm: object
) -> None:
    folder = model.save(tmp_path / "run")
    harm(folder / name)  # type: ignore[operator]
    with pytest.raises(RunError, match=name.replace(".", r"\.")):
        sparserec.load(folder)


def test_parts_of_two_runs_are_refused(model: sparserec.Model, tmp_path: Path) -> None:
    folder = model.save(tmp_path / "run")
    record = json.loads((folder / "record.json").read_text())
    record["split"]["hash"] = "0" * 64
    (folder / "record.json").write_text(json.dumps(record))
    with pytest.raises(RunError, match="not what the run wrote"):
        sparserec.load(folder)


def test_fit_checks_settings_before_reading() -> None:
    with pytest.raises(SettingError, match="did you mean 'protocol'"):
        sparserec.fit("no-such-file.csv", protocoll="resplit")
    with pytest.raises(SettingError, match="unknown method"):
        sparserec.fit("no-such-file.csv", method="magic")


def test_importing_the_device_reader_stays_light() -> None:
    code = (
        "import sys, sparserec, sparserec.device\n"
        "heavy = {'torch', 'numba', 'scipy', 'pydantic', 'pyarrow', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "assert {'fit', 'load', 'Model'} <= set(dir(sparserec))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_attribute_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match=r"it has .*fit"):
        _ = sparserec.train  # type: ignore[attr-defined]


def test_cells_that_a_spreadsheet_would_run(tmp_path: Path) -> None:
    """In .csv texts like formulas get an apostrophe; numbers, other texts and .parquet files stay as they are."""
    ids = ["=cmd|'/C calc'!A0", "+1+2", "-2+3", "@SUM(A1)", "-5", "+7.5", "plain", "a=b"]
    users = [f"@user{number}" for number in range(9)]
    pairs = [(user, item) for n, user in enumerate(users) for m, item in enumerate(ids) if (n + m) % 3]
    settings = {"base": "lightgcn", "method": "static", "dim": 8, "epochs": 1, "ks": (2,)}
    model = sparserec.fit(pairs, folder=tmp_path / "run", quiet=True, **settings)
    for suffix in (".csv", ".parquet"):
        model.recommend_all(k=8, out=tmp_path / f"all{suffix}", exclude_seen=False)
    options = pyarrow.csv.ConvertOptions(column_types={"item": pyarrow.string()})
    found = pyarrow.csv.read_csv(tmp_path / "all.csv", convert_options=options).to_pylist()
    exact = pyarrow.parquet.read_table(tmp_path / "all.parquet").to_pylist()
    assert {row["item"] for row in exact} == set(ids) and {row["user"] for row in exact} == set(users)
    changed = {before["item"]: after["item"] for before, after in zip(exact, found)}
    assert changed == {one: one if one in ids[4:] else f"'{one}" for one in ids}
    assert {row["user"] for row in found} == {f"'{user}" for user in users}
