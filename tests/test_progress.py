"""Progress in a log file: lines with a pace, once there is one."""

from __future__ import annotations

import pytest

from sparserec import progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_no_time_is_foretold_before_a_step_was_timed(clock: Clock, capsys: pytest.CaptureFixture) -> None:
    with progress.progress("train", 100, every_seconds=1, done=40) as bar:
        clock.now += 30
        bar.advance(0, "reading")
        clock.now += 10
        bar.advance(10, "loss 0.5")
        clock.now += 400
        bar.advance(10)
    assert capsys.readouterr().err.splitlines() == [
        "train: 40/100 reading",
        "train: 50/100 loss 0.5 (3 min left)",  # 40 s for 10 steps, 50 to go
        "train: 60/100 (15 min left)",  # 440 s for 20 steps, 40 to go
    ]


def test_more_steps_than_foretold_are_no_time_left(clock: Clock, capsys: pytest.CaptureFixture) -> None:
    with progress.progress("train", 10, every_seconds=1) as bar:
        clock.now += 5
        bar.advance(12)
    assert capsys.readouterr().err == "train: 12/10 (0 s left)\n"
