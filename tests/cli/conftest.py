"""Two small runs trained through the command line, and a way to call it in this process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from sparserec.cli.app import build_app

SETTINGS = [
    "--base", "lightgcn", "--dim", "16", "--density", "0.5", "--epochs", "12", "--quiet", "--no-file",
    "--set", "recipe.batch_size=200", "--set", "recipe.learning_rate=0.05", "--set", "recipe.validate_every=6",
]  # fmt: skip
Call = Callable[..., Result]


@pytest.fixture(scope="session")
def call() -> Call:
    """`call("runs", folder)`; user mistakes stay exceptions, as `main` gets them."""
    app, runner = build_app(), CliRunner()
    return lambda *words: runner.invoke(app, [str(word) for word in words])


@pytest.fixture(scope="session")
def ask(call: Call) -> Callable[..., Any]:
    """The JSON that a command prints."""

    def asked(*words: object) -> Any:
        result = call(*words, "--json")
        assert result.exit_code == 0, result.exception
        return json.loads(result.stdout)

    return asked


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty people, thirty shops, tastes of three kinds."""
    rng = np.random.default_rng(1)
    lines = ["user_id,item_id"]
    for user in range(40):
        for item in range(30):
            if rng.random() < (0.8 if user % 3 == item % 3 else 0.05):
                lines.append(f"person{user},shop{item}")
    path = tmp_path_factory.mktemp("log") / "log.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory, call: Call, log: Path) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, method in (
        ("sparse", ["--set", "method_settings.init=uniform"]),
        ("dense", ["--method", "dense"]),
    ):
        result = call("train", log, "--run", folder / name, *method, *SETTINGS)
        assert result.exit_code == 0, result.exception
    return folder
