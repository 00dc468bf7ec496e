"""Threads: one for little work, as many as asked for, none left changed; and idle ones sleep."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest
import torch

from sparserec.errors import SettingError
from sparserec.process import SMALL_WORK, check_threads, threads_for


def test_little_work_gets_one_thread_and_the_rest_is_left_as_it_was() -> None:
    before = torch.get_num_threads()
    with threads_for(SMALL_WORK - 1) as count:
        assert count == torch.get_num_threads() == numba.get_num_threads() == 1
    assert torch.get_num_threads() == before
    with threads_for(SMALL_WORK) as count:
        assert count == before
    with pytest.raises(KeyError), threads_for(0):
        raise KeyError
    assert torch.get_num_threads() == before


def test_who_asks_for_threads_gets_them() -> None:
    with threads_for(0, 2) as count:
        assert count == 2
    check_threads(3)
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(SettingError, match="`threads` is"):
            check_threads(wrong)  # type: ignore[arg-type]


SLEEPS = """
import os, sys, sparserec
assert "torch" not in sys.modules
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print(os.environ.get("OMP_WAIT_POLICY"), os.environ.get("GOMP_SPINCOUNT"))
            raise KeyboardInterrupt
sys.meta_path.insert(0, Watch())
try:
    {call}
except BaseException:
    pass
"""


THREADS = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


def told(call: str, **chosen: str) -> str:
    """What OpenMP hears of how idle threads wait."""
    plain = {name: value for name, value in os.environ.items() if name not in THREADS}
    command = [sys.executable, "-c", SLEEPS.format(call=call)]
    done = subprocess.run(command, capture_output=True, text=True, env=plain | chosen, check=True)
    return done.stdout.splitlines()[0]


@pytest.mark.parametrize(
    "call", ["sparserec.fit([('a', 'b')])", "sparserec.load('.')", "sys.argv[1:] = ['doctor']; "
             "__import__('sparserec.cli').cli.main()"],
    ids=["fit", "load", "command"],
)  # fmt: skip
def test_idle_threads_sleep_before_torch_is_loaded(call: str) -> None:
    """OpenMP reads its policy once: what is set after torch has come is not heard."""
    assert told(call) == "PASSIVE 1000"


def test_whoever_chose_how_threads_wait_is_heard() -> None:
    call = "sparserec.load('.')"
    assert told(call, OMP_WAIT_POLICY="PASSIVE") == "PASSIVE None"
    assert told(call, GOMP_SPINCOUNT="5") == "PASSIVE 5"
