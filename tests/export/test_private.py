"""The attack: somebody who knows of one rare thing that a person has asks the file what else that person has.

Items with one user stand for what is known. What the file says of them is compared with what popularity says of
anybody: a file that keeps people apart does not do much better.
"""

from __future__ import annotations

from pathlib import Path

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
from sparserec.vectors import make_vectors

COMMON, RARE, USERS = 120, 30, 150


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
    """Of the others: found by the better of two questions, found by popularity, all."""
    model, train = device.load(path), run.split.train
    popular = train.item_ids.external(np.argsort(-train.item_counts(), kind="stable")).tolist()
    found = chance = total = 0
    for item, others in others_of_rare(run).items():
        count = len(others)
        answers = (model.recommend(history=[item], k=count), model.similar(item, k=count))
        found += max(len(others & {one.id for one in answer}) for answer in answers)
        chance += len(others & set(popular[:count]))
        total += count
    assert total > 100
    return found, chance, total


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
    vectors = make_vectors(of_histories.recommender, of_histories.graph, of_histories.table)
    kinds = {one.kind for one in possible_encodings(vectors)}
    assert kinds == {one.kind for one in (*LISTS, *VECTORS)} == set(ENCODINGS)


@pytest.mark.parametrize("encoding", [*LISTS, *VECTORS], ids=lambda one: one.label)
def test_a_file_tells_no_more_than_popularity(
    of_histories: Trained, tmp_path: Path, encoding: Encoding
) -> None:
    export_run(of_histories, tmp_path / "m.srec", ExportOptions(encoding=encoding))
    found, chance, total = attack(tmp_path / "m.srec", of_histories)
    assert found <= (1.1 if encoding.of.lists else 1.6) * chance < total / 3, (found, chance, total)


def test_the_attack_works_where_nothing_is_held_back(of_histories: Trained, tmp_path: Path) -> None:
    """426 of 426 in the log it was found on: lists of pairs that one person has are that person's history."""
    export_run(of_histories, tmp_path / "m.srec", ExportOptions(encoding=LISTS[0], list_users=1))
    found, _, total = attack(tmp_path / "m.srec", of_histories)
    assert found == total
    assert device.load(tmp_path / "m.srec").card()["card"]["list_users"] == 1, "and the file says so"


def test_entries_need_three_people_and_items_three_users(of_histories: Trained, tmp_path: Path) -> None:
    train = of_histories.split.train
    seen = np.zeros((train.n_users, train.n_items), int)
    seen[train.users, train.items] = 1
    both, ids = seen.T @ seen, train.item_ids
    for encoding in LISTS:
        export_run(of_histories, tmp_path / "m.srec", ExportOptions(encoding=encoding))
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


def test_vectors_of_a_graph_tell_who_has_an_item_so_rare_ones_are_left_out(
    of_graph: Trained, tmp_path: Path
) -> None:
    """The vector of an item with one user is made of that user's items: by default it is not in the file."""
    options = ExportOptions(encoding=Encoding(8, 32))
    report = export_run(of_graph, tmp_path / "m.srec", options)
    counts = of_graph.split.train.item_counts()
    assert report.dropped_items == np.count_nonzero(counts < 3) > 0
    rare = set(others_of_rare(of_graph))
    assert not rare & {one.id for one in device.load(tmp_path / "m.srec").recommend(history=[0], k=100)}
    export_run(of_graph, tmp_path / "m.srec", ExportOptions(encoding=Encoding(8, 32), min_users=1))
    found, chance, _ = attack(tmp_path / "m.srec", of_graph)
    assert found > 2 * chance


def test_a_floor_below_one(of_histories: Trained, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="`list_users` 0: must be at least 1"):
        export_run(of_histories, tmp_path / "m.srec", ExportOptions(encoding=LISTS[0], list_users=0))
