"""What a newcomer types wrong: one message each, naming what is wrong and what to do, and never a traceback."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sparserec.cli import main

QUICK = ("--base", "lightgcn", "--epochs", "1", "--dim", "8", "--method", "static", "--quiet", "--no-file")
Say = Callable[..., str]


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, tmp_path: Path) -> Say:
    """The message a command ends with, as the entry point prints it."""
    monkeypatch.chdir(tmp_path)

    def output(*words: object) -> str:
        monkeypatch.setattr(sys, "argv", ["sparserec", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        message = capsys.readouterr().err
        assert message.startswith("error: ") and "Traceback" not in message
        return message

    return output


def test_a_run_to_go_on_from_that_is_none(say: Say, log: Path, runs: Path, tmp_path: Path) -> None:
    assert "--from nothere: no such run" in say("train", log, "--from", "nothere")
    shutil.copytree(runs / "dense", tmp_path / "old")
    assert "--from old: name the log that has grown" in say("train", "--from", "old")
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


@pytest.mark.parametrize("kept", ["0", "-3"])
def test_a_file_keeps_at_least_one_entry_of_an_item(
    call: Callable, runs: Path, tmp_path: Path, kept: str
) -> None:
    refused = call("export", runs / "dense", "--out", tmp_path / "m.srec", "--keep", kept)
    assert refused.exit_code == 2 and "--keep" in refused.stderr and "equal to 1" in refused.stderr
    assert not list(tmp_path.iterdir())


def test_options_that_would_not_be_heeded(say: Say, log: Path, runs: Path) -> None:
    assert "--thorough trains more for the file" in say("train", log, "--thorough", "--no-file")
    assert "add --page PATH" in say("export", runs / "dense", "--out", "m.srec", "--page-title", "Places")
    full = ("export", runs / "dense", "--out", "m.srec", "--mode", "full", "--include-everyones-history")
    assert "--learn: mode full" in say(*full, "--learn", "--budget", "1MB")
    assert "encoding` is not for mode full" in say(*full, "--encoding", "gaps", "--bits", "4")
    assert "5: the table of mode full has 4 or 8" in say(*full, "--bits", "5")
    assert "--user is for mode personal" in say("export", runs / "dense", "--out", "m.srec", "--user", "u01")
    assert not Path("m.srec").exists()


def test_a_file_is_not_put_where_there_is_no_folder(say: Say, runs: Path, tmp_path: Path) -> None:
    assert "there is no folder no/such; make it first" in say(
        "export", runs / "dense", "--out", "no/such/x.srec"
    )
    assert not list(tmp_path.iterdir())


def test_advice_is_only_what_can_be_followed(say: Say, runs: Path, log: Path, tmp_path: Path) -> None:
    """These items have no titles to leave out, so nobody is told to; where there are some, the option is named."""
    small = ("--budget", "300", "--quiet")
    bare = say("export", runs / "dense", "--out", "m.srec", *small)
    assert (
        "raise the --budget, or leave rare items out with --min-users" in bare
        and "titles and tags" not in bare
    )
    (tmp_path / "titles.csv").write_text("id,title\n" + "".join(f"shop{n},Shop {n}\n" for n in range(30)))
    titled = say("export", runs / "dense", "--out", "m.srec", "--metadata", "titles.csv", *small)
    assert "leave titles and tags out (--no-titles)" in titled


def test_a_run_that_is_not_there_cannot_be_continued(say: Say, tmp_path: Path) -> None:
    assert "nothere: no such run" in say("train", "--resume", "--run", "nothere")
    assert not list(tmp_path.iterdir())


def test_too_few_items_say_what_to_type(say: Say, tmp_path: Path) -> None:
    (tmp_path / "tiny.csv").write_text("user_id,item_id\na,x\na,y\nb,x\nb,z\n")
    assert "(--set ks=[3])" in say("train", "tiny.csv", *QUICK)
    assert "(--set ks=[3])" in say("train", "tiny.csv", "--run", "deep/down", *QUICK)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.csv"]  # a refused run leaves no folder


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seed", "-1"), "seed: Input should be greater than or equal to 0 (got -1)"),
        (("--set", "split_seed=-1"), "split_seed: Input should be greater than or equal to 0"),
        (("--set", "ks=[]"), "ks: Tuple should have at least 1 item"),
        (("--set", "ks=[0]"), "ks.0: Input should be greater than 0"),
        (("--set", "recipe=5"), "recipe is 5; name one (default,"),
        (("--set", "recipe.preset=[]"), "recipe.preset is [], which is no name"),
        (("--set", "preset={}"), "preset is {}, which is no name"),
        (("--set", "like=[]"), "like is [], which is no name"),
        (("--set", "base=[]"), "base is [], which is no name"),
        (("--set", "method=7"), "method is 7, which is no name"),
    ],
)
def test_settings_of_the_wrong_kind(say: Say, words: tuple[str, ...], message: str) -> None:
    for command in (("train", "world"), ("config", "show")):
        assert message in say(*command, *words)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"WORLD_SIZE": "2"},
            "WORLD_SIZE is 2, so this should be one of several processes, but torchrun has not",
        ),
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE is 'two', not a number of processes; unset it"),
        ({"WORLD_SIZE": "0"}, "WORLD_SIZE is '0', not a number of processes"),
        ({"LOCAL_WORLD_SIZE": "-2"}, "LOCAL_WORLD_SIZE is '-2', not a number of processes"),
    ],
)
def test_variables_of_torchrun_without_it(
    say: Say, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str
) -> None:
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert message in say("train", "world", *QUICK)
