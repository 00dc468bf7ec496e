"""Where the time of our step goes on any base, next to plain products; what an exploration and an evaluation cost."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from measure import arguments, benchmark_lock, read_pairs, toy_pairs
from ours import BASES, build, many_negatives, prepare, sample
from sparserec.data import Batch, Interactions
from sparserec.exploration import LargestScores, prune_and_regrow
from sparserec.process import return_large_blocks
from sparserec.recommenders.step import Stepper


class Clock:
    """Wraps functions of the step and adds up their time."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def wrap(self, owner: object, name: str, label: str) -> None:
        inner = getattr(owner, name)

        def timed(*args: object, **options: object) -> object:
            start = time.perf_counter()
            try:
                return inner(*args, **options)
            finally:
                self.seconds[label] = self.seconds.get(label, 0.0) + time.perf_counter() - start

        setattr(owner, name, timed)


def watch(clock: Clock, stepper: Stepper) -> None:
    """Wrap every part of a step that has a name of its own."""
    from sparserec.graph import filter as filters
    from sparserec.graph import multiply, noise
    from sparserec.recommenders import step as steps
    from sparserec.table import sparse

    clock.wrap(multiply.Matrix, "multiply", "multiply")
    for name in ("_take_rows", "_add_rows", "_add_all", "_take_all", "_scatter_rows", "clear"):
        clock.wrap(filters, name, "gather and scatter")
    for name in ("_row_scales", "_push_all", "_push_rows"):
        clock.wrap(noise, name, "noise")
    for name in ("drop_entries", "decay_gradient"):
        clock.wrap(steps, name, "output dropout and decay")
    clock.wrap(sparse, "_scatter", "fill blocks")
    clock.wrap(sparse, "update_active", "adam")
    clock.wrap(sparse, "_accumulate", "accumulate")
    clock.wrap(steps, "rows_of", "rows of the batch")
    clock.wrap(stepper.recommender, "loss", "loss")


def make_batches(stepper: Stepper, train: Interactions, size: int, count: int) -> list[Batch]:
    """Random batches with the negatives the base wants."""
    rng, sampling = np.random.default_rng(1), stepper.recommender.sampling
    found = []
    for _ in range(count):
        chosen = rng.integers(0, len(train), size)
        negatives = many_negatives(sampling, size, train.n_items, rng)
        found.append(Batch(train.users[chosen], train.items[chosen], negatives))
    return found


def profile(options: argparse.Namespace) -> None:
    """Print one line of JSON: the split of a step, and what surrounds it."""
    with benchmark_lock():
        build(options.base, options.dim, options.layers, False)(toy_pairs())
        pairs = read_pairs(options.data)
        stepper, train = prepare(pairs, options.base, options.dim, options.layers, False)
        batches = make_batches(stepper, train, options.batch, options.steps + 2)
        for number, batch in enumerate(batches[:2]):
            stepper.run(batch, number + 1, 0.001)
        plain = [_timed(lambda b=batch: stepper.run(b, 3, 0.001)) for batch in batches[2:]]  # type: ignore[misc]
        clock = Clock()
        watch(clock, stepper)
        whole = [_timed(lambda b=batch: stepper.run(b, 3, 0.001)) for batch in batches[2:]]  # type: ignore[misc]
        split = {name: seconds / len(whole) for name, seconds in clock.seconds.items()}
        wide = _products(stepper, options.dim)[1]
        ours, torchs = _products(stepper, stepper.table.shape.width)
        around = {} if options.steps_only else _around_a_step(stepper, train, batches[0])
    split["rest"] = statistics.mean(whole) - sum(split.values())
    step = statistics.median(plain)
    outside = statistics.mean(whole) - split["multiply"]
    print(json.dumps({
        "name": f"profile {options.base}", "step_seconds": step,
        "split_seconds": {name: round(seconds, 5) for name, seconds in split.items()},
        "wide_product_seconds": wide, "block_product_seconds": ours, "block_product_torch_over_ours": torchs / ours,
        "outside_multiply_over_2L_wide_products": outside / (2 * options.layers * wide), **around,
    }))  # fmt: skip


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _products(stepper: Stepper, width: int) -> tuple[float, float]:
    """Seconds of one product with so many columns, ours and torch's (MKL where it has it), in turn."""
    from sparserec.graph import Matrix

    graph = stepper.graph
    arrays = graph.offsets, graph.neighbours, graph.weights
    ours, size = Matrix(*arrays), (graph.n_nodes, graph.n_nodes)
    torchs = torch.sparse_csr_tensor(*map(torch.from_numpy, arrays), size, check_invariants=False)
    block, out = torch.randn(graph.n_nodes, width), torch.empty(graph.n_nodes, width)
    pairs = [
        (
            _timed(lambda: ours.multiply(block.numpy(), out.numpy())),
            _timed(lambda: torch.addmm(out, torchs, block, beta=0, out=out)),
        )
        for _ in range(20)
    ]
    return min(first for first, _ in pairs), min(second for _, second in pairs)


def _explore(stepper: Stepper, step: int) -> None:
    prune_and_regrow(stepper.table, 0.3, step, LargestScores.accumulated(stepper.table))  # type: ignore[arg-type]


def _around_a_step(stepper: Stepper, train: Interactions, batch: Batch) -> dict[str, float]:
    """Seconds of an exploration, and of ranking all items for all users with the propagation before it."""
    from sparserec.evaluation import top_items

    rng, explore = np.random.default_rng(2), []
    for number in range(3):
        explore.append(_timed(lambda n=number: _explore(stepper, n + 10)))  # type: ignore[misc]
        sample(stepper.table, train, rng)  # type: ignore[arg-type]
        stepper.run(batch, 20 + number, 0.001)
    start = time.perf_counter()
    vectors = torch.from_numpy(stepper.recommender.outputs(stepper.graph, stepper.table))
    users, item_vectors = vectors[: train.n_users], vectors[train.n_users :]
    top_items(
        lambda ids: users[torch.from_numpy(ids).long()],
        item_vectors,
        np.arange(train.n_users, dtype=np.int32),
        20,
        [(train.offsets(), train.items)],
    )
    return {"explore_seconds": min(explore[1:]), "evaluate_all_users_seconds": time.perf_counter() - start}


def main() -> None:
    options = arguments("Split our step.", modes=("all", "steps"), bases=BASES)
    options.steps_only = options.mode == "steps"
    return_large_blocks()  # as every training run does
    profile(options)


if __name__ == "__main__":
    main()
