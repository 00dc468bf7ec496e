"""The benchmark lock between real processes: one owner, freed by death, shared with what the owner starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparserec.errors import RunError
from sparserec.experiments.lock import benchmark_lock, holder, lock_path
from sparserec.files import file_lock

HOLD = """
import sys
from pathlib import Path
from sparserec.experiments.lock import benchmark_lock
with benchmark_lock(Path(sys.argv[1]), patience_seconds=0):
    print("held", flush=True)
    sys.stdin.read()
"""


def start(path: Path) -> subprocess.Popen:
    command = [sys.executable, "-c", HOLD, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_nobody_then_us_then_nobody(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert holder(path) is None
    with benchmark_lock(path):
        assert holder(path) == os.getpid()
    assert holder(path) is None
    with pytest.raises(ZeroDivisionError), benchmark_lock(path):
        raise ZeroDivisionError
    assert holder(path) is None


def test_another_process_is_respected_until_it_dies(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    other = start(path)
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    assert holder(path) == other.pid
    with pytest.raises(RunError, match=f"process {other.pid} is benchmarking"), benchmark_lock(path, 0.1):
        pass
    other.kill()
    other.communicate()
    assert holder(path) is None
    with benchmark_lock(path):
        assert holder(path) == os.getpid()


def test_what_the_owner_starts_runs_under_its_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with benchmark_lock(path):
        child = start(path)
        output, _ = child.communicate("")
        assert (child.returncode, output) == (0, "held\n")
        assert holder(path) == os.getpid()


def test_the_place_is_shared() -> None:
    assert lock_path().name == "sparserec-benchmark.lock"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """In the temporary folder anybody may put one: what it leads to would be emptied."""
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "mine")
    with pytest.raises(RunError, match="lock: is a link"), benchmark_lock(tmp_path / "lock"):
        pass
    with pytest.raises(RunError, match="lock: is a link"):
        holder(tmp_path / "lock")
    with pytest.raises(RunError, match="lock: is a link"), file_lock(tmp_path / "lock"):
        pass
    assert (tmp_path / "mine").read_text() == "precious"
    (tmp_path / "new").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="new: is a link"), benchmark_lock(tmp_path / "new"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_pipe_is_no_lock(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(RunError, match="lock: is no file"), benchmark_lock(tmp_path / "lock"):
        pass
    with pytest.raises(RunError, match="lock: is no file"):
        holder(tmp_path / "lock")


def test_a_lock_that_does_not_say_whose_it_is(tmp_path: Path) -> None:
    with benchmark_lock(tmp_path / "lock"):
        (tmp_path / "lock").write_text("nobody")
        assert holder(tmp_path / "lock") == 0
