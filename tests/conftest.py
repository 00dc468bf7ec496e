"""One thread per test process and fixed seeds: the suite gives the same answer on every machine.

Two things that toys spend most of their time on are left out of this process, and stay in those that tests start:
waiting for the disk (tests/test_files.py looks at that), and a run's figures (the fixture `drawing` has them).
"""

import os
import sys
from collections.abc import Iterator

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"
os.fsync = lambda descriptor: None  # nobody cuts the power here

import pytest  # noqa: E402  (threads must be set before anything starts them)
from hypothesis import settings  # noqa: E402

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("fixed")

CANVAS = "matplotlib.backends.backend_agg"


def pytest_configure() -> None:
    """From here on a training goes as where the extra `plots` is not installed, whatever was loaded before."""
    sys.modules[CANVAS] = None  # type: ignore[assignment]


@pytest.fixture(scope="module")
def drawing() -> Iterator[None]:
    """matplotlib is there, from the first test of a module on that asks for this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, CANVAS)
        yield
