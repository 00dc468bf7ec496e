"""Every code block of the README and the guide is run, in order, in an empty folder; links lead somewhere; the
file tree of CONTRIBUTING.md is true.

- ```sh      lines that begin with `sparserec` are run by the real command line, in this process
- ```python  is executed; all blocks of a page share their variables
- ```js      is run by Node, where there is one
- ```toml, ```csv and so on with a file name, such as ```toml budget.toml, are written to that file
- a block marked `not-run` in its first line is only looked at: its commands and options must exist

Pages of the guide go on from own-data.md, in the same folder, as a reader would.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner
from typer.main import get_command

import sparserec
from sparserec.cli.app import build_app
from sparserec.data import make_world
from sparserec.data.formats import FORMATS
from sparserec.data.splits import PROTOCOLS
from sparserec.encodings.registry import ENCODINGS
from sparserec.methods import METHOD_PRESETS, METHODS
from sparserec.recommenders import PRESETS, RECOMMENDERS
from sparserec.training.config import RECIPES, Recipe

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guide"
PAGES = sorted(path.name for path in GUIDE.glob("*.md"))
FIRST = "own-data.md"
MOST_NOT_RUN = 6
FILES = {"toml", "csv", "json"}
SHOWN = {"", "text", "tree", "html"}
REGISTRIES: tuple[dict[str, Any], ...] = (METHODS, RECOMMENDERS, ENCODINGS, FORMATS)


@dataclass(frozen=True)
class Block:
    """A fenced code block of a page."""

    page: str
    line: int
    language: str
    words: tuple[str, ...]
    text: str

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(path: Path) -> list[Block]:
    """All fenced blocks of a Markdown file."""
    found: list[Block] = []
    opened: tuple[int, list[str]] | None = None
    body: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r"\s*```(.*)", line)
        if fence and opened is None:
            opened, body = (number, fence.group(1).split()), []
        elif fence and opened is not None:
            words = opened[1] or [""]
            found.append(Block(path.name, opened[0], words[0], tuple(words[1:]), "\n".join(body) + "\n"))
            opened = None
        else:
            body.append(line)
    assert opened is None, f"{path.name}: a code block is not closed"
    return found


def commands_of(block: Block) -> list[list[str]]:
    """The commands of a shell block; a backslash continues a line, a comment is skipped."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.strip() and not line.startswith("#")]


def run_command(words: list[str], where: str) -> None:
    assert words[0] == "sparserec", f"{where}: {words[0]!r} is not a command these tests run; say not-run"
    done = CliRunner().invoke(get_command(build_app()), words[1:], catch_exceptions=True)
    assert done.exit_code == 0, f"{where}: {' '.join(words)}\n{done.output}\n{done.exception!r}"


def check_command(words: list[str], where: str) -> None:
    """The command exists and has the options that are used."""
    if words[0] != "sparserec":
        return
    command, rest = get_command(build_app()), words[1:]
    while rest and rest[0] in getattr(command, "commands", {}):
        command, rest = command.commands[rest[0]], rest[1:]  # type: ignore[attr-defined]
    assert not hasattr(command, "commands"), f"{where}: no command {' '.join(words[:3])}"
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    unknown = [word for word in rest if word.startswith("--") and word.split("=")[0] not in known]
    assert not unknown, f"{where}: {words[1]} has no option {unknown}"


def run_page(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, city: str = "world") -> None:
    """Run all blocks of a page in a folder; `city` is a file in the place of the built-in sample.

    What a page registers is gone afterwards: other tests of the process count what there is.
    """
    monkeypatch.chdir(folder)
    with ExitStack() as registries:
        for registry in REGISTRIES:
            registries.enter_context(mock.patch.dict(registry))
        run_blocks(path, folder, city)


def run_blocks(path: Path, folder: Path, city: str) -> None:
    variables: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(path):
        block = replace(block, text=re.sub(r"(?<=train )world\b|(?<=fit\(\")world\b", city, block.text))
        if "not-run" in block.words:
            for words in commands_of(block) if block.language == "sh" else []:
                check_command(words, block.where)
        elif block.language == "sh":
            for words in commands_of(block):
                run_command(words, block.where)
        elif block.language == "python":
            exec(compile(block.text, block.where, "exec"), variables)
        elif block.language == "js":
            run_node(block, folder)
        elif block.language in FILES and block.words:
            (folder / block.words[0]).write_text(block.text, encoding="utf-8")
        else:
            assert block.language in SHOWN, (
                f"{block.where}: a {block.language!r} block is not run; say not-run"
            )


def run_node(block: Block, folder: Path) -> None:
    node = shutil.which("node")
    if node is None:
        return
    package = folder / "node_modules" / "sparserec"
    if not package.exists():
        package.parent.mkdir(exist_ok=True)
        package.symlink_to(ROOT / "js", target_is_directory=True)
    script = folder / "block.mjs"
    script.write_text(block.text, encoding="utf-8")
    done = subprocess.run([node, str(script)], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{block.where}:\n{done.stderr}"


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def quiet_machine(caches: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("SPARSEREC_CACHE", str(caches))
    return monkeypatch


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory, caches: Path) -> Path:
    """The folder in which own-data.md was followed to its end."""
    folder = tmp_path_factory.mktemp("guide")
    before = Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARSEREC_CACHE", str(caches))
        run_page(GUIDE / FIRST, folder, patch)
    os.chdir(before)
    return folder


def test_own_data_can_be_followed(workshop: Path) -> None:
    assert (workshop / "my-run" / "record.json").exists()


@pytest.mark.parametrize("name", [name for name in PAGES if name != FIRST])
def test_the_guide_can_be_followed(name: str, workshop: Path, quiet_machine: pytest.MonkeyPatch) -> None:
    before = [list(registry) for registry in REGISTRIES]
    run_page(GUIDE / name, workshop, quiet_machine)
    assert [list(registry) for registry in REGISTRIES] == before


def test_the_readme_can_be_followed(tmp_path: Path, quiet_machine: pytest.MonkeyPatch) -> None:
    """With a part of the city: choosing a file for all of it takes a minute."""
    train = make_world().train
    some = train.select((train.users < 500) & (train.items < 300))
    pairs = zip(train.user_ids.external(some.users), train.item_ids.external(some.items))
    lines = ["user_id,item_id", *(f"{user},{item}" for user, item in pairs)]
    (tmp_path / "city.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run_page(ROOT / "README.md", tmp_path, quiet_machine, "city.csv")


@pytest.mark.real
def test_the_readme_can_be_followed_to_the_letter(tmp_path: Path, quiet_machine: pytest.MonkeyPatch) -> None:
    run_page(ROOT / "README.md", tmp_path, quiet_machine)


def test_the_readme_shows_the_two_commands() -> None:
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "`make demo`" in shown and "`make test`" in shown


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    """A reader sees `not-run` only in the source; the sentence before the block must tell them too."""
    pages = [ROOT / "README.md", *(GUIDE / name for name in PAGES)]
    skipped = [block for page in pages for block in blocks_of(page) if "not-run" in block.words]
    assert len(skipped) <= MOST_NOT_RUN
    for block in skipped:
        lines = next(page for page in pages if page.name == block.page).read_text().splitlines()
        before = " ".join(lines[max(0, block.line - 4) : block.line - 1])
        assert re.search(r"network|minutes|hours|download|install|server", before), (
            f"{block.where}: say why it is not run"
        )


def tree_paths(block: Block) -> list[str]:
    """Paths of an indented file tree: the first word of each line, two spaces a level."""
    parents: list[str] = []
    paths = []
    for line in block.text.splitlines():
        if not line.strip():
            continue
        depth = (len(line) - len(line.lstrip())) // 2
        name = line.split()[0]
        parents = [*parents[:depth], name.rstrip("/")]
        paths.append("/".join(parents) + ("/" if name.endswith("/") else ""))
    return paths


def test_the_file_tree_is_the_repository() -> None:
    """Whatever is named exists, and every folder of the package is named."""
    trees = [
        block
        for block in blocks_of(ROOT / "CONTRIBUTING.md")
        if "src/sparserec/" in block.text and block.language in SHOWN
    ]
    assert trees, "CONTRIBUTING.md shows no file tree"
    paths = [path for block in trees for path in tree_paths(block)]
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert not missing, f"named in CONTRIBUTING.md but not there: {missing}"
    package = ROOT / "src" / "sparserec"
    packages = {f"src/sparserec/{folder.parent.name}/" for folder in package.glob("*/__init__.py")}
    assert packages <= set(paths), f"not named in CONTRIBUTING.md: {sorted(packages - set(paths))}"


def written() -> list[Path]:
    """Every page that people read."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "js/README.md")]
    return [*top, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md"))]


def headings(path: Path) -> set[str]:
    """The anchors of a page, as code hosts and the site make them."""
    lines = re.findall(
        r"^#+ (.+)$", re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S), re.M
    )
    return {re.sub(r"[^\w -]", "", line.strip().lower()).replace(" ", "-") for line in lines}


def test_links_between_pages_lead_somewhere() -> None:
    wrong = []
    for page in written():
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"", text):
            place, _, anchor = "".join(link).partition("#")
            if "://" in place:
                continue
            target = page.parent / place if place else page
            if not target.exists() or (anchor and anchor not in headings(target)):
                wrong.append(f"{page.relative_to(ROOT)}: {''.join(link)}")
    assert not wrong, "\n".join(wrong)


def test_every_page_is_reached_from_the_front_of_the_site() -> None:
    """`make docs` warns of it too; this needs nothing but the sources."""
    front = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = {
        line.strip() for block in re.findall(r"```\{toctree\}(.*?)```", front, re.S) for line in block.split()
    }
    pages = [path for kind in ("*.md", "*.ipynb") for path in (ROOT / "docs").rglob(kind)]
    names = {path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in pages} - {"index"}
    forgotten = sorted(name for name in names if not any(fnmatch(name, one) for one in listed))
    assert not forgotten, f"not in docs/index.md: {forgotten}"


def docs_build() -> ModuleType:
    """What `make docs` runs."""
    spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_site_has_a_reference_of_all_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every base and method with all of its settings, and whatever has a name that can be typed."""
    build = docs_build()
    monkeypatch.setattr(build, "SETTINGS", tmp_path / "settings.md")
    build.write_settings()
    page = (tmp_path / "settings.md").read_text(encoding="utf-8")
    sections = {part.split("\n", 1)[0]: part for part in re.split(r"^## ", page, flags=re.M)[1:]}
    for what, registry in (("base", RECOMMENDERS), ("method", METHODS)):
        for name, kind in registry.items():
            section = sections[f"{what.capitalize()} {name}"]
            missing = [
                one for one in kind.settings_kind.model_fields if f"`{what}_settings.{one}`" not in section
            ]
            assert not missing, f"{name}: {missing}"
    presets = (name for group in (PRESETS, METHOD_PRESETS) for named in group.values() for name in named)
    fields = (f"recipe.{name}" for name in Recipe.model_fields)
    for name in (*RECIPES, *PROTOCOLS, *presets, *fields, "open_test", "read.user_col"):
        assert f"| `{name}` |" in page, name
    assert "| `method_settings.drop_fraction` | `0.2` |" in sections["Method gse"]
    assert sections["Method gse"].count("| 0.05 to 0.6 |") == 1  # what a search tries


def test_one_sentence_says_what_it_is() -> None:
    """The same words in the README, on the site, in the help, in the docstring and on the package page."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shown = CliRunner().invoke(get_command(build_app()), ["--help"], terminal_width=200).output
    places = {
        "README.md": (ROOT / "README.md").read_text(encoding="utf-8"),
        "docs/index.md": (ROOT / "docs" / "index.md").read_text(encoding="utf-8"),
        "CITATION.cff": (ROOT / "CITATION.cff").read_text(encoding="utf-8"),
        "pyproject.toml": project["description"],
        "the docstring": sparserec.__doc__ or "",
        "--help": shown,
    }
    missing = [name for name, text in places.items() if sparserec.SENTENCE not in " ".join(text.split())]
    assert not missing, missing


def torchrun_lines() -> list[str]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    lines = [line for page in pages for block in blocks_of(page) for line in block.text.splitlines()]
    return [line for line in lines if line.startswith("torchrun ")]


def test_torchrun_takes_the_commands_that_name_it(capsys: pytest.CaptureFixture) -> None:
    """It looks for options of its own in what is meant for us: `--run` could be its `--run-path`."""
    from torch.distributed.run import get_args_parser

    train = {
        option for parameter in get_command(build_app()).commands["train"].params for option in parameter.opts
    }  # type: ignore[attr-defined]
    assert len(torchrun_lines()) >= 3
    for line in torchrun_lines():
        parsed = get_args_parser().parse_args(shlex.split(line)[1:])
        ours = parsed.training_script_args
        assert (parsed.module, parsed.training_script, ours[0]) == (True, "sparserec", "train"), line
        assert {word for word in ours if word.startswith("--")} <= train, line
    refused = {option for option in train if option.startswith("--") and not torchrun_passes(option)}
    assert refused == {"--run"}, "the guide names this one, and what to write instead"
    assert "`--run-dir` is `--run`" in (GUIDE / "more-than-one-machine.md").read_text(encoding="utf-8")


def torchrun_passes(option: str) -> bool:
    from torch.distributed.run import get_args_parser

    try:
        return (
            get_args_parser().parse_args(["-m", "sparserec", "train", option, "x"]).training_script_args[1]
            == option
        )
    except SystemExit:
        return False
