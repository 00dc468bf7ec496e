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
        clock.now += 40
        bar.advance(10)
        clock.now += 400
        bar.advance(10)
    assert capsys.readouterr().err.splitlines() == [
        "train: 40/100 reading",
        "train: 50/100 loss 0.5",  # the first steps compile: 40 s for 10 of them foretell nothing
        "train: 60/100 (3 min left)",  # 40 s for 10 steps, 40 to go
        "train: 70/100 (11 min left)",  # 440 s for 20 steps, 30 to go
    ]


def test_more_steps_than_foretold_are_no_time_left(clock: Clock, capsys: pytest.CaptureFixture) -> None:
    with progress.progress("train", 10, every_seconds=1) as bar:
        clock.now += 5
        bar.advance(1)
        clock.now += 5
        bar.advance(11)
    assert capsys.readouterr().err.splitlines()[-1] == "train: 12/10 (0 s left)"


def test_a_slow_first_step_does_not_frighten(clock: Clock, capsys: pytest.CaptureFixture) -> None:
    """Ten seconds of compiling, then 50 steps a second: 16 s are left and not 9 minutes."""
    with progress.progress("train", 800, every_seconds=10) as bar:
        clock.now += 9.98
        bar.advance()
        for _ in range(2):
            clock.now += 0.02
            bar.advance()
    assert capsys.readouterr().err == "train: 2/800 (16 s left)\n"


NOTEBOOK = """
import sparserec.progress as progress
with progress.progress("train <b>", 4) as bar:
    for step in range(4):
        progress.NOTEBOOK_SECONDS = 0
        bar.advance(1, f"loss {step}")
    print(progress.in_notebook())
"""


def test_a_notebook_has_a_bar_of_its_own() -> None:
    """Run in a real kernel: the bar is drawn under the cell, advances, and is gone in the end."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    drawn: list[str] = []

    class Watching(nbclient.NotebookClient):
        def process_message(self, message: dict, cell: dict, index: int) -> object:
            if message["msg_type"] in ("display_data", "update_display_data"):
                drawn.append(message["content"]["data"]["text/html"])
            return super().process_message(message, cell, index)

    Watching(notebook, timeout=120, kernel_name="python3").execute()
    said = [output["text"] for output in notebook.cells[0].outputs if output["output_type"] == "stream"]
    assert said == ["True\n"]  # and no lines of a log beside the bar
    assert drawn[0].startswith('<progress value="0" max="4"></progress> train &lt;b&gt;: 0/4')
    assert drawn[4].startswith('<progress value="4" max="4"></progress> train &lt;b&gt;: 4/4 loss 3')
    assert drawn[-1] == ""
