"""Files whose codes were learnt differ in numbers and in nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_city import train

from sparserec import device
from sparserec.encodings import Encoding
from sparserec.export import ExportOptions, export_run
from sparserec.export.learn import learn_encoding, lesson_of
from sparserec.runs.trained import Trained


@pytest.mark.parametrize(
    "encoding", [Encoding(3, 5, "shared", "gaps"), Encoding(8, 4, "shared", "codes")], ids=["gaps", "codes"]
)
def test_learnt_codes_change_numbers_and_nothing_else(
    of_histories: Trained, tmp_path: Path, encoding: Encoding
) -> None:
    """Tensors of the same sizes (rows that are allocated differ in their counts), other codes in them, and what the
    report says is what the file does.
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
    vectors = run.recommender.vectors(run.graph, run.table)
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
