"""A term of popularity goes into a file where validation says that it pays, and only there."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sparserec import device
from sparserec.data import read_source
from sparserec.encodings import Chosen, EncodedLists, EncodedVectors, Encoding, FileQuality, Material
from sparserec.export import ExportOptions, choose, export_run
from sparserec.export.term import choose_term
from sparserec.recommenders import Vectors
from sparserec.runs import Trained, open_run
from sparserec.runs.train import train_run
from sparserec.training.config import Recipe, RunConfig

GAPS = Encoding(4, 8, "shared", "gaps")


@pytest.fixture(scope="module")
def fashion(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """People who choose by popularity alone, and a training too short to notice."""
    rng = np.random.default_rng(0)
    fame = 1.0 / np.arange(1, 61)
    pairs = [
        (user, item) for user in range(150) for item in rng.choice(60, 8, replace=False, p=fame / fame.sum())
    ]
    config = RunConfig(
        base="history", method="dense", dim=16, base_settings={"temperature": 0.5, "length_exponent": 0.0},
        recipe=Recipe(epochs=1, batch_size=200, validate_every=1), open_test=False,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("runs") / "fashion"
    train_run(config, folder, source=read_source(pairs))
    return open_run(folder)


def tables(run: Trained, vectors: Vectors, encoding: Encoding) -> EncodedVectors | EncodedLists:
    material = Material(vectors, run.split.train, Chosen(run.split, True), 1)
    return encoding.of.encode(encoding, material, None)


def test_the_term_of_a_file_is_what_was_measured(fashion: Trained, tmp_path: Path) -> None:
    """The reader's answers are those that the metrics in its card were made of; without the option nothing changes."""
    path = tmp_path / "model.srec"
    plain = export_run(fashion, path, ExportOptions(encoding=GAPS, min_users=0))
    before = path.read_bytes()
    assert device.loads(before).terms is None and plain.term == 0.0
    found = export_run(fashion, path, ExportOptions(encoding=GAPS, term=True, min_users=0))
    model = device.load(path)
    assert found.term > 0 and model.terms is not None
    assert found.quality["file"]["folded"]["ndcg@20"] > 1.1 * plain.quality["file"]["folded"]["ndcg@20"]
    counts = fashion.split.train.item_counts()
    assert [model.terms[item] for item in range(len(counts))] == pytest.approx(
        found.term * np.log(np.maximum(counts[np.argsort(fashion.split.train.item_ids.external())], 1)),
        rel=0.01,
    )
    assert found.bytes - len(before) < 800  # values of the levels that degrees have anyway, and the header


def test_a_budget_has_room_for_it_or_goes_without(
    fashion: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose, "possible_encodings", lambda *_: [Encoding(2, 8, "shared", "gaps")])

    def export(budget: int) -> float:
        options = ExportOptions(budget=budget, learn=False, term=True, min_users=0)
        return export_run(fashion, tmp_path / "model.srec", options).term

    with pytest.raises(choose.NothingFitsError) as refused:
        export(100)
    least = int(re.findall(r"has ([\d,]+)", str(refused.value))[0].replace(",", ""))
    assert export(least) == 0.0
    assert export(least + 800) > 0.0


def test_terms_are_chosen_only_where_they_are_surely_better(fashion: Trained) -> None:
    """Where all items have as many users, there is none."""
    vectors = fashion.recommender.vectors(fashion.graph, fashion.table)
    split, truth = fashion.split, fashion.split.valid
    made = tables(fashion, vectors, GAPS)
    term = choose_term(vectors, made, split, truth)
    assert term is not None
    scores = [
        FileQuality(vectors, split, replace(made, term=one)).users(truth)["ndcg@20"].mean()
        for one in (None, term)
    ]
    assert scores[1] > scores[0]
    flat = replace(split, train=split.train.select(np.zeros(len(split.train), bool)))
    assert choose_term(vectors, made, flat, truth) is None


def test_rare_items_are_never_preferred(fashion: Trained) -> None:
    """Even where what people do next is what few did before: a file would tell of those few."""
    vectors = fashion.recommender.vectors(fashion.graph, fashion.table)
    split, counts = fashion.split, fashion.split.train.item_counts()
    rare = split.valid.select(counts[split.valid.items] < np.median(counts))
    assert choose_term(vectors, tables(fashion, vectors, GAPS), split, rare) is None


def test_lists_have_terms_too(fashion: Trained) -> None:
    """Items in no list are then ranked by how many people chose them."""
    vectors = fashion.recommender.vectors(fashion.graph, fashion.table)
    split, truth = fashion.split, fashion.split.valid
    for kind in ("neighbours",):
        made = tables(fashion, vectors, Encoding(4, 4, "shared", kind))
        term = choose_term(vectors, made, split, truth)
        assert term is not None
        plain, better = (
            FileQuality(vectors, split, replace(made, term=one)).users(truth)["ndcg@20"].mean()
            for one in (None, term)
        )
        assert better > plain
