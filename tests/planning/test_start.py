"""Start and batches where nobody says so: by the base, the size of the log, the memory and who shares the table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "methods"))
from method_toy import train_toy

from sparserec.exploration import allocate_entries
from sparserec.planning import Machine, Settled, Sizes, estimate_run, settle_config
from sparserec.training import RunConfig, build_config

SIZES = Sizes.of_counts(40_000, 100_000, {"train": 1_000_000}, "resplit")
BEST = {"init": "rotated", "start_ratio": 2.0, "row_exponent": 0.3}


def config(**changes: Any) -> RunConfig:
    return build_config({"base": "history", **changes})


def settled(one: RunConfig, usable: int | None = None, **how: Any) -> dict[str, Any]:
    return settle_config(one, SIZES, Machine(usable, **how)).config.method_settings


def test_rotated_axes_and_twice_the_entries_where_items_are_all_there_is() -> None:
    assert settled(config()) == BEST == settle_config(config(), None).config.method_settings
    assert settled(config(method_settings={"drop_fraction": 0.1})) == {**BEST, "drop_fraction": 0.1}
    assert settled(config(method_settings={"start_ratio": 3.0})) == {**BEST, "start_ratio": 3.0}


@pytest.mark.parametrize(
    "changes",
    [
        {"method_settings": {"init": "rotated"}},
        {"method_settings": {"init": "nmf"}},
        {"method": "static"},
        {"method": "dense"},
        {"base": "lightgcn"},
        {"like": "paper"},
    ],
)
def test_whoever_names_a_start_or_has_rows_for_users_keeps_theirs(changes: dict[str, Any]) -> None:
    one = build_config(changes if "like" in changes else {"base": "history", **changes})
    assert settle_config(one, SIZES, Machine(1)) == Settled(one), "not even memory is looked at"


def test_without_the_memory_of_a_dense_table_it_is_a_factorisation() -> None:
    best = estimate_run(config(method_settings=BEST), SIZES, timed=False).peak
    papers = estimate_run(config(method_settings={"init": "nmf"}), SIZES, timed=False).peak
    assert papers < 0.75 * best, "else this test says nothing"
    usable = round(0.75 * best) - 1
    found = settle_config(config(), SIZES, Machine(usable))
    assert found.config.method_settings == {"init": "nmf"} and "would take" in found.notes[0]
    assert settled(config(), usable + 1) == BEST


def test_processes_and_old_runs_start_from_what_they_can_share() -> None:
    shared = settle_config(config(), SIZES, Machine(processes=2))
    assert shared.config.method_settings == {"init": "nmf"} and "several processes" in shared.notes[0]
    assert settled(config(), goes_on=True) == {"init": "nmf"}


def test_the_start_is_in_the_record(tmp_path: Path) -> None:
    finished = train_toy(tmp_path / "run", "sparserec", "history", method_settings={})
    assert finished.record["config"]["method_settings"] == BEST
    assert finished.record["method_settings"]["start_ratio"] == 2.0
    assert [phase["name"] for phase in finished.record["epochs"]] == ["rotate", "train"]
    counts, sizes = finished.prepared.split.train.item_counts(), finished.table.row_sizes()
    assert sizes.tolist() == allocate_entries(counts, 6 * len(sizes), 24, 0.3).tolist(), (
        "cut to the budget, as allocated"
    )


@pytest.mark.parametrize(
    ("train", "batch", "epochs", "rate"),
    [
        (600_000, 32000, 30, 0.12),  # 19 steps an epoch
        (
            80_000,
            8000,
            30,
            0.06,
        ),  # 80,000 * 30 / 300: 10 steps an epoch; a quarter of the batch, half the rate
        (6_000, 1000, 50, 0.12 / 32**0.5),  # no fewer than a thousand: 6 steps an epoch, so 50 epochs
    ],
)
def test_batches_of_a_small_log(train: int, batch: int, epochs: int, rate: float) -> None:
    made = settle_config(build_config({"base": "lightgcn"}), Sizes(1000, 1000, train))
    found = made.config
    assert found.recipe.batch_size == batch and (not made.notes) == (batch == 32000)
    assert found.recipe.learning_rate == pytest.approx(rate)
    assert found.recipe.length(-(-train // batch)) == epochs
    assert settle_config(found, Sizes(1000, 1000, train)) == Settled(found), "settled once, it stays"


@pytest.mark.parametrize(
    "changes",
    [
        {"base": "lightgcn", "recipe": {"epochs": 5}},
        {"base": "lightgcn", "recipe": {"batch_size": 7000}},
        {"like": "paper"},
        {"base": "history"},
    ],
)
def test_batches_that_were_said_stand(changes: dict[str, Any]) -> None:
    one = build_config(changes)
    settled = settle_config(one, Sizes(1000, 1000, 24_000))
    assert settled.config.recipe == one.recipe and not settled.notes


def test_a_rate_that_was_chosen_stands() -> None:
    one = build_config({"base": "lightgcn", "recipe": {"learning_rate": 0.2}})
    recipe = settle_config(one, Sizes(1000, 1000, 80_000)).config.recipe
    assert (recipe.batch_size, recipe.learning_rate) == (8000, 0.2)


def test_small_batches_are_trained_and_recorded(tmp_path: Path) -> None:
    """605 edges of the toy are one batch; asked for 40 steps in 12 epochs it is still one, and 40 epochs."""
    recipe = {"epochs": 12, "batch_size": 8000, "least_steps": 40}
    finished = train_toy(tmp_path / "run", "static", recipe=recipe)
    assert finished.record["config"]["recipe"]["batch_size"] == 1000
    assert finished.prepared.sampler.steps_per_epoch == 1 and finished.prepared.context.epochs == 40


def test_a_record_says_what_share_of_the_rows_a_batch_has(tmp_path: Path) -> None:
    whole = train_toy(tmp_path / "whole", "static", recipe={"epochs": 1, "batch_size": 8000}).record
    part = train_toy(tmp_path / "part", "static", recipe={"epochs": 1, "batch_size": 10}).record
    assert whole.batch_rows == {"rows": 168, "of": 168}, "605 edges in one batch, a negative each: every row"
    assert part.batch_rows is not None and part.batch_rows["of"] == 168
    assert 10 < part.batch_rows["rows"] <= 30
