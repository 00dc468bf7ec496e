"""sparserec reproduce: the paper's tables and figures. They are in the repository, not in the package."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import typer

from sparserec.errors import SparserecError

NAME = "reproduction"
TREE = Path(__file__).resolve().parents[3]
"""The clone this package runs from, if it does."""


def register(app: typer.Typer) -> None:
    """Add the command: that of the clone, or a word about where it is."""
    command = find_command(TREE)
    if command is not None:
        app.command("reproduce")(command)
    else:
        anything = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
        app.command("reproduce", context_settings=anything)(elsewhere)


def find_command(tree: Path) -> Callable[..., None] | None:
    """The command of the package beside the product in a source tree, None where there is none."""
    folder = tree / NAME
    if not (folder / "command.py").is_file():
        return None
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None and spec.loader is not None
        sys.modules[NAME] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[NAME])
    command: Callable[..., None] = import_module(f"{NAME}.command").reproduce
    return command


def elsewhere() -> None:
    """Train the tables and figures of the paper again (from a clone of the repository)."""
    raise SparserecError(
        "reproduce works from a clone of the repository, where the paper's grids are: `pip install -e .` there"
    )
