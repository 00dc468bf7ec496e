"""A killed run resumes exactly: the final model equals, bit for bit, that of a run nobody stopped."""

from __future__ import annotations

import json
import multiprocessing
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from small_run import train_and_die, train_or_continue, train_smaller

SCRIPT = Path(__file__).parent / "small_run.py"
Kill = Callable[..., None]


@pytest.fixture(scope="module")
def kill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kill]:
    """Train in a process of its own that is killed on the way.

    All come from one that has imported everything and done nothing: importing takes longer than these runs.
    """
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["sparserec.runs.train", "sparserec.runs.warm_start"])

    def killed(*where: object) -> None:
        child = processes.Process(target=train_and_die, args=where)
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SPARSEREC_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield killed


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, kill: Kill) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    train_or_continue(folder)
    return folder


def same_result(a: Path, b: Path) -> None:
    first, second = load_file(a / "model.safetensors"), load_file(b / "model.safetensors")
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)

    def history(folder: Path) -> list[dict]:
        lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
        return [{k: v for k, v in line.items() if k not in ("time", "seconds")} for line in lines]

    assert history(a) == history(b)
    records = [json.loads((folder / "record.json").read_text()) for folder in (a, b)]
    assert records[0]["test"] == records[1]["test"]


@pytest.mark.parametrize(
    ("point", "count"),
    [("step", 3), ("step", 31), ("explore", 2), ("explore", 4), ("write", 1), ("write", 3), ("phase", 1)],
)
def test_killed_run_ends_with_the_same_model(
    point: str, count: int, tmp_path: Path, undisturbed: Path, kill: Kill
) -> None:
    folder = tmp_path / "run"
    kill(point, count, folder)
    assert folder.exists() and not (folder / "record.json").exists()
    train_or_continue(folder)
    same_result(folder, undisturbed)
    assert not list(folder.rglob("*.tmp")), "what was half written is swept away"


@pytest.fixture(scope="module")
def smaller(tmp_path_factory: pytest.TempPathFactory, kill: Kill) -> Path:
    """A finished run to go on from."""
    folder = tmp_path_factory.mktemp("smaller") / "run"
    train_smaller(folder)
    return folder


@pytest.fixture(scope="module")
def undisturbed_warm(tmp_path_factory: pytest.TempPathFactory, smaller: Path) -> Path:
    folder = tmp_path_factory.mktemp("warm") / "run"
    train_or_continue(folder, smaller)
    events = map(json.loads, (folder / "events.jsonl").read_text().splitlines())
    first = next(event for event in events if event["event"] == "warm start")
    assert first["new_users"] and first["new_items"] and first["kept"]
    return folder


@pytest.mark.parametrize(("point", "count"), [("step", 1), ("explore", 3), ("write", 3), ("phase", 1)])
def test_killed_warm_start_ends_with_the_same_model(
    point: str, count: int, tmp_path: Path, smaller: Path, undisturbed_warm: Path, kill: Kill
) -> None:
    """Killed before its first step, between and in checkpoints; what it goes on from is read anew each time."""
    folder = tmp_path / "run"
    kill(point, count, folder, smaller)
    train_or_continue(folder, smaller)
    same_result(folder, undisturbed_warm)


def test_sigterm_writes_a_checkpoint_and_says_how_to_go_on(tmp_path: Path, undisturbed: Path) -> None:
    folder = tmp_path / "run"
    child = subprocess.Popen([sys.executable, SCRIPT, folder], stderr=subprocess.PIPE, text=True)
    events = folder / "events.jsonl"
    while not events.exists() and child.poll() is None:
        time.sleep(0.005)
    child.send_signal(signal.SIGTERM)
    _, message = child.communicate()
    if child.returncode == 0:
        pytest.fail("the run finished before the signal arrived; make it longer")
    assert "SIGTERM" in message and "`resume`" in message
    subprocess.run([sys.executable, SCRIPT, folder], check=True)
    same_result(folder, undisturbed)


def written(folder: Path) -> int:
    """How much a run has said about itself."""
    events = folder / "events.jsonl"
    return events.stat().st_size if events.exists() else 0


@pytest.mark.real
def test_fifty_random_kills(tmp_path: Path, undisturbed: Path) -> None:
    """SIGKILL at fifty random moments of training, resumed each time; as many runs as that takes."""
    rng, kills, attempt = random.Random(0), 0, 0
    while kills < 50:
        folder = tmp_path / f"run-{attempt}"
        attempt += 1
        while not (folder / "record.json").exists():
            before = written(folder)
            child = subprocess.Popen([sys.executable, SCRIPT, folder])
            while child.poll() is None and written(folder) == before:
                time.sleep(0.01)  # a kill while Python is still importing would test nothing
            try:
                child.wait(timeout=rng.uniform(0.0, 1.5))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                kills += 1
        same_result(folder, undisturbed)
