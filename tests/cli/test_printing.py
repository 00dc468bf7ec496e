"""Tables that fit a terminal and stay whole in a pipe."""

import pytest

from sparserec.cli import printing

ROWS = [
    {"run": "a" * 60, "note": "b" * 40, "score": 0.5},
    {"run": "short", "note": "", "score": None},
]


def test_a_pipe_gets_everything(capsys: pytest.CaptureFixture[str]) -> None:
    printing.print_table(ROWS, "Title", left=("run", "note"), notes=["word " * 40])
    title, head, first, second, note = capsys.readouterr().out.splitlines()
    assert title == "Title" and head.split() == ["run", "note", "score"]
    assert first == "a" * 60 + "  " + "b" * 40 + "  0.5000"
    assert second.split() == ["short", "-"] and len(second) == len(first)
    assert len(note) > 150


def test_a_terminal_is_never_overrun(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "terminal_width", lambda: 80)
    printing.print_table(ROWS, left=("run", "note"), notes=["word " * 40])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80 and "…" in lines[1] and lines[1].endswith("0.5000")
