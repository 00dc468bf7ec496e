"""methods and bases: what is listed is what there is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from typer.main import get_command

import sparserec
from sparserec.catalogue import BASE_LINES, METHOD_LINES
from sparserec.cli.app import build_app
from sparserec.describe import as_text
from sparserec.methods import METHODS, make_method
from sparserec.planning.memory_plan import Sizes, plan_phases
from sparserec.recommenders import RECOMMENDERS, make_recommender
from sparserec.training.config import RunConfig


def said(*words: str) -> str:
    done = CliRunner().invoke(get_command(build_app()), list(words))
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize(("command", "lines"), [("methods", METHOD_LINES), ("bases", BASE_LINES)])
def test_a_line_each(command: str, lines: dict[str, object]) -> None:
    printed = said(command).splitlines()
    assert [line.split()[0] for line in printed[1 : len(lines) + 1]] == list(lines)
    assert list(json.loads(said(command, "--json"))) == list(lines)


@pytest.mark.parametrize("method", METHODS)
def test_methods_are_as_listed(method: str) -> None:
    line, made = METHOD_LINES[method], make_method(method)
    assert (line.memory == "sparse") == made.sparse_state
    recipe = {"epochs": 100, "batch_size": 100}  # ten steps an epoch
    config = RunConfig.parse({"base": "lightgcn", "method": method, "dim": 32, "recipe": recipe})
    phases = plan_phases(config, Sizes(90, 60, 1000), make_recommender("lightgcn"))
    assert sum(phase.last_step(10) for phase in phases) / 1000 == pytest.approx(line.trainings)


def test_methods_and_bases_are_all_listed() -> None:
    assert list(METHOD_LINES) == list(METHODS) and list(BASE_LINES) == list(RECOMMENDERS)


@pytest.mark.parametrize("base", RECOMMENDERS)
def test_bases_are_as_listed(base: str) -> None:
    line, made = BASE_LINES[base], make_recommender(base)
    assert (line.rows == "items") == (not made.user_rows)
    hops = max(len(tap) for tap in made.taps) - 1
    assert line.multiplications == 2 * hops, "forward and back"


def test_the_catalogue_is_what_the_classes_say() -> None:
    stored = Path(sparserec.__file__).with_name("catalogue.json").read_text(encoding="utf-8")
    assert stored == as_text(), "python -m sparserec.describe writes it"


def test_a_list_loads_no_torch() -> None:
    code = "import sys; from sparserec.cli.app import build_app; from typer.testing import CliRunner; "
    code += "CliRunner().invoke(build_app(), ['methods']); print('torch' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
    )
