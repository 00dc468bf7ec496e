"""What a stopped run left behind is damaged: each way has an error that names the file, and none goes on in silence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from small_run import blocks, small_config

from sparserec.errors import RunError
from sparserec.runs.folder import RunFolder
from sparserec.runs.train import train_run
from sparserec.training import loop
from sparserec.training.checkpoint import CHECKED, UNCHECKED, load_table, read_arrays, write_arrays


class Killed(Exception):
    """Stands for the end of a process."""


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stopped") / "run"
    check, left = loop._check_finite, [27]

    def dying(*arguments: object) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        check(*arguments)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop, "_check_finite", dying)
        with pytest.raises(Killed):
            train_run(small_config(), folder, source=blocks())
    return folder


@pytest.fixture
def run(stopped: Path, tmp_path: Path) -> RunFolder:
    return RunFolder(shutil.copytree(stopped, tmp_path / "run"))


def resume(run: RunFolder) -> None:
    train_run(small_config(), run.path, source=blocks(), resume=True)


def test_every_bit_of_a_file_counts(tmp_path: Path) -> None:
    """Of its head, its state, its checksum and its arrays: each flipped bit is an error or gives the same contents."""
    path = tmp_path / "a.safetensors"
    arrays = {"a": np.arange(3, dtype=np.int16), "flag": np.array([True])}
    write_arrays(path, arrays, {"step": 12})
    whole = path.read_bytes()
    unnoticed = []
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            found, state = read_arrays(path)
        except RunError as error:
            assert str(path) in str(error)
            continue
        same = state == {"step": 12} and found.keys() == arrays.keys()
        if not same or any(not np.array_equal(found[name], arrays[name]) for name in arrays):
            unnoticed.append(bit)
    assert not unnoticed


def test_the_same_contents_are_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.safetensors" for number in range(6)]
    for path in files:
        write_arrays(path, {name: np.arange(3) for name in "abcd"}, {"step": 1, "shape": [1, 2]})
    assert len({path.read_bytes() for path in files}) == 1


def test_files_of_before_there_was_a_checksum_are_read(tmp_path: Path) -> None:
    save_file({"a": np.arange(3)}, tmp_path / "old.safetensors", {UNCHECKED: '{"step": 1}'})
    assert read_arrays(tmp_path / "old.safetensors")[1] == {"step": 1}
    save_file({"a": np.arange(3)}, tmp_path / "new.safetensors", {CHECKED: f"{'0' * 64} {{}}"})
    with pytest.raises(RunError, match=r"new\.safetensors: damaged"):
        read_arrays(tmp_path / "new.safetensors")


@pytest.mark.parametrize("name", ["checkpoint", "best-0-2"])
def test_a_flipped_bit_does_not_train_on(run: RunFolder, name: str) -> None:
    """In the numbers, where nothing else would notice: they are numbers after it too."""
    path = run.work / f"{name}.safetensors"
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)
    with pytest.raises(RunError, match=rf"{name}\.safetensors: damaged.*copy the file back"):
        resume(run)
    assert not run.finished


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (1, '{"event": "epoch", "los', "events.jsonl:2: damaged"),
        (0, "[]", "events.jsonl:1: damaged"),
        (0, "{}", "events.jsonl:1: damaged"),
        (1, "\xff\xfe}", "events.jsonl:2: damaged"),
        (None, "", "events.jsonl: has 0 lines where the checkpoint knows of"),
    ],
)
def test_a_damaged_line_of_events_is_named(run: RunFolder, line: int | None, text: str, message: str) -> None:
    lines = run.events.read_text().splitlines()
    if line is None:
        lines = []
    else:
        lines[line] = text
    run.events.write_bytes("".join(f"{one}\n" for one in lines).encode("latin-1"))
    with pytest.raises(RunError, match=message):
        resume(run)
    if line is not None:
        with pytest.raises(RunError, match=message):
            run.read_events()


def test_a_last_line_cut_off_by_a_crash_is_none(run: RunFolder) -> None:
    before = run.read_events()
    with run.events.open("a") as file:
        file.write('{"event": "epo')
    assert run.read_events() == before


@pytest.mark.parametrize(
    "change",
    [
        {"loop": None},
        {"loop": {"events": 1}},
        {"loop": {"events": "many"}},
        {"loop": {"events": 0, "early": {"best": 1}, "done": []}},
    ],
)
def test_a_checkpoint_whose_state_is_something_else(run: RunFolder, change: dict) -> None:
    path = run.work / "checkpoint.safetensors"
    arrays, state = read_arrays(path)
    write_arrays(path, arrays, state | change)
    with pytest.raises(RunError, match=r"checkpoint\.safetensors: damaged, or of another version"):
        resume(run)


def test_a_checkpoint_without_an_array(run: RunFolder) -> None:
    path = run.work / "checkpoint.safetensors"
    arrays, state = read_arrays(path)
    names = [name for name in arrays if name.startswith("table.")]
    for name in names[:2]:
        write_arrays(path, {other: arrays[other] for other in arrays if other != name}, state)
        with pytest.raises(RunError, match=r"checkpoint\.safetensors: damaged, or of another version"):
            resume(run)


@pytest.mark.parametrize("kind", ["dense", "masked", "thresholded", "computed", "composed", "none", [], None])
def test_a_table_of_another_kind(run: RunFolder, kind: object) -> None:
    path = next(run.work.glob("best-*.safetensors"))
    arrays, state = read_arrays(path)
    assert state["kind"] == "sparse"
    write_arrays(path, arrays, state | {"kind": kind})
    with pytest.raises(RunError, match=r"best-.*: damaged, or of another version"):
        load_table(path)
    write_arrays(path, arrays, {"kind": "sparse", "shape": {"n_users": json.loads("1")}})
    with pytest.raises(RunError, match=r"best-.*: damaged, or of another version"):
        load_table(path)
