"""A step of base `history`: from active entries alone against whole rows, over widths and entries, in one process.

    python benchmarks/history_step.py --data path/to/gowalla

Prints a line of JSON: milliseconds of processor time of a step (all threads together, so that other work on the machine
counts little), the ratios that the bars of docs/benchmarks.md are about, and peak memory of the sparse steps above the
data. Rows have random positions: the worst case for caches, as neighbouring items share no columns. Cases take turns,
so that a minute in which the machine is slow is slow for all of them; of two steps in a row the second is timed, which
finds its own table in the caches as a training does.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from measure import benchmark_lock, read_pairs, toy_pairs
from sparserec.data import Interactions
from sparserec.exploration import LargestScores, draw_candidates
from sparserec.exploration.even_rows import even_support, exchange_in_rows
from sparserec.graph import build_histories
from sparserec.graph.adjacency import by_degree
from sparserec.process import PeakMeter, resident_bytes, return_large_blocks
from sparserec.recommenders import History
from sparserec.recommenders.history import HistorySettings
from sparserec.recommenders.history.base import HistoryStepper
from sparserec.table import DenseTable, Shape, SparseTable, Table

USERS, RATIO = 256, 0.22
SPARSE = [(128, 16), (1024, 16), (512, 16), (256, 8), (256, 16), (256, 32), (256, 64)]
DENSE = [128, 512]
Case = tuple[int, int | None]
"""Columns of a table, and entries of a row; None: all of them."""


def interactions(data: Path | None) -> Interactions:
    """Train pairs in degree order; of a toy ring without data."""
    pairs = toy_pairs() if data is None else read_pairs(data)
    source = Interactions.from_pairs(pairs.users, pairs.items)
    return source.relabel(*by_degree(source))


def stepper_of(train: Interactions, table: Table) -> HistoryStepper:
    base = History(HistorySettings(users_per_batch=USERS))
    return HistoryStepper(base.settings, build_histories(train, base.settings.item_exponent), table, 0)


def sparse_table(train: Interactions, dim: int, entries: int) -> SparseTable:
    """Even rows at random positions, with candidates as method sparserec has them."""
    shape, rng = Shape(0, train.n_items, dim, dim), np.random.default_rng(0)
    support = even_support(shape, np.full(train.n_items, entries), rng)
    table = SparseTable(shape, [support], rng.standard_normal(len(support)).astype(np.float32))
    sample(table, train)
    return table


def sample(table: SparseTable, train: Interactions) -> None:
    nobody, rng = np.empty(0, np.int32), np.random.default_rng(1)
    table.set_candidates(draw_candidates(nobody, train.item_counts(), RATIO, "log", rng))


def dense_table(train: Interactions, dim: int) -> DenseTable:
    values = np.random.default_rng(0).standard_normal((train.n_items, dim)).astype(np.float32)
    return DenseTable(Shape(0, train.n_items, dim, dim), [values])


def milliseconds(works: dict[Case, Callable[[int], object]], rounds: int) -> dict[Case, float]:
    """Processor time of a call of each, the least over some rounds."""
    taken = dict.fromkeys(works, float("inf"))
    for call in range(0, 2 * rounds, 2):
        for case, work in works.items():
            work(call)
            began = time.process_time()
            work(call + 1)
            taken[case] = min(taken[case], 1000 * (time.process_time() - began))
    return taken


def step_of(train: Interactions, table: Table) -> Callable[[int], object]:
    stepper, rng = stepper_of(train, table), np.random.default_rng(2)
    users = np.flatnonzero(train.user_counts() >= 2).astype(np.int32)
    size = min(USERS, len(users))
    return lambda call: stepper.run(rng.choice(users, size, replace=False), call + 1, 0.001)


def explore_of(train: Interactions, table: SparseTable) -> Callable[[int], object]:
    def explore(call: int) -> None:
        exchange_in_rows(table, 0.3, call + 1, LargestScores.accumulated(table))
        sample(table, train)

    return explore


def peak_megabytes(train: Interactions, dim: int, entries: int, count: int) -> float:
    """Table, steps and an exploration, above a process that has the data and the compiled code."""
    before = resident_bytes()
    with PeakMeter() as meter:
        table = sparse_table(train, dim, entries)
        step = step_of(train, table)
        for call in range(count):
            step(call)
        explore_of(train, table)(count)
    return (meter.peak - before) / 1e6


def measured(train: Interactions, rounds: int) -> dict[str, object]:
    tables: dict[Case, Table] = {(dim, entries): sparse_table(train, dim, entries) for dim, entries in SPARSE}
    tables |= {(dim, None): dense_table(train, dim) for dim in DENSE}
    taken = milliseconds({case: step_of(train, table) for case, table in tables.items()}, rounds)
    sparse = {case: taken[case] for case in SPARSE}
    dense = {dim: taken[dim, None] for dim in DENSE}
    explored = sparse_table(train, *SPARSE[0])
    step_of(train, explored)(0)
    exploration = milliseconds({SPARSE[0]: explore_of(train, explored)}, 2)[SPARSE[0]]
    tables.clear()
    return {
        "sparse_ms": {f"{entries} of {dim}": round(taken, 1) for (dim, entries), taken in sparse.items()},
        "dense_ms": {str(dim): round(taken, 1) for dim, taken in dense.items()},
        "wide_against_narrow": sparse[1024, 16] / sparse[128, 16],
        "dense_against_sparse_512": dense[512] / sparse[512, 16],
        "64_against_8_entries": sparse[256, 64] / sparse[256, 8],
        "exploration_steps": exploration / sparse[128, 16],
        "peak_mb": round(peak_megabytes(train, 128, 16, 3), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of a LightGCN data set; a toy ring without")
    parser.add_argument("--rounds", type=int, default=6)
    chosen = parser.parse_args()
    return_large_blocks()
    train = interactions(chosen.data)
    with benchmark_lock():
        print(json.dumps(measured(train, chosen.rounds)))


if __name__ == "__main__":
    main()
