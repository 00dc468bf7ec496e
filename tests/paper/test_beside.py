"""The machinery of the paper stands beside the product: it uses public names alone, and is said to be elsewhere."""

from __future__ import annotations

import ast
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sparserec.cli import reproduce
from sparserec.cli.app import build_app
from sparserec.errors import SparserecError

ROOT = Path(__file__).resolve().parents[2]
SHARED = (
    "cli.options",
    "cli.printing",
    "errors",
    "files",
    "plots",
    "process",
    "progress",
    "settings",
    "units",
)
"""Modules of the product that are no packages, and whose names are all public."""


@pytest.mark.parametrize("path", sorted((ROOT / "reproduction").glob("*.py")), ids=lambda path: path.stem)
def test_it_imports_public_names_alone(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.Import) or all(
            not one.name.startswith("sparserec") for one in node.names
        )
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("sparserec"):
            continue
        module, names = str(node.module), [one.name for one in node.names]
        if module.removeprefix("sparserec.") in SHARED:
            assert not [name for name in names if name.startswith("_")], module
        else:
            assert set(names) <= set(import_module(module).__all__), f"{module}: {names}"


def test_the_product_does_not_import_it_and_the_wheel_does_not_hold_it() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("reproduction"), path
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/sparserec"]


@pytest.mark.parametrize("words", [[], ["table1", "--dry-run", "--only", "x"], ["--help"]])
def test_elsewhere_one_line_says_where_it_is(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce, "TREE", tmp_path)
    assert reproduce.find_command(tmp_path) is None
    error = CliRunner().invoke(build_app(), ["reproduce", *words]).exception
    assert isinstance(error, SparserecError) and "clone" in str(error) and "\n" not in str(error)


def test_a_clone_has_the_command() -> None:
    command = reproduce.find_command(ROOT)
    assert command is not None and command.__module__ == "reproduction.command"
    shown = CliRunner().invoke(build_app(), ["reproduce", "--help"])
    assert shown.exit_code == 0 and "--small" in shown.stdout
