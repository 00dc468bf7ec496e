"""Rows of the graph bases learnt as those of base history are: with their lengths, and as their file weighs items."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from sparserec import device
from sparserec.data import read_source
from sparserec.device import code_rows, encode_coded
from sparserec.encodings import EncodedVectors, Encoding
from sparserec.encodings.gaps import allocated
from sparserec.export import ExportOptions, export_run
from sparserec.export.learn import (
    TEMPERATURES,
    Lesson,
    choose_lesson,
    learn_encoding,
    lesson_of,
    possible_temperatures,
)
from sparserec.recommenders import FoldIn, Vectors
from sparserec.recommenders.history.dense import plain_gradient
from sparserec.runs import Trained, open_run, train_run
from sparserec.training import RunConfig
from sparserec.training.config import Recipe

ROWS = Encoding(2, 5, "shared", "gaps", learnt=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    rng = np.random.default_rng(1)
    pairs = [(u, i) for u in range(80) for i in range(60) if u % 4 == i % 4 and rng.random() < 0.6]
    config = RunConfig(
        base="xsimgcl", method="dense", dim=16, open_test=False,
        recipe=Recipe(epochs=8, batch_size=200, validate_every=4),
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("runs") / "xsimgcl"
    train_run(config, folder, source=read_source(pairs))
    return open_run(folder)


@pytest.fixture(scope="module")
def vectors(run: Trained) -> Vectors:
    return run.recommender.vectors(run.graph, run.table)


@pytest.fixture(scope="module")
def lesson(run: Trained, vectors: Vectors) -> Lesson:
    found = lesson_of(run.recommender, vectors, run.split.train)
    return found.with_temperature(possible_temperatures(found, vectors)[2])


def loss(rows: np.ndarray, lesson: Lesson) -> float:
    """Of users who were not all learnt from in this order."""
    more = lesson.steps(3)
    return sum(plain_gradient(torch.from_numpy(rows), more.batch(step))[0] for step in range(3))


def test_a_lesson_makes_the_users_of_the_file(run: Trained, vectors: Vectors, lesson: Lesson) -> None:
    """The sum over a history that the loss scores with is the vector that the device folds in."""
    users = np.array([3, 17, 40])
    batch = lesson.steps(1)._histories.batch(users, 0)
    made = np.zeros((len(users), 16))
    np.add.at(made, batch.owners, batch.weights[:, None] * vectors.items[batch.items])
    folded = FoldIn((vectors.items,), run.graph).users()[users]
    ratio = made / folded
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-3)
    np.testing.assert_allclose(batch.lengths, np.linalg.norm(vectors.items, axis=1), rtol=1e-5)


def test_learnt_rows_lose_less_and_are_as_long(vectors: Vectors, lesson: Lesson) -> None:
    items = np.arange(len(vectors.items))
    short = allocated(vectors.items, ROWS.keep, lesson.train.item_counts())
    plain = EncodedVectors(encode_coded(code_rows(short, ROWS.bits), ROWS.bits), ()).read[0]
    learnt = learn_encoding(vectors, ROWS, lesson, True)(items).read[0]
    assert loss(learnt, lesson) < loss(plain, lesson)
    assert np.array_equal(learnt != 0, plain != 0), "entries stay where they are"
    lengths = np.linalg.norm(vectors.items, axis=1)
    np.testing.assert_allclose(np.linalg.norm(learnt, axis=1), lengths, rtol=0.03)


def test_the_temperature_is_the_one_that_scores_best(vectors: Vectors, lesson: Lesson) -> None:
    """Whatever the score says: here how sharp the learnt rows are, which differs from one to the next."""
    seen: list[float] = []

    def score(made: EncodedVectors) -> float:
        seen.append(float(np.abs(made.read[0]).sum()))
        return seen[-1]

    chosen = choose_lesson(lesson, vectors, score).temperature
    assert len(seen) == len(TEMPERATURES) and len(set(seen)) > 1
    assert chosen == possible_temperatures(lesson, vectors)[int(np.argmax(seen))]


def test_a_file_of_learnt_rows_answers_as_measured(run: Trained, vectors: Vectors, tmp_path: Path) -> None:
    report = export_run(run, tmp_path / "m.srec", ExportOptions(encoding=ROWS, min_users=1))
    assert report.encoding["learnt"]
    model, train = device.load(tmp_path / "m.srec"), run.split.train
    found = []
    for user in np.unique(run.split.valid.users):
        history = train.item_ids.external(train.items[train.users == user])
        wanted = set(train.item_ids.external(run.split.valid.items[run.split.valid.users == user]))
        found.append(
            len(wanted & {one.id for one in model.recommend(history=list(history), k=20)}) / len(wanted)
        )
    assert report.quality["file"]["folded"]["recall@20"] == pytest.approx(np.mean(found), abs=0.01)
