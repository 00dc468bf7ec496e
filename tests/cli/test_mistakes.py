"""What a newcomer types wrong: one message each, naming what is wrong and what to do, and never a traceback."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sparserec.cli import main

QUICK = ("--epochs", "1", "--dim", "8", "--method", "static", "--quiet")
Say = Callable[..., str]


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, tmp_path: Path) -> Say:
    """The message a command ends with, as the entry point prints it."""
    monkeypatch.chdir(tmp_path)

    def said(*words: object) -> str:
        monkeypatch.setattr(sys, "argv", ["sparserec", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        message = capsys.readouterr().err
        assert message.startswith("error: ") and "Traceback" not in message
        return message

    return said


def test_a_run_to_go_on_from_that_is_none(say: Say, log: Path, tmp_path: Path) -> None:
    assert "--from nothere: no such run" in say("train", log, "--from", "nothere")
    (tmp_path / "other").mkdir()
    message = say("train", log, "--from", "other")
    assert (
        "--from other: not a run folder (it has no config.json)" in message
        and "give a finished run" in message
    )


def test_another_configuration_names_what_differs(say: Say, log: Path, runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "dense", tmp_path / "run")
    (tmp_path / "run" / "record.json").unlink()
    message = say("train", log, "--resume", "--run", "run", *QUICK)
    assert (
        "other settings" in message and "dim 16, now 8" in message and "method dense, now static" in message
    )
    assert "choose another --run" in message


def test_sizes_that_are_none(say: Say, log: Path) -> None:
    assert "budget: size '1XB'" in say("train", log, "--budget", "1XB")
    assert "the least is" in say("train", log, "--budget", "5kB")
    assert "most-nmf-work -1" in say("train", log, "--most-nmf-work", "-1")


def test_too_few_items_say_what_to_type(say: Say, tmp_path: Path) -> None:
    (tmp_path / "tiny.csv").write_text("user_id,item_id\na,x\na,y\nb,x\nb,z\n")
    assert "--set ks=[3]" in say("train", "tiny.csv", *QUICK)


def test_where_nothing_can_be_written(say: Say, log: Path, runs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    for words in (
        ("train", log, "--run", "file/run", *QUICK),
        ("recommend", runs / "dense", "--all", "--out", "file/all.csv", "--quiet"),
        ("export", runs / "dense", "--out", "file/model.srec", "--quiet"),
    ):
        assert "file" in say(*words)


def test_columns_can_be_named_where_the_message_says_so(
    say: Say, log: Path, tmp_path: Path, call: Callable
) -> None:
    wrong = log.read_text().replace("user_id,item_id", "who,thing")
    (tmp_path / "wrong.csv").write_text(wrong)
    assert "--user-col" in say("train", "wrong.csv", *QUICK)
    words = ("--user-col", "who", "--item-col", "thing")
    assert call("train", "wrong.csv", *words, "--run", "run", *QUICK).exit_code == 0


def test_the_command_line_names_flags_where_python_names_arguments(say: Say, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("who,item_id\nann,7\nbob,8\n")
    assert "name it with --user-col" in say("data", "describe", "odd.csv")
