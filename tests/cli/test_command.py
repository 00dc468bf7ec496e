"""The command as a whole: help for every command, messages without a traceback, plain text in a pipe."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sparserec.cli.app import COMMANDS


def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from sparserec.cli import main; main()", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)


@pytest.mark.parametrize("name", [name for name in COMMANDS])
def test_every_command_explains_itself(call: Callable, name: str) -> None:
    result = call(name, "--help")
    assert result.exit_code == 0 and "Usage" in result.stdout


def test_a_mistake_is_one_message(runs: Path) -> None:
    result = run("recommend", runs / "sparse", "--user", "nobody")
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith("error: no user 'nobody'") and "Traceback" not in result.stderr


def test_output_in_a_pipe_is_plain(runs: Path) -> None:
    result = run("compare", runs / "dense", runs / "sparse")
    assert result.returncode == 0 and "\x1b" not in result.stdout
    assert all(ord(sign) < 0x2500 for sign in result.stdout)  # no rules


def test_the_version_is_said(call: Callable) -> None:
    import sparserec

    result = call("--version")
    assert result.exit_code == 0 and result.stdout == f"sparserec {sparserec.__version__}\n"
