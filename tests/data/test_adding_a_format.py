"""A stranger's format, that of docs/guide/adding-a-format.md: one file and nothing else."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sparserec.cli.app import build_app
from sparserec.data import read_source
from sparserec.errors import DataError, SettingError
from sparserec.runs import open_run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "adding-a-format.md"
LINES = [f"2024-05-{day:02d} u{user}: i{day % 4}, i{user % 7}" for day in range(1, 12) for user in range(9)]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A diary, and the class of the guide on the path."""
    block = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "diary.py").write_text(block[1], encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "diary", raising=False)
    (tmp_path / "log").mkdir()
    file = tmp_path / "log" / "visits.diary"
    file.write_text("\n".join(LINES), encoding="utf-8")
    return file


def entry_point(site: Path) -> None:
    info = site / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[sparserec.formats]\ndiary = diary:Diary\n", encoding="utf-8")


def test_a_run_is_trained_on_it(log: Path, tmp_path: Path) -> None:
    words = ["train", str(log), "--set", "read.format=diary:Diary", "--base", "mf", "--method", "dense"]
    words += ["--dim", "4", "--epochs", "1", "--quiet", "--set", "ks=[5]", "--run", str(tmp_path / "run")]
    done = CliRunner().invoke(build_app(), words)
    assert done.exit_code == 0, f"{done.output}{done.exception}"
    split = open_run(tmp_path / "run").split
    pairs = {(f"u{user}", f"i{item}") for user in range(9) for item in (0, 1, 2, 3, user % 7)}
    assert (split.n_users, split.n_items, len(split.everything())) == (9, 7, len(pairs))


def test_an_entry_point_reads_files_and_folders_by_their_ending(log: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read_source(log.parent)
    entry_point(tmp_path / "site")
    file, folder = read_source(log), read_source(log.parent)
    assert file.report.format == "diary (day visitor: place, place ...)"
    assert file.train.pair_hash() == folder.train.pair_hash() and file.train.timestamps is not None
    assert read_source(log, time_col="").train.timestamps is None, "columns are chosen as of any table"


def test_what_is_wrong_is_told(log: Path) -> None:
    log.write_text("2024-05-01 nobody\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"visits.diary:1: no visitor"):
        read_source(log, format="diary:Diary")
    with pytest.raises(
        SettingError, match=r"unknown format 'dairy'; known: lightgcn, .*package.module:Class"
    ):
        read_source(log, format="dairy")
    with pytest.raises(SettingError, match="has no `read`"):
        read_source(log, format="diary:timezone")
