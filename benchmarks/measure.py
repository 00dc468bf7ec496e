"""What all benchmarks share: the data, the batches, the clock, the memory meter and the line they print.

Baseline: resident memory after all imports and one step on a toy graph, so that libraries loaded on first
use and compiled code count for nobody. Data is read after it; peaks are per phase and above the baseline.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command does, before torch is imported

import numpy as np
import torch

from sparserec.experiments.lock import benchmark_lock
from sparserec.process import PhasePeaks

__all__ = [
    "Measurement",
    "Pairs",
    "arguments",
    "batches",
    "benchmark_lock",
    "origin",
    "read_pairs",
    "run",
    "toy_pairs",
]

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # users, positives, negatives: int64 (batch,)


@dataclass(frozen=True)
class Pairs:
    """Train interactions as the rivals want them."""

    users: np.ndarray  # int64
    items: np.ndarray
    n_users: int
    n_items: int


def read_pairs(folder: Path) -> Pairs:
    """`train.txt` of a LightGCN data set: per line a user and their items."""
    rows = [np.array(line.split(), dtype=np.int64) for line in (folder / "train.txt").open()]
    users = np.concatenate([np.full(len(row) - 1, row[0]) for row in rows])
    items = np.concatenate([row[1:] for row in rows])
    test = folder / "test.txt"
    held_out = max(max(map(int, line.split()[1:]), default=0) for line in test.open()) if test.exists() else 0
    return Pairs(users, items, int(users.max()) + 1, max(int(items.max()), held_out) + 1)


def toy_pairs() -> Pairs:
    """A ring of 20 users and 20 items, enough to load and compile everything a step uses."""
    users = np.repeat(np.arange(20), 3)
    return Pairs(users, (users + np.tile(np.arange(3), 20)) % 20, 20, 20)


def batches(pairs: Pairs, size: int, count: int, seed: int = 0) -> Iterator[Batch]:
    """Batches of train pairs with a uniform negative each; every rival gets the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        chosen = rng.integers(0, len(pairs.users), size)
        negatives = rng.integers(0, pairs.n_items, size)
        yield tuple(torch.from_numpy(part) for part in (pairs.users[chosen], pairs.items[chosen], negatives))  # type: ignore[misc]


def origin() -> dict[str, Any]:
    """Where a line of results comes from: the command as it was given but for the folders of this machine, commit,
    versions, threads and the time.
    """
    from sparserec.runs import environment, now

    count = int(os.environ.get("WORLD_SIZE", "1"))
    started = ["python"] if count == 1 else ["torchrun", "--nproc-per-node", str(count)]
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    command = shlex.join([*started, f"benchmarks/{Path(sys.argv[0]).name}", *words])
    return {"command": command, "environment": environment(), "time": now()}


@dataclass
class Measurement:
    """Seconds and peak memory above the baseline, phase by phase."""

    peaks: PhasePeaks = field(default_factory=PhasePeaks)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure one phase; entering a phase again keeps its highest peak and adds its seconds."""
        gc.collect()
        start = time.perf_counter()
        with self.peaks.phase(name):
            yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def arguments(description: str, modes: Sequence[str] = (), bases: Sequence[str] = ()) -> argparse.Namespace:
    """The arguments every step benchmark takes; `modes` and `bases` are the choices of --mode and --base."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder of a LightGCN data set (train.txt)")
    for name, default in (("dim", 128), ("layers", 3), ("batch", 8000), ("steps", 5), ("threads", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, choices in (("mode", modes), ("base", bases)):
        if choices:
            parser.add_argument(f"--{name}", choices=choices, default=choices[0])
    return parser.parse_args()


def run(name: str, build: Callable[[Pairs], Callable[[Batch], float]], options: argparse.Namespace) -> None:
    """Measure `build(pairs)` and the step it returns, and print one line of JSON.

    The first step is not timed but counts for memory, so that buffers made on first use are seen.
    """
    if options.threads:
        torch.set_num_threads(options.threads)
    with benchmark_lock():
        toy = toy_pairs()
        build(toy)(next(batches(toy, 8, 1)))
        gc.collect()
        measured = Measurement()
        with measured.phase("read"):
            pairs = read_pairs(options.data)
        with measured.phase("build"):
            step = build(pairs)
        times, losses = [], []
        with measured.phase("train"):
            for batch in batches(pairs, options.batch, options.steps + 1):
                start = time.perf_counter()
                losses.append(step(batch))
                times.append(time.perf_counter() - start)
    print(json.dumps(_line(name, options, pairs, measured, times[1:], losses)))


def _line(
    name: str,
    options: argparse.Namespace,
    pairs: Pairs,
    measured: Measurement,
    times: list[float],
    losses: list[float],
) -> dict[str, Any]:
    typical = statistics.median(times)
    return {
        "name": name,
        "data": options.data.name,
        **{key: getattr(options, key) for key in ("dim", "layers", "batch", "steps")},
        "step_seconds": round(typical, 4),
        "step_seconds_range": [round(min(times), 4), round(max(times), 4)],
        "triples_per_second": round(options.batch / typical),
        "epoch_seconds": round(len(pairs.users) / options.batch * typical, 1),
        "peak_mb": {phase: round(peak / 1e6, 1) for phase, peak in measured.peaks.bytes.items()},
        "phase_seconds": {phase: round(seconds, 2) for phase, seconds in measured.seconds.items()},
        "losses": [round(loss, 5) for loss in losses],
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "machine": platform.machine(),
    }
