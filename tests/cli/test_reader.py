"""`pip install sparserec` brings numpy alone: the commands that only read work there, the others say what to install.

Each program runs where nothing else can be imported: a folder with numpy and the sources, and no site-packages.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy
import pytest
from click.testing import CliRunner
from typer.main import get_command

import sparserec
from sparserec.cli.app import build_app
from sparserec.cli.reader import READING, build_parser
from sparserec.extras import EXTRAS, MissingExtraError, extras_named

ROOT = Path(__file__).parents[2]
FILE = ROOT / "conformance" / "v1" / "golden" / "items-same-count.srec"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ONLY_WHOLE = {"--all", "--out", "--quiet"}
"""Options of `recommend` that are about a run folder, which only the whole package opens."""


@pytest.fixture(scope="module")
def only_numpy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("only-numpy")
    installed = Path(numpy.__file__).parents[1]
    for name in ("numpy", "numpy.libs"):
        if (installed / name).exists():
            (folder / name).symlink_to(installed / name)
    (folder / "sparserec").symlink_to(ROOT / "src" / "sparserec")
    return folder


def run(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """A command where only numpy is installed (-S: no site-packages)."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-S", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)


@pytest.mark.parametrize(
    "words",
    [
        ("recommend", FILE, "--history", "1", "-k", "2"),
        ("recommend", FILE, "--history", "1", "-k", "2", "--explain"),
        ("recommend", FILE, "--history", "1", "--include-seen", "--allow", "1,2", "--k", "2", "--json"),
        ("similar", FILE, "--item", "1", "--k", "2"),
        ("inspect", FILE),
        ("inspect", FILE, "--json"),
    ],
    ids=lambda words: words[0],
)
def test_both_command_lines_answer_alike(only_numpy: Path, words: tuple[object, ...]) -> None:
    reader = run(only_numpy, "-m", "sparserec", *words)
    whole = CliRunner().invoke(get_command(build_app()), [str(word) for word in words])
    assert (reader.returncode, reader.stderr) == (whole.exit_code, "") == (0, "")
    assert reader.stdout == whole.stdout


def test_both_command_lines_have_the_same_options_and_words() -> None:
    whole = get_command(build_app()).commands  # type: ignore[attr-defined]
    parsers = next(one.choices for one in build_parser()._actions if isinstance(one.choices, dict))
    assert set(parsers) == set(READING) <= set(whole)
    for name, parser in parsers.items():
        theirs = {
            text: option for option in whole[name].params for text in (*option.opts, *option.secondary_opts)
        }
        ours = {text: one for one in parser._actions for text in (one.option_strings or [one.dest])}
        assert set(theirs) - set(ours) == (ONLY_WHOLE if name == "recommend" else set())
        assert set(ours) - set(theirs) == {"--help", "-h"}
        for text in {one for one in set(ours) & set(theirs) if one.startswith("-")} - {"--include-seen"}:
            assert ours[text].help == theirs[text].help, text


def test_the_reader_says_what_it_is_and_what_it_lacks(only_numpy: Path) -> None:
    assert run(only_numpy, "-m", "sparserec", "--version").stdout == f"sparserec {sparserec.__version__}\n"
    shown = run(only_numpy, "-m", "sparserec", "--help").stdout
    assert sparserec.SENTENCE in " ".join(shown.split()) and "pip install 'sparserec[train]'" in shown
    train = run(only_numpy, "-m", "sparserec", "train", "log.csv")
    assert train.returncode == 2
    assert (
        train.stderr == "error: `sparserec train` is not part of the reader: pip install 'sparserec[train]'\n"
    )
    folder = run(only_numpy, "-m", "sparserec", "recommend", only_numpy, "--history", "1")
    assert folder.returncode == 2 and len(folder.stderr.splitlines()) == 1
    assert "pip install 'sparserec[train]'" in folder.stderr
    assert run(only_numpy, "-m", "sparserec", "recommend", FILE, "--history", "nothing").returncode == 2


def test_the_python_reader_needs_numpy_alone(only_numpy: Path) -> None:
    program = f"""
import sys, sparserec
model = sparserec.load({str(FILE)!r})
assert len(model.recommend(history=[1], k=2)) == 2 and len(model.similar(1, k=2)) == 2
assert not {{"torch", "scipy", "pyarrow", "typer"}} & set(sys.modules)
try:
    sparserec.fit("world")
except sparserec.SparserecError as error:
    print(error)
"""
    done = run(only_numpy, "-c", program)
    assert done.stderr == ""
    assert done.stdout.startswith("sparserec.fit needs ") and done.stdout.count("\n") == 1
    assert "pip install 'sparserec[train]'" in done.stdout


def test_a_module_of_nobody_keeps_its_own_error() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as caught, extras_named("it"):
        import no_such_module  # noqa: F401
    assert not isinstance(caught.value, MissingExtraError)


def test_the_extras_are_those_of_the_package() -> None:
    """What pyproject.toml lists under an extra is what a missing import of it names."""
    distributions = {
        name: {one.lower().replace("_", "-") for one in owners}
        for name, owners in packages_distributions().items()
    }
    for extra, imported in EXTRAS.items():
        listed = {
            line.split(">=")[0].split("[")[0].lower() for line in PROJECT["optional-dependencies"][extra]
        }
        assert {owner for name in imported for owner in distributions[name]} == listed
    assert [line.split(">=")[0] for line in PROJECT["dependencies"]] == ["numpy"]
