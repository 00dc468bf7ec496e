"""One thread per test process and fixed seeds: the suite gives the same answer on every machine."""

import os

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

from hypothesis import settings  # noqa: E402  (threads must be set before anything starts them)

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("fixed")
