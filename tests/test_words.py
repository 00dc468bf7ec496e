"""Messages of the library name settings as Python does; the command line says them as options that it has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import sparserec
from sparserec.cli.app import build_app
from sparserec.cli.typed import _FLAGS, _SPELLED, as_typed

ROOT = Path(sparserec.__file__).parent
FILES = [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] != "cli"]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*(?![a-z-]*:)")  # with a colon it is a colour of the page


def texts(path: Path) -> Iterator[str]:
    """Texts of a file that may be read by somebody: no docstrings, no words of a command that it calls."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            if not re.fullmatch(r"--[a-z-]+(=\w+)?", node.value):
                yield node.value


def test_no_message_of_the_library_names_an_option() -> None:
    found = {str(path.relative_to(ROOT)): OPTION.findall(text) for path in FILES for text in texts(path)}
    assert {path: names for path, names in found.items() if names} == {}


def options_of(command: Any) -> set[str]:
    """All options of a command and of those below it."""
    own = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    return own.union(*(options_of(one) for one in getattr(command, "commands", {}).values()))


@pytest.mark.parametrize("name", [*_FLAGS, *_SPELLED])
def test_what_a_message_becomes_can_be_typed(name: str) -> None:
    assert as_typed(f"use `{name}`").split()[1] in options_of(get_command(build_app()))


def test_settings_become_assignments_and_other_words_stay() -> None:
    assert as_typed("use `recipe.epochs=5` or `ks=[3]`") == "use --set recipe.epochs=5 or --set ks=[3]"
    assert as_typed("`sparserec runs` lists `other` words") == "`sparserec runs` lists `other` words"
    assert as_typed("leave it out (`titles=false`)") == "leave it out (--no-titles)"
