"""Cost against size: one step and its peak memory on generated data of N million interactions (argument)."""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time

import numpy as np

from measure import Measurement, benchmark_lock, toy_pairs
from ours import Pairs, build, prepare
from sparserec.data import Batch
from sparserec.process import return_large_blocks


def generated(millions: float) -> Pairs:
    """Users with about 25 interactions each over items of power-law popularity."""
    rng = np.random.default_rng(0)
    count = int(millions * 1e6)
    n_users, n_items = count // 25, count // 20
    users = np.concatenate([np.arange(n_users), rng.integers(0, n_users, count - n_users)])
    items = (rng.random(count) ** 2.5 * n_items).astype(np.int64)
    items[:n_items] = np.arange(n_items)
    keys = np.unique(users * n_items + items)
    return Pairs(keys // n_items, keys % n_items, n_users, n_items)


def main() -> None:
    return_large_blocks()
    with benchmark_lock():
        build("lightgcn", 128, 3, False)(toy_pairs())
        pairs = generated(float(sys.argv[1]))
        gc.collect()
        measured = Measurement()
        with measured.phase("build"):
            stepper, train = prepare(pairs, "lightgcn", 128, 3, False)
        rng, times = np.random.default_rng(0), []
        with measured.phase("train"):
            for number in range(6):
                chosen = rng.integers(0, len(train), 8000)
                negatives = rng.integers(0, train.n_items, (8000, 1), np.int32)
                start = time.perf_counter()
                stepper.run(Batch(train.users[chosen], train.items[chosen], negatives), number + 1, 0.01)
                times.append(time.perf_counter() - start)
    print(json.dumps({
        "interactions": len(train), "nodes": train.n_users + train.n_items, "width": stepper.table.shape.width,
        "step_seconds": round(statistics.median(times[1:]), 3),
        "peak_mb": {name: round(peak / 1e6) for name, peak in measured.peaks.bytes.items()},
    }))  # fmt: skip


if __name__ == "__main__":
    main()
