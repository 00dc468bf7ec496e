"""A stranger's method and base work from the command line: by package.module:Class and by entry points.

The classes are those of the two guides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from typer.testing import CliRunner

from sparserec.cli.app import build_app
from sparserec.methods import METHODS
from sparserec.recommenders import RECOMMENDERS
from sparserec.runs import open_run

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {"Tickets": DOCS / "adding-a-method.md", "Fading": DOCS / "guide" / "adding-a-recommender.md"}


def command(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(build_app(), list(words))
    return done.exit_code, done.output if done.exception is None else f"{done.output}{done.exception}"


@pytest.fixture
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with the examples of both guides, and the data they are tried on."""
    folder = tmp_path / "site"
    folder.mkdir()
    for name, page in PAGES.items():
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        block = next(block for block in blocks if f"class {name}(" in block)
        (folder / f"{name.lower()}.py").write_text(block, encoding="utf-8")
    pairs = [(user, item) for user in range(40) for item in range(30) if (user - item) % 5 == 0]
    text = "".join(f"u{user},i{item}\n" for user, item in pairs)
    (tmp_path / "visits.csv").write_text("user,item\n" + text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    with mock.patch.dict(METHODS), mock.patch.dict(RECOMMENDERS):  # a name that was found stays known
        yield folder


SMALL = ("--dim", "8", "--epochs", "2", "--quiet", "--set", "ks=[5]")


def test_a_class_of_another_file_trains_and_opens(strangers: Path, tmp_path: Path) -> None:
    log, run = str(tmp_path / "visits.csv"), tmp_path / "run"
    named = ("--base", "fading:Fading", "--method", "tickets:Tickets")
    settings = ("--set", "method_settings.tickets=2", "--set", "base_settings.fade=0.7")
    code, said = command("train", log, *named, *settings, *SMALL, "--run", str(run))
    assert code == 0, said
    opened = open_run(run)
    assert opened.config.base == "fading:Fading" and opened.recommender.settings.fade == 0.7  # type: ignore[attr-defined]
    assert [phase.name.split()[0] for phase in opened.record.epochs] == ["trial", "trial", "train"]
    code, said = command("recommend", str(run), "--user", "u1", "--json")
    assert code == 0 and json.loads(said), said


def test_an_entry_point_gives_it_a_name(strangers: Path, tmp_path: Path) -> None:
    info = strangers / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[sparserec.methods]\ntickets = tickets:Tickets\n[sparserec.bases]\nfading = fading:Fading\n",
        encoding="utf-8",
    )
    assert "from tickets:Tickets" in command("methods")[1]
    assert "from fading:Fading" in command("bases")[1]
    log = str(tmp_path / "visits.csv")
    code, said = command("config", "show", log, "--base", "fading", "--method", "tickets")
    assert code == 0 and '"fading"' in said, said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing_there:Tickets", "No module named 'nothing_there'.*PYTHONPATH"),
        ("tickets:Nobody", "tickets has no class Nobody"),
        ("tickets:best_of", "tickets has no class best_of"),
        ("tickets:TicketsSettings", "no `settings_kind`"),
        ("os:system;rm", "write it as package.module:Class"),
        ("ticket", "unknown method 'ticket'; known: sparserec, .*or package.module:Class"),
    ],
)
def test_a_wrong_name_is_told(name: str, said: str, strangers: Path, tmp_path: Path) -> None:
    code, told = command("train", str(tmp_path / "visits.csv"), "--method", name, *SMALL)
    assert code != 0 and re.search(said, told.replace("\n", " "), re.DOTALL), told
