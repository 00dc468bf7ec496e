"""Other processors, run by qemu: the same bits on ARM and on a machine whose bytes come the other way round.

Cross-compilers and qemu are no tools of CI; where they are missing these tests are skipped with a word.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from compiled import ROOT, build, run

MACHINES = {"aarch64": "aarch64-linux-gnu-gcc", "s390x": "s390x-linux-gnu-gcc"}
FILES = sorted((ROOT / "conformance").glob("*/*/*.srec"))


@pytest.mark.parametrize("machine", MACHINES)
def test_the_same_bits(machine: str, tmp_path: Path) -> None:
    emulator = shutil.which(f"qemu-{machine}")
    if emulator is None or shutil.which(MACHINES[machine]) is None:
        pytest.skip(
            f"qemu-{machine} or {MACHINES[machine]} is not installed: the C reader is not run on {machine}"
        )
    here = run([build(tmp_path / "here", "fuzz.c"), *FILES])
    there = build(tmp_path / "there", "fuzz.c", flags=["-O2", "-static"], name=MACHINES[machine])
    assert len(here.splitlines()) == len(FILES) > 200
    assert run([emulator, there, *FILES]) == here
