"""Packages built from this tree, and fresh environments that hold them and nothing of the tree."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fresh import ROOT, Environment, new_environment, pythons, run, tool

VERSIONS = sorted(pythons(), key=lambda name: int(name.split(".")[1]))


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, the wheel made from it, and the npm package."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    run(tool("npm"), "pack", "--silent", "--pack-destination", folder, cwd=ROOT / "js")
    return folder


@pytest.fixture(scope="session")
def wheel(packages: Path) -> Path:
    return next(packages.glob("*.whl"))


@pytest.fixture(scope="session", params=VERSIONS)
def reader(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """The wheel alone, on each Python."""
    folder = tmp_path_factory.mktemp("reader") / request.param
    environment = new_environment(pythons()[request.param], folder)
    environment.install(wheel)
    return environment


@pytest.fixture(scope="session", params=VERSIONS)
def train(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """The wheel with its extra `train`, on each Python: pinned on ours, on others what a user gets today."""
    folder = tmp_path_factory.mktemp("train") / request.param
    environment = new_environment(pythons()[request.param], folder)
    ours = pythons()[request.param] == sys.executable
    pins = ["--constraint", ROOT / "constraints.txt"] if ours else []
    environment.install(f"{wheel}[train,plots]", "pytest", "hypothesis", "pandas", "polars", *pins)
    return environment
