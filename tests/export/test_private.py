"""The attack: somebody who knows of one rare thing that a person has asks the file what else that person has.

Items with one user stand for what is known. What the file says of them is compared with what popularity says of
anybody: a file that keeps people apart does not do much better. Degrees are in the file, so the attacker may also add
popularity to the answers by hand, as much as serves them best.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparserec import device
from sparserec.data import read_source
from sparserec.encodings import ENCODINGS, Encoding
from sparserec.errors import SettingError
from sparserec.export import ExportOptions, export_run
from sparserec.export.choose import possible_encodings
from sparserec.runs import Trained, open_run, train_run
from sparserec.training import RunConfig
from sparserec.training.config import Recipe

COMMON, RARE, USERS = 120, 30, 150
BY_HAND = (0.0, 0.2, 0.4, 0.8, 1.5, 3.0)
"""Weights of popularity: how far the logarithms of the items' users are apart, over how far their scores are."""


def log() -> list[tuple[int, int]]:
    """Tastes that have nothing to do with each other, and thirty items with one user each."""
    rng = np.random.default_rng(0)
    common = {(user, int(item)) for user in range(USERS) for item in COMMON * rng.random(12) ** 2}
    return sorted(common | {(4 * rare, COMMON + rare) for rare in range(RARE)})


def trained(folder: Path, base: str, method: str, base_settings: dict[str, object]) -> Trained:
    config = RunConfig(
        base=base, method=method, dim=32, density=0.5, base_settings=base_settings, open_test=False,
        recipe=Recipe(epochs=10, batch_size=200, validate_every=5),
    )  # fmt: skip
    train_run(config, folder, source=read_source(log()))
    return open_run(folder)


@pytest.fixture(scope="module")
def of_histories(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return trained(tmp_path_factory.mktemp("runs") / "history", "history", "sparserec", {"temperature": 0.3})


@pytest.fixture(scope="module")
def of_graph(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return trained(tmp_path_factory.mktemp("runs") / "lightgcn", "lightgcn", "dense", {})


def others_of_rare(run: Trained) -> dict[int, set[int]]:
    """By item with one user: what else that person has in the log that the file is made from."""
    train = run.split.train
    found = {}
    for item in np.flatnonzero(train.item_counts() == 1):
        user = train.users[train.items == item][0]
        others = set(train.item_ids.external(train.items[train.users == user]).tolist())
        name = int(train.item_ids.external([item])[0])
        if name >= COMMON:
            found[name] = others - {name}
    return found


def attack(path: Path, run: Trained) -> tuple[int, int, int]:
    """Of the others: found by the better of two questions at the best weight of popularity, by popularity, all."""
    model, train = device.load(path), run.split.train
    users = dict(zip(train.item_ids.external().tolist(), train.item_counts().tolist()))
    popular = sorted(users, key=lambda item: -users[item])
    found, chance, total = np.zeros(len(BY_HAND), int), 0, 0
    for item, others in others_of_rare(run).items():
        answers = (model.recommend(history=[item], k=len(users)), model.similar(item, k=len(users) - 1))
        found += np.max([_found(answer, others, users) for answer in answers], axis=0)
        chance += len(others & set(popular[: len(others)]))
        total += len(others)
    assert total > 100
    return int(found.max()), chance, total


def _found(answer: list[Any], others: set[int], users: dict[int, int]) -> list[int]:
    """How many of the others are among as many of the best, by weight of popularity."""
    ids, scores = [one.id for one in answer], np.array([one.score for one in answer])
    logs = np.log([max(users[one], 1) for one in ids])
    terms = logs * (scores.std() or 1.0) / logs.std()
    ranked = (np.argsort(-(scores + weight * terms), kind="stable")[: len(others)] for weight in BY_HAND)
    return [len(others & {ids[place] for place in best}) for best in ranked]


LISTS = [Encoding(4, 64, "shared", kind) for kind in ("together", "ease", "neighbours")]
VECTORS = [
    Encoding(8, 32),
    Encoding(4, 12, "shared", "gaps"),
    Encoding(4, 8, "shared", "prefix"),
    Encoding(8, 8, "shared", "codes"),
    Encoding(4, 12, "shared", "gaps", learnt=True),
    Encoding(8, 8, "shared", "codes", learnt=True),
]


def test_every_kind_is_attacked(of_histories: Trained) -> None:
    vectors = of_histories.recommender.vectors(of_histories.graph, of_histories.table)
    kinds = {one.kind for one in possible_encodings(vectors)}
    assert kinds == {one.kind for one in (*LISTS, *VECTORS)} == set(ENCODINGS)


@pytest.mark.parametrize("encoding", [*LISTS, *VECTORS], ids=lambda one: one.label)
def test_a_rare_item_is_in_no_file(of_histories: Trained, tmp_path: Path, encoding: Encoding) -> None:
    report = export_run(of_histories, tmp_path / "m.srec", ExportOptions(encoding=encoding))
    counts = of_histories.split.train.item_counts()
    assert report.dropped_items == np.count_nonzero(counts < 3) > 0
    known = {one.id for one in device.load(tmp_path / "m.srec").recommend(history=[0], k=200)}
    assert len(known) > 100 and not known & set(others_of_rare(of_histories))


@pytest.mark.parametrize("encoding", LISTS, ids=lambda one: one.label)
def test_lists_tell_no_more_than_popularity(
    of_histories: Trained, tmp_path: Path, encoding: Encoding
) -> None:
    """Even where rare items are taken in."""
    export_run(of_histories, tmp_path / "m.srec", ExportOptions(encoding=encoding, min_users=1))
    found, chance, total = attack(tmp_path / "m.srec", of_histories)
    assert found <= 1.1 * chance < total / 3, (found, chance, total)


@pytest.mark.parametrize("encoding", VECTORS, ids=lambda one: one.label)
def test_vectors_tell_who_has_a_rare_item_so_it_is_left_out(
    of_histories: Trained, tmp_path: Path, encoding: Encoding
) -> None:
    """As they are, vectors of base history tell hardly more than popularity; added by hand it finds most."""
    export_run(of_histories, tmp_path / "m.srec", ExportOptions(encoding=encoding, min_users=1))
    found, chance, _ = attack(tmp_path / "m.srec", of_histories)
    assert found > 2 * chance


def test_the_attack_works_where_nothing_is_held_back(of_histories: Trained, tmp_path: Path) -> None:
    """426 of 426 in the log it was found on: lists of pairs that one person has are that person's history."""
    options = ExportOptions(encoding=LISTS[0], list_users=1, min_users=1)
    export_run(of_histories, tmp_path / "m.srec", options)
    found, _, total = attack(tmp_path / "m.srec", of_histories)
    assert found == total
    assert device.load(tmp_path / "m.srec").card()["card"]["list_users"] == 1, "and the file says so"


def test_entries_need_three_people_and_items_three_users(of_histories: Trained, tmp_path: Path) -> None:
    train = of_histories.split.train
    seen = np.zeros((train.n_users, train.n_items), int)
    seen[train.users, train.items] = 1
    both, ids = seen.T @ seen, train.item_ids
    for encoding in LISTS:
        export_run(of_histories, tmp_path / "m.srec", ExportOptions(encoding=encoding, min_users=1))
        model, listed = device.load(tmp_path / "m.srec"), 0
        for item in np.flatnonzero(train.item_counts()):  # the others are not in the file
            name = int(ids.external([item])[0])
            near = [one for one in model.similar(name, k=train.n_items - 1) if one.score != 0]
            others = ids.index_of([one.id for one in near])
            listed += len(others)
            assert (train.item_counts()[others] >= 3).all()
            assert len(others) == 0 or train.item_counts()[item] >= 3
            assert encoding.kind == "neighbours" or (both[item, others] >= 3).all()
        assert listed > 100
        assert model.card()["card"]["list_users"] == 3


def test_vectors_of_a_graph_tell_it_too(of_graph: Trained, tmp_path: Path) -> None:
    """The vector of an item with one user is made of that user's items."""
    export_run(of_graph, tmp_path / "m.srec", ExportOptions(encoding=Encoding(8, 32), min_users=1))
    found, chance, _ = attack(tmp_path / "m.srec", of_graph)
    assert found > 2 * chance


def test_a_floor_below_one(of_histories: Trained, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="`list_users` 0: must be at least 1"):
        export_run(of_histories, tmp_path / "m.srec", ExportOptions(encoding=LISTS[0], list_users=0))
