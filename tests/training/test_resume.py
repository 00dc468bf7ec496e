"""A killed run resumes exactly: the final model equals, bit for bit, that of a run nobody stopped."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from small_run import train_smaller

SCRIPT = Path(__file__).parent / "small_run.py"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {**os.environ, "SPARSEREC_CACHE": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    subprocess.run([sys.executable, SCRIPT, folder], env=environment, check=True)
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
    point: str, count: int, tmp_path: Path, undisturbed: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "run"
    killed = subprocess.run([sys.executable, SCRIPT, folder, point, str(count)], env=environment)
    assert killed.returncode == -signal.SIGKILL
    assert not (folder / "record.json").exists()
    subprocess.run([sys.executable, SCRIPT, folder], env=environment, check=True)
    same_result(folder, undisturbed)
    assert not list(folder.rglob("*.tmp")) or point == "write"


@pytest.fixture(scope="module")
def smaller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run to go on from."""
    folder = tmp_path_factory.mktemp("smaller") / "run"
    train_smaller(folder)
    return folder


@pytest.fixture(scope="module")
def undisturbed_warm(
    tmp_path_factory: pytest.TempPathFactory, smaller: Path, environment: dict[str, str]
) -> Path:
    folder = tmp_path_factory.mktemp("warm") / "run"
    subprocess.run([sys.executable, SCRIPT, folder, "--from", smaller], env=environment, check=True)
    events = map(json.loads, (folder / "events.jsonl").read_text().splitlines())
    first = next(event for event in events if event["event"] == "warm start")
    assert first["new_users"] and first["new_items"] and first["kept"]
    return folder


@pytest.mark.parametrize(("point", "count"), [("step", 1), ("explore", 3), ("write", 3), ("phase", 1)])
def test_killed_warm_start_ends_with_the_same_model(
    point: str, count: int, tmp_path: Path, smaller: Path, undisturbed_warm: Path, environment: dict[str, str]
) -> None:
    """Killed before its first step, between and in checkpoints; what it goes on from is read anew each time."""
    folder = tmp_path / "run"
    words: list[str | Path] = [sys.executable, SCRIPT, folder]
    killed = subprocess.run([*words, point, str(count), "--from", smaller], env=environment)
    assert killed.returncode == -signal.SIGKILL
    subprocess.run([*words, "--from", smaller], env=environment, check=True)
    same_result(folder, undisturbed_warm)


def test_sigterm_writes_a_checkpoint_and_says_how_to_go_on(
    tmp_path: Path, undisturbed: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "run"
    child = subprocess.Popen(
        [sys.executable, SCRIPT, folder], env=environment, stderr=subprocess.PIPE, text=True
    )
    events = folder / "events.jsonl"
    while not events.exists() and child.poll() is None:
        time.sleep(0.005)
    child.send_signal(signal.SIGTERM)
    _, message = child.communicate()
    if child.returncode == 0:
        pytest.fail("the run finished before the signal arrived; make it longer")
    assert "SIGTERM" in message and "`resume`" in message
    subprocess.run([sys.executable, SCRIPT, folder], env=environment, check=True)
    same_result(folder, undisturbed)


def written(folder: Path) -> int:
    """How much a run has said about itself."""
    events = folder / "events.jsonl"
    return events.stat().st_size if events.exists() else 0


@pytest.mark.real
def test_fifty_random_kills(tmp_path: Path, undisturbed: Path, environment: dict[str, str]) -> None:
    """SIGKILL at fifty random moments of training, resumed each time; as many runs as that takes."""
    rng, kills, attempt = random.Random(0), 0, 0
    while kills < 50:
        folder = tmp_path / f"run-{attempt}"
        attempt += 1
        while not (folder / "record.json").exists():
            before = written(folder)
            child = subprocess.Popen([sys.executable, SCRIPT, folder], env=environment)
            while child.poll() is None and written(folder) == before:
                time.sleep(0.01)  # a kill while Python is still importing would test nothing
            try:
                child.wait(timeout=rng.uniform(0.0, 1.5))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                kills += 1
        same_result(folder, undisturbed)
