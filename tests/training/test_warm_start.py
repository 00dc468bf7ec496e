"""Warm start: what is kept, dropped and grown, by hand and against dictionaries; nothing trained on is tested on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sparserec.data import IdMap, Interactions, Source, split_interactions
from sparserec.data.columns import ReadReport
from sparserec.errors import SettingError
from sparserec.exploration import active_target, positions_per_block
from sparserec.methods import Context
from sparserec.runs.continued_table import continue_table, row_quotas
from sparserec.runs.train import train_run
from sparserec.runs.warm_start import matched_rows, open_warm_start
from sparserec.table import DenseTable, InitialValues, Shape, SparseTable, Update
from sparserec.training.config import RunConfig

INITIAL = InitialValues(0, "normal", 0.1, 0.1)


def log(pairs: list[tuple[int, int]], users: list[int], items: list[int]) -> Interactions:
    """Interactions with the given numbering of external ids."""
    left, right = zip(*pairs)
    user_ids, item_ids = IdMap(np.array(users)), IdMap(np.array(items))
    return Interactions.from_codes(user_ids.index_of(left), item_ids.index_of(right), user_ids, item_ids)


def context(train: Interactions, dim: int, density: float) -> Context:
    return Context(train, dim, density, 1, 1, 0, lambda width: INITIAL, None)


def sparse(shape: Shape, cells: dict[tuple[int, int], float]) -> SparseTable:
    """A table with these entries; moments are made from the values so that one can follow them."""
    rows = np.array([row for row, _ in cells], np.int64)
    columns = np.array([column for _, column in cells], np.int64)
    support = positions_per_block(shape, rows, columns)
    table = SparseTable(shape, support, np.zeros(len(cells), np.float32))
    found = list(zip(*table.entries()[:2]))
    table.values = np.array([cells[(int(r), int(c))] for r, c in found], np.float32)
    table.first, table.second = table.values * 10, np.abs(table.values) * 100
    return table


def cells_of(table: SparseTable) -> dict[tuple[int, int], tuple[float, float, float]]:
    rows, columns, values = table.entries()
    return {
        (int(r), int(c)): (float(v), float(m), float(s))
        for r, c, v, m, s in zip(rows, columns, values, table.first, table.second)
    }


# Old log: users 1, 2 and items 7, 8 (rows 0, 1, 2, 3). New log: items and users in another order, user 3 is new and
# has chosen item 8 only.
OLD = log([(1, 7), (2, 8)], [1, 2], [7, 8])
NEW = log([(1, 7), (2, 8), (3, 8)], [2, 3, 1], [8, 7])


def test_rows_are_matched_by_external_id() -> None:
    assert matched_rows(NEW, OLD).tolist() == [1, -1, 0, 3, 2]


def test_old_entries_keep_value_and_moments_and_a_new_row_follows_its_neighbour() -> None:
    old = sparse(Shape(2, 2, 4, 2), {(0, 0): 1.0, (1, 2): -2.0, (3, 1): 3.0, (3, 3): 0.5, (2, 0): 0.1})
    table = SparseTable(Shape(3, 2, 4, 4), [np.empty(0, np.int32)], np.empty(0, np.float32))
    report = continue_table(table, old, matched_rows(NEW, OLD), context(NEW, 4, 0.3), steps=100)
    # K = round(.3 * 5 * 4) = 6, of which round(.3 * 4) = 1 is for user 3: item 8 is strongest in column 1.
    assert cells_of(table) == {
        (2, 0): (1.0, 10.0, 100.0), (0, 2): (-2.0, -20.0, 200.0), (3, 1): (3.0, 30.0, 300.0),
        (3, 3): (0.5, 5.0, 50.0), (4, 0): pytest.approx((0.1, 1.0, 10.0)), (1, 1): (3.0, 0.0, 0.0),
    }  # fmt: skip
    assert report == {
        "matched": 4, "new_users": 1, "new_items": 0, "kept": 5, "dropped": 0, "lost_with_rows": 0, "grown": 1,
        "active": 6,
    }  # fmt: skip
    assert table.cohorts.births == [-100, 0]
    assert table.ages[table.values == 3.0].tolist() in ([0, 1], [1, 0])


def test_where_there_are_items_only_a_new_one_follows_those_it_shares_users_with() -> None:
    grown = log([(1, 7), (1, 9), (2, 8)], [1, 2], [8, 7, 9])
    assert matched_rows(grown, OLD, user_rows=False).tolist() == [1, 0, -1]
    old = sparse(Shape(0, 2, 4, 4), {(0, 1): 3.0, (0, 2): 0.5, (1, 0): 1.0})
    table = SparseTable(Shape(0, 3, 4, 4), [np.empty(0, np.int32)], np.empty(0, np.float32))
    here = replace(context(grown, 4, 0.34), user_rows=False)
    report = continue_table(table, old, matched_rows(grown, OLD, user_rows=False), here, steps=100)
    # K = round(.34 * 3 * 4) = 4, one of them for item 9, which shares user 1 with item 7: strongest in column 1.
    assert {cell: values[0] for cell, values in cells_of(table).items()} == {
        (0, 0): 1.0, (1, 1): 3.0, (1, 2): 0.5, (2, 1): 3.0,
    }  # fmt: skip
    assert (report["matched"], report["new_users"], report["new_items"]) == (2, 0, 1)


def test_the_smallest_go_when_there_is_less_room() -> None:
    old = sparse(Shape(2, 2, 4, 2), {(0, 0): 1.0, (1, 2): -2.0, (3, 1): 3.0, (3, 3): 0.5, (2, 0): 0.1})
    table = SparseTable(Shape(3, 2, 4, 4), [np.empty(0, np.int32)], np.empty(0, np.float32))
    report = continue_table(table, old, matched_rows(NEW, OLD), context(NEW, 4, 0.2), steps=100)
    assert set(cells_of(table)) == {(2, 0), (0, 2), (3, 1), (1, 1)}  # K = 4, one of them for the new user
    assert report["dropped"] == 2


@st.composite
def situations(draw: st.DrawFn) -> tuple:
    """An old table, a new log and a density, all small."""
    old_users, old_items = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    users, items = draw(st.permutations(range(7))), draw(st.permutations(range(7)))
    users, items = users[: draw(st.integers(2, 7))], items[: draw(st.integers(2, 7))]
    dim = draw(st.sampled_from([3, 8, 10]))
    seed = draw(st.integers(0, 1000))
    return old_users, old_items, list(users), list(items), dim, draw(st.sampled_from([0.2, 0.5, 0.9])), seed


@given(situations())
def test_against_a_dictionary(situation: tuple) -> None:
    old_users, old_items, users, items, dim, density, seed = situation
    rng = np.random.default_rng(seed)
    old_log = log(
        [(u, i) for u in range(old_users) for i in range(old_items)],
        list(range(old_users)),
        list(range(old_items)),
    )
    pairs = [(u, i) for u in users for i in items if rng.random() < 0.7] or [(users[0], items[0])]
    new_log = log(pairs, users, items)
    old_shape = Shape(old_users, old_items, dim, 4)
    some = [(r, c) for r in range(old_users + old_items) for c in range(dim) if rng.random() < 0.4] or [
        (0, 0)
    ]
    old = sparse(
        old_shape, {cell: float(rng.permutation(len(some))[0] + rng.random() + 0.01) for cell in some}
    )
    shape = Shape(len(users), len(items), dim, 8)
    table = SparseTable(shape, [np.empty(0, np.int32) for _ in shape.blocks], np.empty(0, np.float32))
    report = continue_table(table, old, matched_rows(new_log, old_log), context(new_log, dim, density), 50)

    names = [("user", u) for u in users] + [("item", i) for i in items]
    old_names = [("user", u) for u in range(old_users)] + [("item", i) for i in range(old_items)]
    before = {(old_names[r], c): cell for (r, c), cell in cells_of(old).items()}
    after = {(names[r], c): cell for (r, c), cell in cells_of(table).items()}
    target = active_target(shape, density)
    assert len(after) == target == report["active"]
    survivors = {key: cell for key, cell in before.items() if key[0] in names}
    quota = min(round(density * sum(name not in old_names for name in names) * dim), target)
    by_size = sorted(survivors, key=lambda key: -survivors[key][0])[: target - quota]
    for key in by_size:
        assert after[key] == pytest.approx(survivors[key])
    kept = {key for key, cell in after.items() if cell[2] > 0}
    assert kept == set(by_size)
    assert np.array_equal(np.sort(table.positions[table.block(0)]), table.positions[table.block(0)])


def test_quota_of_new_rows_favours_frequent_ones_with_what_is_left() -> None:
    assert row_quotas(np.array([1, 9, 5]), 8, 16).tolist() == [2, 3, 3]
    assert row_quotas(np.array([1, 9]), 100, 16).tolist() == [16, 16]
    assert row_quotas(np.empty(0), 0, 16).tolist() == []


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_adam_goes_on_as_if_it_had_never_stopped(kind: str) -> None:
    """The same log: one more step of the old table and the first step of the continued one are the same step."""
    rng = np.random.default_rng(3)
    shape = Shape(2, 2, 4, 2)
    old = (
        sparse(shape, {(r, c): 0.1 * r - 0.2 * c + 0.05 for r in range(4) for c in range(0, 4, 2)})
        if kind == "sparse"
        else DenseTable.create(shape, INITIAL)
    )
    gradients = [
        [torch.from_numpy(rng.standard_normal((4, 2), np.float32)) for _ in range(2)] for _ in range(8)
    ]
    decay = np.zeros(4, np.float32)
    for step in range(1, 8):
        for block in range(2):
            old.receive(block, gradients[step - 1][block], Update(step, 0.01, decay))
    fresh = (
        SparseTable(shape, [np.empty(0, np.int32)] * 2, np.empty(0, np.float32))
        if kind == "sparse"
        else DenseTable.create(shape, INITIAL)
    )
    continue_table(fresh, old, np.arange(4), context(OLD, 4, 0.5), steps=7)
    for block in range(2):
        old.receive(block, gradients[7][block], Update(8, 0.01, decay))
        fresh.receive(block, gradients[7][block], Update(1, 0.01, decay))
    for name in ("values", "first", "second"):
        assert (
            np.array_equal(np.concatenate(getattr(old, name)), np.concatenate(getattr(fresh, name)))
            if (kind == "dense")
            else np.array_equal(getattr(old, name), getattr(fresh, name))
        )


def test_dense_rows_move_and_a_new_one_is_the_mean_of_its_neighbours() -> None:
    old = DenseTable(Shape(2, 2, 2, 2), [np.arange(8, dtype=np.float32).reshape(4, 2)])
    old.second = [np.full((4, 2), 0.5, np.float32)]
    table = DenseTable.create(Shape(3, 2, 2, 2), INITIAL)
    continue_table(table, old, matched_rows(NEW, OLD), context(NEW, 2, 1.0), steps=9)
    assert table.matrix().tolist() == [[2, 3], [6, 7], [0, 1], [6, 7], [4, 5]]  # user 3 knows item 8 only
    assert table.second[0].tolist() == [[0.5, 0.5]] * 5
    assert table.cohorts.births == [-9]


def test_other_kinds_and_widths_are_refused() -> None:
    old = DenseTable.create(Shape(2, 2, 4, 4), INITIAL)
    table = SparseTable(Shape(2, 2, 4, 4), [np.empty(0, np.int32)], np.empty(0, np.float32))
    with pytest.raises(SettingError, match="left a dense table"):
        continue_table(table, old, np.arange(4), context(OLD, 4, 0.5), 1)
    with pytest.raises(SettingError, match="same width"):
        continue_table(
            DenseTable.create(Shape(2, 2, 2, 2), INITIAL), old, np.arange(4), context(OLD, 2, 0.5), 1
        )


# -- whole runs --------------------------------------------------------------------------------------------------


def made_up(users: int, items: int, keep: float, seed: int = 1) -> Source:
    """Pairs of a fixed random matrix; a larger `keep` has all pairs of a smaller one."""
    draws = np.random.default_rng(seed).random((60, 40))
    left, right = np.nonzero(draws[:users, :items] < keep)
    data = Interactions.from_pairs(left + 100, right + 500, timestamps=left * 50 + right)
    return Source(data, None, None, ReadReport("made up"))


CONFIG = {
    "base": "lightgcn", "method": "static", "dim": 8, "density": 0.25, "ks": (5,), 
    "recipe": {"epochs": 2, "batch_size": 200},
}  # fmt: skip


@pytest.fixture(scope="module")
def old_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("warm") / "old"
    train_run(RunConfig.parse(CONFIG), folder, source=made_up(50, 35, 0.3))
    return folder


def externals(part: Interactions) -> set[tuple[int, int]]:
    return set(zip(part.user_ids.external(part.users).tolist(), part.item_ids.external(part.items).tolist()))


@pytest.mark.parametrize("protocol", ["resplit", "temporal"])
def test_what_was_trained_on_is_never_tested_on(old_run: Path, protocol: str) -> None:
    warm, source = open_warm_start(old_run), made_up(60, 40, 0.4)
    old = warm.run.split
    config = RunConfig.parse({**CONFIG, "protocol": protocol, "split_seed": 3})
    noted, split = warm.split(source, config)
    parts = [externals(part) for part in (split.train, split.valid, split.test)]
    assert set.union(*parts) == externals(source.train) and sum(map(len, parts)) == len(source.train)
    assert externals(old.train) <= parts[0]
    if protocol == "resplit":
        assert externals(old.test) <= parts[2] and externals(old.valid) <= parts[1]
        assert len(parts[2]) > len(old.test)
    else:
        plain = split_interactions(source, protocol, 3)
        moved = len(externals(old.train) & (externals(plain.valid) | externals(plain.test)))
        assert moved and f"{moved:,} held-out pairs" in noted.report.notes[-1]


def test_a_grown_log_goes_on_from_a_run(old_run: Path, tmp_path: Path) -> None:
    warm, source = open_warm_start(old_run), made_up(60, 40, 0.4)
    finished = train_run(RunConfig.parse(CONFIG), tmp_path / "new", source=source, start=warm)
    events = [json.loads(line) for line in (tmp_path / "new" / "events.jsonl").read_text().splitlines()]
    start = next(event for event in events if event["event"] == "warm start")
    assert (start["matched"], start["new_users"], start["new_items"]) == (85, 10, 5)
    assert start["active"] == finished.record["parameters"] == round(0.25 * 100 * 8)
    assert start["kept"] == round(0.25 * 85 * 8) and start["dropped"] == 0
    assert finished.record["config"]["start_from"] == warm.identity
    order = finished.prepared.split.train.user_ids.external()[:50]
    assert np.array_equal(order, warm.run.split.train.user_ids.external())


def test_settings_are_inherited_and_contradictions_refused(old_run: Path) -> None:
    warm = open_warm_start(old_run)
    assert warm.inherited()["dim"] == 8 and warm.inherited(method="dense")["method_settings"] == {}
    with pytest.raises(SettingError, match="8 columns"):
        warm.configure(RunConfig.parse({**CONFIG, "dim": 16}))
    with pytest.raises(SettingError, match="trained lightgcn"):
        warm.configure(RunConfig.parse({**CONFIG, "base": "mf"}))


def test_a_cold_run_keeps_the_digest_it_had_before_there_were_warm_ones() -> None:
    config = RunConfig.parse(CONFIG)
    before = {
        name: value
        for name, value in config.model_dump(mode="json").items()
        if name not in ("start_from", "final", "held_out_users")
    }
    text = json.dumps(before, sort_keys=True)
    assert config.digest() == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert config.digest() != config.model_copy(update={"start_from": "x"}).digest()


def test_a_start_on_rotated_axes_is_not_made_again(tmp_path: Path) -> None:
    """What sparserec starts with on base history is a trained table; a run that goes on has one already."""
    base = {"base": "history", "base_settings": {"temperature": 0.3}, "method": "sparserec"}
    config = RunConfig.parse({**CONFIG, **base})
    old = train_run(config, tmp_path / "old", source=made_up(50, 35, 0.3)).record
    assert [phase.name for phase in old.epochs] == ["rotate", "train"]
    warm = open_warm_start(tmp_path / "old")
    inherited = RunConfig.parse(warm.inherited())
    assert inherited.method_settings["init"] == "rotated"
    for one in (inherited, config):
        folder = tmp_path / one.digest()
        finished = train_run(one, folder, source=made_up(60, 40, 0.3), start=warm)
        assert [phase.name for phase in finished.record.epochs] == ["train"]
        assert finished.record.parameters == round(0.25 * 40 * 8)


def test_the_people_who_are_measured_stay_the_same(tmp_path: Path) -> None:
    """Of a grown log nothing of anybody else is held out."""
    config = RunConfig.parse({**CONFIG, "held_out_users": 10})
    train_run(config, tmp_path / "old", source=made_up(50, 35, 0.3))
    warm, source = open_warm_start(tmp_path / "old"), made_up(60, 40, 0.4)
    _, split = warm.split(source, config)
    parts = [externals(part) for part in (split.train, split.valid, split.test)]
    assert set.union(*parts) == externals(source.train) and sum(map(len, parts)) == len(source.train)

    def people(*parts: Interactions) -> set[int]:
        return {user for part in parts for user, _ in externals(part)}

    old = warm.run.split
    assert people(split.valid, split.test) == people(old.valid, old.test)
    assert len(split.test) > len(old.test), "their new pairs are divided as ever"
