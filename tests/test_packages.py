"""A package is used through what it exports, and every name it exports is there."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "sparserec"
PACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


def imports(path: Path) -> list[ast.ImportFrom]:
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in tree if isinstance(node, ast.ImportFrom) and node.module]


def test_nobody_reaches_into_another_package() -> None:
    reached = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.module}"
        for path in SOURCE.rglob("*.py")
        for node in imports(path)
        for parts in [node.module.split(".")[1:3]]  # type: ignore[union-attr]
        if node.level == 0
        and len(parts) == 2
        and parts[0] in PACKAGES
        and path.relative_to(SOURCE).parts[0] != parts[0]
    ]
    assert not reached, "import from the package instead:\n" + "\n".join(reached)


def test_what_is_imported_from_a_package_is_exported() -> None:
    """mypy lets every name of a package with a `__getattr__` pass."""
    missing = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {alias.name} of {node.module}"
        for path in SOURCE.rglob("*.py")
        for node in imports(path)
        if node.level == 0 and (node.module or "").removeprefix("sparserec.") in PACKAGES
        for alias in node.names
        if not hasattr(import_module(node.module or ""), alias.name)
        and not (SOURCE / (node.module or "").split(".")[1] / f"{alias.name}.py").exists()
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("name", [name for name in PACKAGES if name != "cli"])
def test_what_a_package_exports_is_there(name: str) -> None:
    package = import_module(f"sparserec.{name}")
    modules = {path.stem for path in (SOURCE / name).glob("*.py")}
    for exported in package.__all__:
        assert getattr(package, exported) is not None
    if "lazy_names" in (SOURCE / name / "__init__.py").read_text(encoding="utf-8"):
        assert not modules & set(package.__all__), "a module would hide a lazily exported name"
