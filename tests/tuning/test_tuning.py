"""A search: the defaults first, validation decides, one test set is opened; it can be killed, stopped and shared."""

from __future__ import annotations

import json
import multiprocessing
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tune_toy import SETTINGS, TRIALS, search, search_and_die

from sparserec.errors import RunError, SettingError
from sparserec.runs import RunFolder
from sparserec.training import build_config
from sparserec.tuning import Effort, Outcome, search_space, trials_figure
from sparserec.tuning.study import Study


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory, drawing: None) -> Outcome:
    return search(tmp_path_factory.mktemp("searched") / "search")


def told(outcome: Outcome) -> list[tuple[Any, ...]]:
    """What must not depend on stops, kills or who trained what."""
    return [(one.state, one.score, one.epochs, one.settings) for one in outcome.trials]


def records(outcome: Outcome) -> dict[int, Any]:
    finished = [one for one in outcome.trials if one.folder is not None]
    return {one.number: RunFolder(outcome.folder / str(one.folder)).read_record() for one in finished}


def test_the_defaults_are_the_first_trial(searched: Outcome) -> None:
    first = searched.trials[0]
    space = search_space(build_config(SETTINGS), {"recipe.epochs", "method_settings.init"})
    assert first.defaults and first.settings == {one.path: one.default for one in space}
    assert [one.defaults for one in searched.trials] == [True] + [False] * (TRIALS - 1)
    assert len({str(one.settings) for one in searched.trials}) == TRIALS, "no two are alike"


def test_validation_decides_and_the_winners_test_set_is_opened_once(searched: Outcome) -> None:
    found = records(searched)
    assert all(
        record.epochs[-1].best_score == searched.trials[number].score for number, record in found.items()
    )
    best = max(found, key=lambda number: found[number].epochs[-1].best_score)
    assert searched.best.number == best and searched.tests_opened == 1
    assert [number for number, record in found.items() if record.times_opened] == [best]
    assert found[best].times_opened == 1 and "ndcg@5" in found[best].test["float"]
    again = search(searched.folder)
    assert told(again) == told(searched) and records(again)[best].times_opened == 1, "asked again, nothing is"


def test_the_budget_is_the_same_for_all(searched: Outcome) -> None:
    assert {record.parameters for record in records(searched).values()} == {round(0.5 * 70 * 8)}


def test_values_are_those_of_the_trial_and_within_their_ranges(searched: Outcome) -> None:
    space = {one.path: one for one in search_space(build_config(SETTINGS))}
    for number, record in records(searched).items():
        settings = searched.trials[number].settings
        assert settings
        for path, value in settings.items():
            group, name = path.split(".")
            used = record.config["recipe"] if group == "recipe" else getattr(record, group)
            assert used[name] == value and space[path].low <= value <= space[path].high


def test_what_falls_behind_is_pruned_and_leaves_its_scores(searched: Outcome) -> None:
    pruned = [one for one in searched.trials if one.state == "pruned"]
    assert pruned and searched.count("pruned") + searched.count("finished") == TRIALS
    stored = {one.number: one for one in Study(searched.folder, (), 0).study.get_trials()}
    for one in pruned:
        values = stored[one.number].intermediate_values
        assert 1 <= one.epochs < 3 and one.score == values[one.epochs] and len(values) == one.epochs
        others = sorted(stored[number].intermediate_values[one.epochs] for number in range(4))
        assert max(values.values()) < (others[1] + others[2]) / 2 or one.number > 4, "below the median"
        assert not (searched.folder / "trials" / f"{one.number:03d}").exists()


def test_the_effort_is_said_and_everything_is_written_down(searched: Outcome) -> None:
    epochs = sum(one.epochs for one in searched.trials)
    assert f"as many epochs as {epochs / 3:.1f} full trainings" in searched.lines()[1]
    stored = json.loads((searched.folder / "trials.json").read_text())
    assert [one["score"] for one in stored["trials"]] == [one.score for one in searched.trials]
    scores = [row["ndcg@5"] for row in searched.rows() if row["state"] == "finished"]
    assert scores == sorted(scores, reverse=True)


def test_the_figure_has_every_trial_in_its_place(searched: Outcome, drawing: None) -> None:
    (axis,) = trials_figure(searched).axes
    lines = {line.get_label(): list(zip(line.get_xdata(), line.get_ydata())) for line in axis.lines}
    for state in ("finished", "pruned"):
        assert lines[state] == [(one.number, one.score) for one in searched.trials if one.state == state]
    assert lines["defaults"] == [(0, searched.trials[0].score)]
    assert lines["best so far"][-1][1] == searched.best.score
    assert (searched.folder / "trials.png").stat().st_size > 1000


def test_a_killed_search_goes_on_as_if_nothing_had_been(searched: Outcome, tmp_path: Path) -> None:
    """Killed inside the third trial: that is taken up where its checkpoint was, and all others are the same."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["sparserec.runs.train", "sparserec.tuning.search"])
    child = processes.Process(target=search_and_die, args=(tmp_path / "search", 17))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    work = list((tmp_path / "search" / "trials").glob("*/work/checkpoint.safetensors"))
    assert work, "it died between a checkpoint and the end of a trial"
    assert told(search(tmp_path / "search")) == told(searched)


def test_more_trials_later_are_those_of_one_long_search(searched: Outcome, tmp_path: Path) -> None:
    short = search(tmp_path / "search", trials=2)
    assert len(short.trials) == 2 and short.tests_opened == 1
    whole = search(tmp_path / "search")
    assert told(whole) == told(searched)
    assert whole.tests_opened == len({short.best.number, whole.best.number})
    assert ("went on after its first winner" in whole.lines()[2]) == (whole.tests_opened == 2)


def test_two_processes_share_a_search(tmp_path: Path) -> None:
    folder = tmp_path / "search"
    child = multiprocessing.get_context("forkserver").Process(target=search, args=(folder,))
    child.start()
    while not (folder / "trials" / "000.lock").exists():
        assert child.is_alive() or child.exitcode == 0
        time.sleep(0.01)
    outcome = search(folder)
    child.join()
    assert child.exitcode == 0
    assert [one.number for one in outcome.trials] == list(range(TRIALS)), "none was trained twice"
    owners = {(folder / "trials" / f"{number:03d}.lock").read_text() for number in range(TRIALS)}
    assert str(child.pid) in owners and len(owners) == 2
    assert sum(record.times_opened for record in records(outcome).values()) == 1


def test_what_cannot_be_searched_is_said(searched: Outcome, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="every trial failed"):
        search(tmp_path / "a", trials=2, recipe=SETTINGS["recipe"] | {"learning_rate": 1e30})
    with pytest.raises(RunError, match="holds a search of other settings or data"):
        search(searched.folder, dim=16)
    with pytest.raises(SettingError, match="`final` trains on everything"):
        search(tmp_path / "b", final=True)
    with pytest.raises(SettingError, match="the test set stays closed"):
        search(tmp_path / "b", test_epochs=(1,))
    with pytest.raises(SettingError, match="no validation part"):
        search(tmp_path / "b", protocol="public-full")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "mine.txt").touch()
    with pytest.raises(RunError, match="exists and is no search"):
        search(tmp_path / "c")


def test_settings_that_are_no_model_together_are_a_failed_trial(tmp_path: Path) -> None:
    """A search over 1 to 4 layers, and a contrast with layer 3: below it there is nothing to contrast with."""
    asked = {
        "base": "xsimgcl",
        "base_settings": {"contrast_layer": 3},
        "method": "dense",
        "method_settings": {},
    }
    outcome = search(tmp_path / "a", trials=6, **asked)
    failed = [one for one in outcome.trials if one.state == "failed"]
    assert failed and all(one.settings["base_settings.layers"] < 3 for one in failed)
    assert len(outcome.trials) == 6 and any(one.state == "finished" for one in outcome.trials)
    with pytest.raises(SettingError, match="at least one number"):  # the defaults themselves: told at once
        search(tmp_path / "b", trials=2, method="bet", method_settings={}, density=0.02)


@pytest.mark.parametrize(
    ("trials", "minutes", "word"), [(0, None, "trials"), (True, None, "trials"), (None, 0, "minutes")]
)
def test_an_effort_must_be_one(trials: Any, minutes: Any, word: str) -> None:
    with pytest.raises(SettingError, match=f"`{word}` is"):
        Effort.of(trials, minutes)
    assert Effort.of(None, None).trials == 20 and Effort.of(None, 5).trials is None


def test_nothing_begins_when_the_minutes_are_over() -> None:
    assert Effort(None, 1e-6, began=time.monotonic() - 1).over and not Effort.of(None, 5).over
    assert Effort(None, 1.0, began=time.monotonic() - 30).ticks(3) == (60, 30)
