"""A run is killed while it writes its last files: what has a record is sealed, what is resumed ends as it should."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from sparserec import files
from sparserec.data import read_source
from sparserec.errors import RunError
from sparserec.files import replacing, sweep
from sparserec.runs.child import main as child_main
from sparserec.runs.folder import RunFolder
from sparserec.runs.train import train_run
from sparserec.runs.trained import count_opening, open_later, open_run
from sparserec.training.config import Recipe, RunConfig

PAIRS = [(u, i) for u in range(40) for i in range(30) if (u + i) % 3 == 0]
CONFIG = RunConfig(
    data="pairs", base="lightgcn", method="static", dim=8, ks=(5,), recipe=Recipe(epochs=1, batch_size=50)
)
FINAL = CONFIG.model_copy(update={"final": True})


class Killed(BaseException):
    """Stands for the end of a process."""


def die_before(monkeypatch: pytest.MonkeyPatch, name: str, count: int = 1) -> None:
    """Die when a file that `name` is the end of would get its name for the count-th time."""
    replace, left = os.replace, [count]

    def dying(old: Path, new: Path) -> None:
        left[0] -= str(new).endswith(name)
        if left[0] == 0:
            raise Killed
        replace(old, new)

    monkeypatch.setattr(files.os, "replace", dying)


def train(config: RunConfig, folder: Path, resume: bool = False) -> None:
    train_run(config, folder, source=read_source(PAIRS), resume=resume)


def sealed_names(run: RunFolder) -> set[str]:
    run.verify()
    return set(json.loads(run.checksums.read_text()))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, drawing: None) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    train(FINAL, folder)
    return folder


@pytest.mark.parametrize(
    "name",
    [
        *(f"run/{name}" for name in ("model.safetensors", "per_user.npz", "training.png", "checksums.json")),
        *("run/record.json", "final/training.png", "final/checksums.json", "final/record.json"),
    ],
)
def test_killed_while_the_last_files_are_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: Path
) -> None:
    run = RunFolder(tmp_path / "run")
    with monkeypatch.context() as patched, pytest.raises(Killed):
        die_before(patched, name)
        train(FINAL, run.path)
    for one in (run, run.final):
        assert not one.finished or "record.json" in sealed_names(one)
    train(FINAL, run.path, resume=True)
    for one, other in ((run, RunFolder(undisturbed)), (run.final, RunFolder(undisturbed).final)):
        assert (
            sealed_names(one) == sealed_names(other) >= {"model.safetensors", "events.jsonl", "record.json"}
        )
        assert one.model.read_bytes() == other.model.read_bytes()
    assert run.read_record().final is not None and run.read_record().times_opened == 1


def test_killed_before_the_record_knows_the_final_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second time that the measured run writes its record is after the final training."""
    run, settings = RunFolder(tmp_path / "run"), tmp_path / "settings.json"
    with monkeypatch.context() as patched, pytest.raises(Killed):
        die_before(patched, "run/record.json", 2)
        train(FINAL, run.path)
    assert run.final.finished and run.read_record().final is None
    sealed_names(run)
    (tmp_path / "pairs.csv").write_text("user,item\n" + "".join(f"{u},{i}\n" for u, i in PAIRS))
    settings.write_text(json.dumps(FINAL.model_dump(mode="json")))
    with pytest.raises(RunError, match="unfinished"):
        train(FINAL, run.path)
    train(FINAL, run.path, resume=True)
    assert run.read_record().final is not None
    sealed_names(run), sealed_names(run.final)
    assert child_main(str(settings), str(run.path), str(tmp_path), "0") == 0, "nothing is left for a queue"


def test_a_run_killed_by_an_older_version_is_sealed_by_resuming(undisturbed: Path, tmp_path: Path) -> None:
    run = RunFolder(shutil.copytree(undisturbed, tmp_path / "run"))
    names = sealed_names(run)
    run.checksums.unlink()
    with pytest.raises(RunError, match="is finished"):
        train(FINAL, run.path, resume=True)
    assert sealed_names(run) == names
    data = bytearray(run.model.read_bytes())
    data[-20] ^= 1
    run.model.write_bytes(data)
    with pytest.raises(RunError, match=r"model\.safetensors: damaged"):
        open_run(run.path)


def test_killed_while_it_says_more_about_itself(
    undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before or after the kill, the record is one that the seal knows; any other is not."""
    run = RunFolder(shutil.copytree(undisturbed, tmp_path / "run"))
    for name in ("checksums.json", "record.json"):
        with monkeypatch.context() as patched, pytest.raises(Killed):
            die_before(patched, name)
            count_opening(open_run(run.path))
        assert open_run(run.path).record.times_opened == 1
    count_opening(open_run(run.path))
    assert open_run(run.path).record.times_opened == 2
    run.record.write_text(run.record.read_text().replace('"dim": 8', '"dim": 9'))
    with pytest.raises(RunError, match=r"record\.json: damaged"):
        open_run(run.path)


def test_what_is_opened_later_is_sealed_too(tmp_path: Path) -> None:
    train(CONFIG.model_copy(update={"open_test": False}), tmp_path / "run")
    assert "per_user.npz" not in sealed_names(RunFolder(tmp_path / "run"))
    open_later(tmp_path / "run")
    assert "per_user.npz" in sealed_names(RunFolder(tmp_path / "run"))


def test_half_written_files_are_swept(tmp_path: Path, undisturbed: Path) -> None:
    run = RunFolder(shutil.copytree(undisturbed, tmp_path / "run"))
    run.record.unlink()
    left = [run.path / ".record.json.12.tmp", run.work / ".best-0-2.safetensors.9.tmp"]
    left += [run.final.work / ".checkpoint.safetensors.77.tmp"]
    kept = run.path / ".mine.tmp"
    for path in (*left, kept):
        path.write_text("half")
    train(FINAL, run.path, resume=True)
    assert not any(path.exists() for path in left) and kept.exists()
    assert ".mine.tmp" not in sealed_names(run)


def test_old_temporary_files_go_when_their_file_is_written_again(tmp_path: Path) -> None:
    names = ".a.json.1.tmp", ".a.json.2.tmp", ".b.json.1.tmp"
    for name in names:
        (tmp_path / name).write_text("half")
    for name in (names[0], names[2]):
        os.utime(tmp_path / name, (0, 0))
    with replacing(tmp_path / "a.json") as temporary:
        temporary.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [names[1], names[2], "a.json"]
    sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
