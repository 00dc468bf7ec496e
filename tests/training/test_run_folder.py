"""What a run folder refuses, and what it leaves when something goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from small_run import blocks, small_config

from sparserec.errors import DataError, RunError, SettingError, TrainingError
from sparserec.runs.train import train_run
from sparserec.runs.trained import open_run
from sparserec.training import checkpoint
from sparserec.training.checkpoint import load_table, read_arrays, write_arrays
from sparserec.training.config import RECIPES, EarlyStop, Recipe, build_config, expand_recipe


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    train_run(small_config(method="small_dense", method_settings={}), folder, source=blocks())
    return folder


def test_a_finished_run_is_not_trained_over(finished: Path) -> None:
    with pytest.raises(RunError, match="finished"):
        train_run(
            small_config(method="small_dense", method_settings={}), finished, source=blocks(), resume=True
        )


def test_another_configuration_is_refused(finished: Path) -> None:
    with pytest.raises(RunError, match="other settings"):
        train_run(small_config(seed=5), finished, source=blocks(), resume=True)


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match="not a run folder"):
        train_run(small_config(), tmp_path, source=blocks())
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_the_record_traces_the_numbers(finished: Path) -> None:
    record = json.loads((finished / "record.json").read_text())
    assert record["split"]["hash"] and record["environment"]["packages"]["torch"] and record["digest"]
    assert set(record["test"]) == {"float", "int8", "int4"}
    assert set(record["memory"]["peak"]) >= {"read", "init", "train", "evaluate"}
    with np.load(finished / "per_user.npz") as per_user:
        assert per_user["float.ndcg@20"].mean() == pytest.approx(record["test"]["float"]["ndcg@20"])


def test_the_best_table_is_the_one_kept(tmp_path: Path) -> None:
    """At a rate that spoils what was learnt, so that the best is not the last."""
    recipe = Recipe(epochs=6, batch_size=100, validate_every=1, learning_rate=3.0, patience=9)
    config = small_config(method="static", recipe=recipe)
    finished = train_run(config, tmp_path / "run", source=blocks())
    scores = [
        line["valid"]["ndcg@20"]
        for line in map(json.loads, (tmp_path / "run" / "events.jsonl").open())
        if "valid" in line
    ]
    again = finished.prepared.validate(load_table(tmp_path / "run" / "model.safetensors")).metrics
    assert again["ndcg@20"] == max(scores) > scores[-1]


def test_a_loss_that_is_not_finite_stops_with_the_place(tmp_path: Path) -> None:
    config = small_config(base_settings={"init_scale": 1e30}, method="small_dense", method_settings={})
    with pytest.raises(TrainingError, match=r"phase 'train', epoch 1, step 1"):
        train_run(config, tmp_path / "run", source=blocks())


def test_too_few_items_and_too_low_a_density(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="fewer than the list length"):
        train_run(small_config(ks=(200,)), tmp_path / "a", source=blocks())
    with pytest.raises(SettingError, match="raise density or dim"):
        train_run(
            small_config(density=1e-5, method_settings={"init": "uniform"}), tmp_path / "b", source=blocks()
        )


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.safetensors"
    write_arrays(path, {"a": np.arange(3)}, {"step": 1})

    def full(*args: object, **options: object) -> None:
        Path(args[1]).write_bytes(b"half")  # type: ignore[arg-type]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(RunError, match="No space left"):
        write_arrays(path, {"a": np.arange(4)}, {"step": 2})
    assert [one.name for one in tmp_path.iterdir()] == ["c.safetensors"]
    assert read_arrays(path)[1] == {"step": 1}


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"not a checkpoint"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(RunError, match=r"model\.safetensors"):
        read_arrays(tmp_path / "model.safetensors")


def test_reopening_says_what_is_missing(tmp_path: Path, finished: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        open_run(tmp_path)
    run = open_run(finished)
    assert run.config.method == "small_dense" and len(run.split.train) > 0


def test_early_stop_counts_only_once_patience_has_begun() -> None:
    stop = EarlyStop()
    seen = [
        stop.see(epoch, score, epoch > 3)
        for epoch, score in enumerate([0.1, 0.3, 0.2, 0.2, 0.25, 0.35, 0.3], 1)
    ]
    assert seen == [True, True, False, False, False, True, False]
    assert (stop.best_epoch, stop.waited) == (6, 1)


def test_recipes_of_the_paper_keep_its_rate() -> None:
    rates = {
        name: expand_recipe({"base": "lightgcn", "recipe": name})["recipe"].get("learning_rate")
        for name in RECIPES
    }
    papers = {"paper-rate": 0.01, "paper": 0.01, "paper-yelp-lightgcn": 0.01}
    ours = {"default": 0.12, "fall-100": None, "plain": None, "history": 0.02}
    assert rates == {**ours, **papers}
    assert Recipe().learning_rate == 0.08
    published = build_config(
        {"base": "xsimgcl", "preset": "published-yelp2018", "recipe": {"preset": "paper-rate"}}
    )
    assert published.recipe.learning_rate == 0.001  # a preset knows better than a recipe's name


def test_recipe_rates() -> None:
    recipe = Recipe(epochs=3, learning_rate=0.01, final_learning_rate=0.0001)
    assert [recipe.rate(epoch, 3) for epoch in (1, 2, 3)] == pytest.approx([0.01, 0.001, 0.0001])
    decayed = Recipe(learning_rate=0.01, final_learning_rate=None, rate_decay=0.5, rate_floor=0.003)
    assert [decayed.rate(epoch, 9) for epoch in (1, 2, 3)] == pytest.approx([0.01, 0.005, 0.003])


def test_a_search_leaves_the_test_set_closed(tmp_path: Path) -> None:
    config = small_config(method="small_dense", method_settings={}, open_test=False)
    record = train_run(config, tmp_path / "run", source=blocks()).record
    assert record["test"] == {} and record["export"] is None and record["test_opened"] is None
    assert not (tmp_path / "run" / "per_user.npz").exists()
    assert record["epochs"][0]["best_score"] > 0


def test_a_score_counts_no_more_once_the_table_changed_its_size() -> None:
    stop = EarlyStop()
    assert [stop.see(1, 0.5, True, 20), stop.see(2, 0.4, True, 20), stop.see(3, 0.3, True, 10)] == [
        True,
        False,
        True,
    ]
    assert (stop.best_score, stop.best_epoch, stop.waited) == (0.3, 3, 0), "a wider table must not win"


def test_weight_decay_of_the_recipe_reaches_the_steps(tmp_path: Path) -> None:
    sizes = []
    for decay in (0.0, 1.0):
        recipe = Recipe(epochs=2, batch_size=100, weight_decay=decay)
        table = train_run(
            small_config(method="static", method_settings={}, recipe=recipe), tmp_path / str(decay), blocks()
        ).table
        sizes.append(float(np.abs(table.values).sum()))
    assert sizes[1] < 0.8 * sizes[0]
