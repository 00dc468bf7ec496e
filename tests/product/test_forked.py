"""A model that has answered in the parent answers in a forked child too, as web servers and pools of workers ask."""

from __future__ import annotations

import subprocess
import sys

FORKING = """
import os, signal
import numpy as np
import torch
from sparserec.serving.best_items import rank

torch.set_num_threads(2)  # so that the parent has a pool of threads, which the child will not have
rng = np.random.default_rng(0)
users, items = (rng.standard_normal((count, 64)).astype(np.float32) for count in (1500, 3000))
before, _ = rank(users, items, 10, None)
child = os.fork()
if child == 0:
    signal.alarm(60)  # by which a child that hangs is ended
    after, _ = rank(users, items, 10, None)
    os._exit(0 if np.array_equal(before, after) and torch.get_num_threads() == 1 else 1)
ended = os.waitpid(child, 0)[1]
print(ended, torch.get_num_threads())
"""


def test_a_forked_child_ranks_for_many() -> None:
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.returncode) == ("0 2\n", 0), done.stderr
