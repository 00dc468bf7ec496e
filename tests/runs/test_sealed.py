"""A run folder notices damage to any of its files, and lets one process train into it at a time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sparserec.data import read_source
from sparserec.errors import DataError, RunError
from sparserec.files import file_lock
from sparserec.runs.folder import RunFolder
from sparserec.runs.train import train_run
from sparserec.runs.trained import measure_again, open_run
from sparserec.serving.comparison import compare_runs
from sparserec.training.config import Recipe, RunConfig

PAIRS = [(u, i) for u in range(40) for i in range(30) if (u + i) % 3 == 0]
CONFIG = RunConfig(
    data="pairs", base="lightgcn", method="static", dim=8, ks=(5,), recipe=Recipe(epochs=1, batch_size=50)
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, drawing: None) -> Path:
    path = tmp_path_factory.mktemp("sealed") / "run"
    train_run(CONFIG, path, source=read_source(PAIRS))
    return path


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


@pytest.mark.parametrize(
    "name", ["model.safetensors", "data.safetensors", "per_user.npz", "events.jsonl", "config.json"]
)
def test_one_flipped_bit_is_noticed_and_named(run: Path, name: str) -> None:
    open_run(run)
    data = bytearray((run / name).read_bytes())
    data[-20] ^= 1
    (run / name).write_bytes(data)
    with pytest.raises(RunError, match=name.replace(".", r"\.")):
        open_run(run)


def test_a_truncated_or_missing_file_is_named(run: Path) -> None:
    whole = (run / "per_user.npz").read_bytes()
    (run / "per_user.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RunError, match=r"per_user\.npz: damaged"):
        compare_runs([run, run], "ndcg@5", "float")
    (run / "checksums.json").unlink()  # as a run of an older version
    with pytest.raises(RunError, match=r"per_user\.npz: damaged"):
        compare_runs([run, run], "ndcg@5", "float")
    shutil.rmtree(run)


def test_a_missing_figure_is_missing(run: Path) -> None:
    for name in ("training.png", "support.png", "rows.png"):
        assert (run / name).read_bytes().startswith(b"\x89PNG")
    (run / "training.png").unlink()
    with pytest.raises(RunError, match=r"training\.png: is missing"):
        open_run(run)


def test_what_is_written_down_later_is_no_damage(run: Path) -> None:
    measure_again(open_run(run))
    assert open_run(run).record.times_opened == 2
    (run / "model.srec").write_bytes(b"an exported file")
    open_run(run)


def test_files_of_others_are_none_of_its_business(run: Path) -> None:
    """An export into the folder is not sealed with the next record, nor held against runs that did so."""
    for content in (b"one", b"another"):
        (run / "mine.srec").write_bytes(content)
        (run / "model.curve.png").write_bytes(content)
        measure_again(open_run(run))
    sealed = json.loads((run / "checksums.json").read_text())
    assert "mine.srec" not in sealed and "per_user.npz" in sealed
    (run / "checksums.json").write_text(json.dumps(sealed | {"mine.srec": "of an older version"}))
    open_run(run)


def test_a_second_process_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    holding = "import sys, time; from pathlib import Path; from sparserec.files import file_lock\n"
    holding += "with file_lock(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    command = [sys.executable, "-c", holding, str(tmp_path / "run" / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(RunError, match=f"process {other.pid} is training into it"):
            train_run(CONFIG, tmp_path / "run", source=read_source(PAIRS), resume=True)
        other.kill()
    train_run(CONFIG, tmp_path / "run", source=read_source(PAIRS), resume=True)
    assert RunFolder(tmp_path / "run").finished, "the lock of a dead process is none"


def test_the_lock_names_its_owner(tmp_path: Path) -> None:
    with file_lock(tmp_path / "lock") as owner:
        assert owner is None
        with file_lock(tmp_path / "lock") as second:
            assert second == os.getpid()
    with file_lock(tmp_path / "lock") as again:
        assert again is None


def test_a_refused_run_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="fewer than the list length"):
        train_run(RunConfig(data="pairs", ks=(20,)), tmp_path / "run", source=read_source([(1, 2), (2, 3)]))
    assert not (tmp_path / "run").exists()
