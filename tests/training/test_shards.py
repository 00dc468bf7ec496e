"""Several processes give the model that one gives, bit for bit; they stop together, and go on in any number."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from shards_run import CASES
from typer.testing import CliRunner

from sparserec.cli.app import build_app
from sparserec.data import resolve
from sparserec.distributed import Processes
from sparserec.errors import SettingError
from sparserec.recommenders import RECOMMENDERS
from sparserec.table import Shape, Shards, SparseTable, State, cut_state, join_states
from sparserec.training import RunConfig, load_table, prepare_run

SCRIPT = Path(__file__).parent / "shards_run.py"
TRAIN = (
    "train world --dim 128 --epochs 3 --threads 1 --quiet --no-file --set recipe.batch_size=2000 "
    "--set checkpoint_every=1 --set method_settings.nmf_iterations=2"
).split()
OF_BASE = {
    "lightgcn": "--base lightgcn --set base_settings.layers=1".split(),
    "history": "--base history --set base_settings.temperature=0.2 --set method_settings.init=nmf".split(),
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {**os.environ, "SPARSEREC_CACHE": str(tmp_path_factory.mktemp("cache"))}


def run_together(count: int, folder: Path, environment: dict[str, str]) -> Path:
    """The script in so many processes, without torchrun, which would start as slowly again."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    started = [
        subprocess.Popen([sys.executable, SCRIPT, folder], env={**environment, **shared, "RANK": str(rank)})
        for rank in range(count)
    ]
    assert [one.wait(600) for one in started] == [0] * count
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    return run_together(1, tmp_path_factory.mktemp("one"), environment)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """By three: four or five blocks and eight chunks of rows make uneven shares, of one part and of more."""
    return run_together(3, tmp_path_factory.mktemp("some"), environment)


def test_every_base_and_method_gives_the_same_bits(alone: Path, together: Path) -> None:
    expected, found = (json.loads((folder / "found.json").read_text()) for folder in (alone, together))
    assert {case.base for case in CASES.values() if case.steps == 30} == set(RECOMMENDERS)
    for name, case in CASES.items():
        assert found[name] == expected[name], name
        explored = any(event == "explore" for event, _ in found[name]["events"])
        assert explored or case.method in ("static", "dense", "taper"), name
        tables = sorted(path.name for path in (alone / name).glob("*.safetensors"))
        assert tables
        for table in tables:
            one, several = (load_table(folder / name / table).state() for folder in (alone, together))
            assert one.keys() == several.keys()
            for array in one:
                np.testing.assert_array_equal(several[array], one[array], err_msg=f"{name}: {table} {array}")


def test_blocks_of_a_state_join_to_the_state() -> None:
    """Candidates and watched entries, which no saved table has, are cut and joined too."""
    shape = Shape(2, 2, 5, 2)
    support = [np.array([0, 3, 6]), np.array([1]), np.array([0, 2])]
    table = SparseTable(shape, support, np.arange(6, dtype=np.float32))
    table.set_candidates(np.array([1, 3]))
    assert table.candidates is not None
    table.candidates.accumulated[:] = np.arange(10).reshape(2, 5)
    table.watch([np.array([1, 2]), np.array([5]), np.array([], np.int32)])
    state = table.state()
    parts = [cut_state(state, shape, part) for part in shape.parts]
    assert parts[2]["values"].tolist() == [4, 5] and parts[0]["candidates.watched"].tolist() == [1, 2]
    assert parts[1]["candidates.accumulated"].tolist() == [[2, 3], [7, 8]]
    assert_same(join_states(parts, by_rows=False), state)


def test_chunks_of_a_state_join_to_the_state() -> None:
    """Also to the state of a process that holds some of them."""
    shape = Shape(0, 17, 3, 3)
    rng = np.random.default_rng(0)
    support = np.flatnonzero(rng.random(17 * 3) < 0.5).astype(np.int32)
    table = SparseTable(shape, [support], rng.standard_normal(len(support)).astype(np.float32))
    table.set_candidates(np.array([1, 4, 5, 9, 16]))
    assert table.candidates is not None
    table.candidates.accumulated[:] = np.arange(15).reshape(5, 3)
    state = table.state()
    parts = [cut_state(state, shape, part) for part in shape.parts]
    assert parts[2]["candidates.accumulated"].tolist() == [[3, 4, 5], [6, 7, 8]]  # rows 4 and 5
    assert_same(join_states(parts, by_rows=True), state)
    half = Shards(0, 17, 3, 3, Processes(1, 2))
    second = join_states(parts[4:], by_rows=True)
    for part in half.parts:
        assert_same(cut_state(second, half, part), parts[part])


def assert_same(found: State, expected: State) -> None:
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (
            {"base": "history", "method": "rigl"},
            "method rigl.*base history.*one of sparserec, dense, static, taper",
        ),
        ({"base": "history", "method_settings": {"growth": "instantaneous"}}, "sparserec, as it is set"),
        ({"base": "lightgcn", "method": "dhe"}, "method dhe.*train one of sparserec, dense"),
        ({"base": "lightgcn", "method_settings": {"init": "rotated"}}, "method sparserec, as it is set"),
        (
            {"base": "lightgcn", "dim": 32, "method_settings": {"init": "uniform"}},
            "2 processes.*has 1 blocks of 32",
        ),
    ],
)
def test_what_one_process_must_train_is_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingError, match=why):
        prepare_run(RunConfig.model_validate(settings), resolve("world"), processes=Processes(1, 2))


def test_shares_are_stretches_and_leave_nothing_out() -> None:
    for count in (1, 2, 3, 4):
        shares = [list(Processes(rank, count).share(4)) for rank in range(count)]
        assert [part for share in shares for part in share] == [0, 1, 2, 3] and all(shares)


# -- the command ---------------------------------------------------------------------------------------------------


def start(count: int, folder: Path, environment: dict[str, str], *more: str) -> subprocess.Popen[str]:
    """`sparserec train` on the city in so many processes, into a folder that has the base's name."""
    several = ["torch.distributed.run", "--nproc-per-node", str(count), "-m"]
    settings = [*TRAIN, *OF_BASE[folder.name], "--run-dir", str(folder), *more]
    command = [sys.executable, "-m", *several, "sparserec", *settings]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment, **pipes)  # type: ignore[call-overload]


def train_here(folder: Path, environment: dict[str, str], *more: str) -> None:
    """The same command in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARSEREC_CACHE", environment["SPARSEREC_CACHE"])
        words = [*TRAIN, *OF_BASE[folder.name], "--run-dir", str(folder), *more]
        done = CliRunner().invoke(build_app(), words)
    assert done.exit_code == 0, done.exception


def wait_for(path: Path) -> None:
    for _ in range(3000):
        if path.exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} did not come")


def errors_of(process: subprocess.Popen[str]) -> list[str]:
    output = process.communicate(timeout=600)[1]
    assert process.returncode != 0
    return [line for line in output.splitlines() if line.startswith("error: ")]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """A folder with a run of every base."""
    parent = tmp_path_factory.mktemp("undisturbed")
    for base in OF_BASE:
        train_here(parent / base, environment)
    return parent


def same_model(a: Path, b: Path) -> None:
    first, second = (load_file(folder / "model.safetensors") for folder in (a, b))
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    records = [json.loads((folder / "record.json").read_text()) for folder in (a, b)]
    assert records[0]["test"] == records[1]["test"] and records[0]["mask"] == records[1]["mask"]

    def history(folder: Path) -> list[dict]:
        lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
        kept = [{k: v for k, v in line.items() if k not in ("time", "seconds")} for line in lines]
        return [{**line, "ledger": None} for line in kept]  # bytes of one process

    assert history(a) == history(b)


@pytest.mark.parametrize("base", OF_BASE)
def test_an_interrupted_training_goes_on_with_another_number_of_processes(
    base: str, tmp_path: Path, undisturbed: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / base
    running = start(2, folder, environment)
    wait_for(folder / "work" / "checkpoint.safetensors")
    running.send_signal(signal.SIGINT)
    assert [line[:18] for line in errors_of(running)] == ["error: stopped by "]
    assert not (folder / "record.json").exists()
    train_here(folder, environment, "--resume")
    same_model(folder, undisturbed / folder.name)


def test_when_one_process_dies_all_end_with_one_message(
    tmp_path: Path, undisturbed: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "lightgcn"
    running = start(3, folder, environment)
    wait_for(folder / "work" / "checkpoint.safetensors")
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    os.kill(int(children[-1]), signal.SIGKILL)
    output = errors_of(running)
    assert len(output) == 1 and "another process of this training has ended" in output[0]
    again = start(2, folder, environment, "--resume")
    assert again.communicate(timeout=600) and again.returncode == 0
    same_model(folder, undisturbed / folder.name)
