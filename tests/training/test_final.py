"""A run that is trained once more on everything: how long, on what, what it says, and that it can be stopped."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from small_run import block_pairs, blocks, small_config, train_smaller

import sparserec
from sparserec import device
from sparserec.data import read_source
from sparserec.errors import RunError, SettingError
from sparserec.export import ExportOptions, export_run
from sparserec.runs.folder import RunFolder
from sparserec.runs.train import train_run
from sparserec.runs.trained import Trained, open_final, open_run
from sparserec.runs.warm_start import open_dense_run, open_warm_start
from sparserec.table import Table
from sparserec.training import build_config, loop, prepare_run
from sparserec.training.config import Recipe


def values(table: Table) -> np.ndarray:
    return table.device_rows(np.arange(table.shape.n_rows)).dense()


def same_table(one: Trained | None, other: Trained | None) -> bool:
    assert one is not None and other is not None
    states = one.table.state(), other.table.state()
    return all(np.array_equal(states[0][name], states[1][name]) for name in states[0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("final") / "run"
    train_run(small_config(final=True), path, source=blocks())
    return path


def test_it_has_seen_everything_and_holds_nothing_out(folder: Path) -> None:
    measured, final = open_run(folder), open_final(folder)
    assert final is not None
    assert (
        final.split.train.pair_hash()
        == blocks().merged().pair_hash()
        == measured.split.everything().pair_hash()
    )
    assert len(final.split.valid) == len(final.split.test) == 0
    assert len(measured.split.train) < len(final.split.train)


def test_each_phase_ends_where_validation_chose(folder: Path) -> None:
    phases = [event for event in RunFolder(folder).read_events() if event["event"] == "phase"]
    again = [event for event in RunFolder(folder).final.read_events() if event["event"] == "phase"]
    assert [event["best_epoch"] for event in phases] == [event["epochs"] for event in again]
    assert [event["share"] for event in phases] == [event["best_epoch"] / 6 for event in phases]
    assert not any("valid" in event for event in RunFolder(folder).final.read_events())


def test_a_best_epoch_before_the_last_is_where_it_ends(tmp_path: Path) -> None:
    recipe = Recipe(epochs=6, batch_size=100, validate_every=1, learning_rate=3.0, patience=9)
    train_run(small_config(final=True, recipe=recipe, method="static"), tmp_path / "run", source=blocks())
    run = RunFolder(tmp_path / "run")
    (phase,) = [event for event in run.read_events() if event["event"] == "phase"]
    epochs = [event for event in run.final.read_events() if event["event"] == "epoch"]
    assert phase["best_epoch"] < 6, "nothing was cut short, so nothing was tested"
    assert len(epochs) == phase["best_epoch"]
    whole = [event for event in run.read_events() if event["event"] == "epoch"]
    rates = [[event["learning_rate"] for event in part] for part in (epochs, whole)]
    assert rates[0] == pytest.approx(rates[1][: len(epochs)], rel=0.2), (
        "the schedule is that of the whole length"
    )


def test_the_record_says_which_figures_belong_to_which_model(folder: Path, tmp_path: Path) -> None:
    record = RunFolder(folder).read_record()
    assert record.final is not None and record.final.interactions == len(blocks().train)
    assert record.test["float"] and RunFolder(folder).final.read_record().test == {}
    assert RunFolder(folder).final.read_record().test_opened is None
    train_run(small_config(), tmp_path / "plain", source=blocks())
    plain = RunFolder(tmp_path / "plain").read_record()
    assert plain.test == record.test and plain.final is None, "the measured model is the one without final"
    assert same_table(open_run(folder), open_run(tmp_path / "plain"))


def test_it_answers_and_is_exported(folder: Path, tmp_path: Path) -> None:
    model, measured, final = sparserec.load(folder), open_run(folder), open_final(folder)
    assert final is not None and model.run.split.hash == final.split.hash
    assert model.record.test == measured.record.test
    report = export_run(measured, tmp_path / "m.srec", ExportOptions(), final=final)
    plain = export_run(measured, tmp_path / "p.srec", ExportOptions())
    assert report.final and not plain.final
    assert report.quality == plain.quality, "measured with the model that has not seen the validation part"
    assert (tmp_path / "m.srec").read_bytes() != (tmp_path / "p.srec").read_bytes()
    cards = [device.load(tmp_path / name).card()["card"] for name in ("m.srec", "p.srec")]
    assert [card["trained_on"] for card in cards] == ["all that is known", "the train part"]


class Killed(Exception):
    """Stands for the end of a process."""


@pytest.mark.parametrize("steps", [7, 24, 40])
def test_stopped_anywhere_it_goes_on_to_the_same_bits(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """7 and 24 steps are inside the measured training, 40 inside the final one."""
    check, left = loop._check_finite, [steps]

    def dying(*arguments: object) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        check(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "_check_finite", dying)
    run = RunFolder(tmp_path / "run")
    with pytest.raises(Killed):
        train_run(small_config(final=True), run.path, source=blocks())
    assert run.finished == (steps == 40) and not run.final.finished
    monkeypatch.setattr(loop, "_check_finite", check)
    with pytest.raises(RunError, match="unfinished run; continue it with `resume`"):
        train_run(small_config(final=True), run.path, source=blocks())
    train_run(small_config(final=True), run.path, source=blocks(), resume=True)
    assert same_table(open_run(folder), open_run(run.path))
    assert same_table(open_final(folder), open_final(run.path))
    assert run.read_record().test == RunFolder(folder).read_record().test
    assert run.read_record().times_opened == 1
    with pytest.raises(RunError, match="is finished"):
        train_run(small_config(final=True), run.path, source=blocks(), resume=True)


def test_a_warm_start_goes_on_from_the_final_model_only_for_its_own_final_one(tmp_path: Path) -> None:
    train_smaller(tmp_path / "old", final=True)
    warm = open_warm_start(tmp_path / "old")
    assert warm.for_final().run.split.protocol == "everything" != warm.run.split.protocol
    train_run(small_config(final=True), tmp_path / "new", source=blocks(), start=warm)
    final = open_final(tmp_path / "new")
    assert final is not None and len(final.split.train) == len(blocks().train)
    begun = [e for e in RunFolder(tmp_path / "new").final.read_events() if e["event"] == "warm start"]
    assert len(begun) == 1


def test_a_dense_run_that_has_not_seen_everything_is_no_beginning(tmp_path: Path) -> None:
    train_run(small_config(method="dense", method_settings={}), tmp_path / "dense", source=blocks())
    config = small_config(method="magnitude", method_settings={}, final=True)
    with pytest.raises(SettingError, match="has not seen everything"):
        train_run(config, tmp_path / "run", source=blocks(), start=open_dense_run(tmp_path / "dense"))
    assert not (tmp_path / "run").exists()


def test_fit_final(tmp_path: Path) -> None:
    pairs = [(u, i) for u in range(40) for i in range(30) if (u + i) % 3 == 0]
    model = sparserec.fit(
        pairs,
        base="lightgcn",
        method="static",
        dim=8,
        epochs=2,
        final=True,
        folder=tmp_path / "run",
        quiet=True,
        ks=(5,),
    )
    assert len(model.run.split.train) == len(pairs) and model.record.final is not None
    assert json.loads((tmp_path / "run" / "config.json").read_text())["final"] is True


def test_what_validation_chose_for_the_method_is_kept(tmp_path: Path) -> None:
    """How many entries every row keeps is chosen in the measured run; the final one has nothing to choose by."""
    settings = {"method": "magnitude", "method_settings": {}, "density": 0.1, "final": True}
    train_run(small_config(**settings), tmp_path / "run", source=blocks())
    run = RunFolder(tmp_path / "run")
    (chosen,) = [event["chosen"] for event in run.read_events() if event["event"] == "row minimum"]
    assert run.final.read_config().method_settings["row_minimum"] == chosen > 0
    sizes = open_final(tmp_path / "run").table.row_sizes()  # type: ignore[union-attr]
    assert sizes is not None and sizes.min() >= chosen
    assert run.read_config().method_settings == {}


@pytest.mark.parametrize(
    ("method", "settings"), [("bet", {}), ("ciess", {}), ("dhe", {"output_dims": [16, 4]})]
)
def test_a_table_chosen_by_validation_cannot_be_trained_without(method: str, settings: dict) -> None:
    asked = {"base": "lightgcn", "method": method, "method_settings": settings}
    with pytest.raises(SettingError, match=f"`final` trains on everything, and {method} chooses"):
        build_config(asked | {"final": True})
    config = build_config(asked | {"protocol": "public-full", "density": 0.5})
    pairs = [*block_pairs(30, 24, 3, 0)]
    with pytest.raises(SettingError, match=f"{method} chooses by validation scores"):
        prepare_run(config, read_source(train=pairs[::2], test=pairs[1::2]))
    assert build_config(
        {"base": "lightgcn", "method": "dhe", "final": True}
    ).final  # one output: nothing to choose
