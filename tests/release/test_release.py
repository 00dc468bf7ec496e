"""What is released is installed as a stranger would install it, and used. Needs the network (`make test-release`)."""

from __future__ import annotations

import json
import re
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from fresh import ROOT, Environment, new_environment, pythons, run, tool

pytestmark = pytest.mark.release

FILE = ROOT / "conformance" / "v1" / "golden" / "items-same-count.srec"
CORE = ("table", "graph", "exploration", "evaluation", "recommenders", "training")
"""Folders of tests that a training rests on."""


def test_the_wheel_holds_what_it_should(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        metadata = message_from_bytes(opened.read(next(name for name in names if name.endswith("/METADATA"))))
    assert {"sparserec/py.typed", "sparserec/export/js/model.js"} <= set(names)
    assert not [name for name in names if name.split("/")[0] not in ("sparserec", wheel_info(wheel))]
    assert metadata["License-Expression"] == "Apache-2.0" and metadata.get_all("Requires-Dist")
    page = str(metadata.get_payload())
    links = re.findall(r"\]\(([^)\s]+)\)", page)
    assert links and all("://" in link or link.startswith("#") for link in links), "a link of the repository"


def wheel_info(wheel: Path) -> str:
    return "-".join(wheel.name.split("-")[:2]) + ".dist-info"


def test_the_sdist_is_enough_to_install_from(packages: Path, tmp_path: Path) -> None:
    sdist = next(packages.glob("*.tar.gz"))
    with tarfile.open(sdist) as opened:
        names = {name.split("/", 1)[-1] for name in opened.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "tests/conftest.py", "js/index.js"} <= names
    environment = new_environment(pythons()[min(pythons())], tmp_path / "env")
    environment.install(sdist)
    assert environment.run("sparserec", "inspect", FILE).endswith("self_test: passed, 8 queries\n")


def test_the_npm_package_answers(packages: Path, tmp_path: Path) -> None:
    package = next(packages.glob("*.tgz"))
    run(tool("npm"), "install", "--silent", "--no-audit", "--no-fund", package, cwd=tmp_path)
    installed = tmp_path / "node_modules" / "sparserec"
    about = json.loads((installed / "package.json").read_text())
    assert about["license"] == "Apache-2.0" and (installed / "LICENSE").exists()
    assert not (installed / "test").exists() and "dependencies" not in about
    script = tmp_path / "ask.mjs"
    script.write_text(
        "import { loadFile } from 'sparserec/node'\n"
        f"const model = await loadFile({json.dumps(str(FILE))})\n"
        "console.log(JSON.stringify(model.recommend({ history: [1], k: 2 }).map(one => one.id)))\n"
    )
    assert len(json.loads(run(tool("node"), script, cwd=tmp_path))) == 2


def test_the_reader_needs_numpy_alone(reader: Environment) -> None:
    listed = json.loads(reader.run("python", "-m", "pip", "list", "--format", "json"))
    assert {one["name"] for one in listed} - {"pip", "setuptools"} == {"numpy", "sparserec"}
    assert reader.run("sparserec", "inspect", FILE).endswith("self_test: passed, 8 queries\n")
    asked = reader.run("sparserec", "recommend", FILE, "--history", "1", "--k", "2", "--json")
    near = reader.run("sparserec", "similar", FILE, "--item", "1", "--k", "2", "--json")
    assert len(json.loads(asked)["items"]) == len(json.loads(near)["items"]) == 2
    assert "sparserec[train]" in reader.run("sparserec", "train", "world", fails=True)


def test_the_device_tests_pass_with_the_reader(reader: Environment) -> None:
    reader.install("pytest", "hypothesis")
    alone = [
        path for path in sorted((ROOT / "tests" / "device").glob("test_device_*.py")) if needs_no_extra(path)
    ]
    assert len(alone) > 5
    pytest_in(reader, *alone)


def needs_no_extra(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return not re.search(r"\b(scipy|torch|numba|pyarrow)\b|from sparserec\.(?!device)", text)


def test_three_commands_from_a_log_to_an_answer(train: Environment, tmp_path: Path) -> None:
    train.run(
        "sparserec", "train", "world", "--epochs", 1, "--dim", 16, "--run", "run", "--quiet", cwd=tmp_path
    )
    train.run("sparserec", "export", "run", "--out", "city.srec", "--page", "city.html", cwd=tmp_path)
    asked = ("recommend", "city.srec", "--history", "p0004,p0017", "--k", 5, "--json")
    assert len(json.loads(train.run("sparserec", *asked, cwd=tmp_path))["items"]) == 5
    assert "<html" in (tmp_path / "city.html").read_text(encoding="utf-8")[:2000]


NEWCOMER = """
import pandas as pd
import sparserec
from sparserec.data import make_world

world = make_world().train
some = world.users < 300
log = pd.DataFrame(
    {"who": world.user_ids.external(world.users[some]), "place": world.item_ids.external(world.items[some])}
)
columns = {"user_col": "who", "item_col": "place"}
model = sparserec.fit(log, **columns, epochs=1, dim=16, quiet=True)
dense = sparserec.fit(log, **columns, method="dense", epochs=1, dim=16, quiet=True)
frame = model.recommend(history=["p0004", "p0017"], k=5).to_frame()
assert isinstance(frame, pd.DataFrame) and len(frame) == 5
print(sparserec.compare(model, dense))
report = model.export("places.srec", page="places.html")
print(report.bytes)
"""
READER = """
import sys
import sparserec

assert len(sparserec.load("places.srec").recommend(history=["p0004", "p0017"], k=5)) == 5
assert not {"torch", "pandas", "pyarrow", "typer"} & set(sys.modules)
"""


def test_a_newcomers_script(train: Environment, tmp_path: Path) -> None:
    train.run("python", "-c", NEWCOMER, cwd=tmp_path)
    assert (tmp_path / "places.html").exists()
    train.run("python", "-c", READER, cwd=tmp_path)


def test_the_core_tests_pass_with_the_wheel(train: Environment) -> None:
    pytest_in(train, *(ROOT / "tests" / folder for folder in ("device", *CORE)))


def pytest_in(environment: Environment, *paths: Path) -> None:
    """Run tests of the tree against what is installed."""
    quiet = ("-p", "no:cacheprovider", "--rootdir", ROOT, "-c", ROOT / "pyproject.toml")
    environment.run("python", "-m", "pytest", *quiet, *paths)
