"""Who watches a run: what they hear, and what becomes of those who fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sparserec
from sparserec.errors import RunError, SettingError
from sparserec.runs import EndTraining, Event, Observer, Record, RunFolder

PAIRS = [(user, item) for user in range(24) for item in range(24) if user % 2 == item % 2]
SHORT: dict[str, Any] = {
    "base": "mf", "method": "static", "dim": 8, "ks": (3,), "file": False, "quiet": True, "checkpoint_every": 1,
    "epochs": 4, "recipe": {"batch_size": 80, "validate_every": 1},
}  # fmt: skip


class Heard(Observer):
    """Keeps all it hears."""

    def __init__(self, fails_at: str = "", ends_after: int = 99) -> None:
        self.fails_at, self.ends_after = fails_at, ends_after
        self.before: list[Event] = []
        self.events: list[Event] = []
        self.ends: list[Record | None] = []

    def begin(self, run: RunFolder, events: list[Event]) -> None:
        self.fail("begin")
        assert run.begun
        self.before = events

    def event(self, event: Event) -> None:
        self.events.append(event)
        if event.get("epoch") == self.ends_after:
            raise EndTraining("enough")
        self.fail("event")

    def end(self, run: RunFolder, record: Record | None) -> None:
        self.fail("end")
        self.ends.append(record)

    def fail(self, where: str) -> None:
        if where == self.fails_at:
            raise ValueError(f"no {where} today")


def fit(folder: Path, *observers: Observer) -> sparserec.Model:
    return sparserec.fit(PAIRS, folder=folder, observers=observers, **SHORT)


def resume(folder: Path, *observers: Observer) -> None:
    from sparserec.data import read_source
    from sparserec.runs import train_run, watching

    with watching(observers) as watched:
        train_run(RunFolder(folder).read_config(), folder, read_source(PAIRS), resume=True, watched=watched)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, Heard]:
    run, heard = RunFolder(tmp_path_factory.mktemp("whole") / "run"), Heard()
    sparserec.fit(PAIRS, folder=run.path, observers=[heard], **SHORT | {"file": True})
    return run, heard


def test_observers_hear_what_is_written_down(whole: tuple[RunFolder, Heard]) -> None:
    run, heard = whole
    assert heard.before == [] and heard.events == run.read_events() != []
    (record,) = heard.ends
    assert record is not None and record == run.read_record()
    assert record.shipped is not None, "the end comes when the file is chosen"


def test_a_resumed_run_tells_what_was_before(tmp_path: Path, whole: tuple[RunFolder, Heard]) -> None:
    """Ended by an observer after the second epoch, whose checkpoint was not written: that one is heard again."""
    run, first, second = RunFolder(tmp_path / "run"), Heard(ends_after=2), Heard()
    with pytest.raises(EndTraining, match="enough"):
        fit(run.path, first)
    assert first.ends == [None] and not run.finished
    resume(run.path, second)
    assert second.before == first.events[:-1], "what its checkpoint knows"
    silent = [{k: v for k, v in event.items() if k not in ("time", "seconds")} for event in run.read_events()]
    assert silent == [
        {k: v for k, v in event.items() if k not in ("time", "seconds")} for event in whole[1].events
    ]
    assert second.before + second.events == run.read_events()


def test_who_cannot_begin_stops_the_run_by_name(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="observer Heard could not begin: no begin today"):
        fit(tmp_path / "run", Heard("begin"))
    assert not RunFolder(tmp_path / "run").events.exists()


@pytest.mark.parametrize("where", ["event", "end"])
def test_who_fails_later_is_left_out_and_the_run_goes_on(
    tmp_path: Path, whole: tuple[RunFolder, Heard], where: str
) -> None:
    failing, other = Heard(where), Heard()
    with pytest.warns(
        UserWarning, match=f"observer Heard raised ValueError .no {where} today. and hears nothing more"
    ):
        fit(tmp_path / "run", failing, other)
    run = RunFolder(tmp_path / "run")
    assert run.model.read_bytes() == whole[0].model.read_bytes() and other.events == run.read_events()
    assert len(failing.events) == (1 if where == "event" else len(other.events)) and failing.ends == []
    assert other.ends == [run.read_record()]


def test_only_observers_are_taken(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="is no sparserec"):
        fit(tmp_path / "run", print)  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()


def test_nobody_hears_of_a_training_that_never_began(tmp_path: Path) -> None:
    heard = Heard()
    with pytest.raises(sparserec.SparserecError):
        sparserec.fit(tmp_path / "no-such-log.csv", observers=[heard], quiet=True)
    assert heard.ends == []
