"""Our LightGCN step, measured as the rivals are: SparseRec at a density, or the dense table, same pairs and batches.

`--mode profile` instead prints where the time of a step goes, and what an exploration and an evaluation cost.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from measure import Batch, Pairs, arguments, benchmark_lock, read_pairs, run, toy_pairs
from sparserec.data import Batch as TrainBatch
from sparserec.data import Interactions
from sparserec.exploration import active_target, draw_candidates, prune_and_regrow, uniform_support
from sparserec.graph import automatic_width, build_adjacency
from sparserec.graph.order import by_degree
from sparserec.memory import return_large_blocks
from sparserec.recommenders import make_recommender
from sparserec.table import DenseTable, Shape, SparseTable
from sparserec.training.step import Stepper, propagate_all

DENSITY = 0.125
RATIO = (1 - DENSITY) / 4


def prepare(pairs: Pairs, dim: int, layers: int, dense: bool) -> tuple[Stepper, Interactions]:
    """Stepper on nodes in degree order, and the train interactions in that order."""
    source = Interactions.from_pairs(pairs.users, pairs.items)
    train = source.relabel(*by_degree(source))
    graph = build_adjacency(train)
    recommender = make_recommender("lightgcn", {"layers": layers})
    shape = Shape(graph.n_users, graph.n_items, dim, automatic_width(graph.n_nodes, dim))
    initial = recommender.initial(0, graph.n_users, graph.n_items, dim)
    if dense:
        return Stepper(recommender, graph, DenseTable.create(shape, initial), 0), train
    rng = np.random.default_rng(0)
    table = SparseTable.create(shape, uniform_support(shape, active_target(shape, DENSITY), rng), initial)
    sample(table, train, rng)
    return Stepper(recommender, graph, table, 0), train


def sample(table: SparseTable, train: Interactions, rng: np.random.Generator) -> None:
    """Fresh candidates."""
    table.set_candidates(
        draw_candidates(train.user_counts(), train.item_counts(), RATIO, "log", rng), cumulative=True
    )


def new_numbers(train: Interactions, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """New number of every old user and item; an item nobody has keeps a place at the end."""
    users = train.user_ids.index_of(np.arange(pairs.n_users))
    items = train.item_ids.index_of(np.arange(pairs.n_items))
    return users, np.where(items < 0, 0, items).astype(np.int32)


def build(dim: int, layers: int, dense: bool) -> Callable[[Pairs], Callable[[Batch], float]]:
    def make(pairs: Pairs) -> Callable[[Batch], float]:
        stepper, train = prepare(pairs, dim, layers, dense)
        users, items = new_numbers(train, pairs)
        count = [0]

        def step(batch: Batch) -> float:
            count[0] += 1
            parts = [part.numpy() for part in batch]
            own = TrainBatch(users[parts[0]], items[parts[1]], items[parts[2]][:, None])
            return stepper.run(own, count[0], 0.001)

        return step

    return make


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


def profile(options) -> None:  # type: ignore[no-untyped-def]
    """Where a step's time goes, next to the plain products it is measured against."""
    from sparserec.graph import filter as filters
    from sparserec.graph import multiply
    from sparserec.recommenders import plain_bpr
    from sparserec.table import sparse
    from sparserec.training import step as steps

    with benchmark_lock():
        build(options.dim, options.layers, False)(toy_pairs())
        stepper, train = prepare(read_pairs(options.data), options.dim, options.layers, False)
        rng = np.random.default_rng(1)
        batches = [
            TrainBatch(
                train.users[chosen],
                train.items[chosen],
                rng.integers(0, train.n_items, (len(chosen), 1), np.int32),
            )
            for chosen in (rng.integers(0, len(train), options.batch) for _ in range(options.steps + 2))
        ]
        for number, batch in enumerate(batches[:2]):
            stepper.run(batch, number + 1, 0.001)
        plain = [_timed(lambda b=batch: stepper.run(b, 3, 0.001)) for batch in batches[2:]]  # type: ignore[misc]
        clock = Clock()
        clock.wrap(multiply.MklMatrix, "multiply", "multiply")
        for name in ("_take_rows", "_add_rows", "_add_all", "_take_all", "_scatter_rows"):
            clock.wrap(filters, name, "gather and scatter")
        clock.wrap(filters, "slice_rows", "gather and scatter")
        clock.wrap(sparse, "_scatter", "fill blocks")
        clock.wrap(sparse, "update_sparse", "adam")
        clock.wrap(sparse, "_accumulate", "accumulate")
        clock.wrap(steps, "rows_of", "rows of the batch")
        clock.wrap(plain_bpr, "bpr", "loss")
        whole = [_timed(lambda b=batch: stepper.run(b, 3, 0.001)) for batch in batches[2:]]  # type: ignore[misc]
        split = {name: seconds / len(whole) for name, seconds in clock.seconds.items()}
        explore = []
        for number in range(3):
            explore.append(_timed(lambda n=number: prune_and_regrow(stepper.table, 0.3, n + 10)))  # type: ignore[misc]
            sample(stepper.table, train, rng)  # type: ignore[arg-type]
            stepper.run(batches[0], 20 + number, 0.001)
        wide = _wide_product(stepper, options.dim)
        evaluation = _evaluation(stepper, train)
    split["rest"] = statistics.mean(whole) - sum(split.values())
    step = statistics.median(plain)
    print(json.dumps({
        "name": "profile", "step_seconds": step, "split_seconds": {k: round(v, 5) for k, v in split.items()},
        "wide_product_seconds": wide, "outside_multiply_over_2L_wide_products":
        (statistics.mean(whole) - split["multiply"]) / (2 * options.layers * wide),
        "explore_seconds": min(explore[1:]), "explore_over_step": min(explore[1:]) / step, **evaluation,
    }))  # fmt: skip


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _wide_product(stepper: Stepper, dim: int) -> float:
    """One unblocked CSR product with all columns."""
    from sparserec.graph.multiply import MklMatrix

    graph = stepper.graph
    matrix = MklMatrix(graph.offsets, graph.neighbours, graph.weights, graph.n_nodes)
    block, out = torch.randn(graph.n_nodes, dim), torch.empty(graph.n_nodes, dim)
    return min(_timed(lambda: matrix.multiply(block, out)) for _ in range(6))


def _evaluation(stepper: Stepper, train: Interactions) -> dict[str, float]:
    """Ranking all items for all users, propagation included."""
    from sparserec.evaluation import top_items

    start = time.perf_counter()
    vectors = torch.from_numpy(propagate_all(stepper.recommender, stepper.graph, stepper.table))
    users, item_vectors = vectors[: train.n_users], vectors[train.n_users :]
    seen = [(train.offsets(), train.items)]
    top_items(
        lambda ids: users[torch.from_numpy(ids).long()],
        item_vectors,
        np.arange(train.n_users, dtype=np.int32),
        20,
        seen,
    )
    return {"evaluate_all_users_seconds": time.perf_counter() - start}


def main() -> None:
    options = arguments("Time our LightGCN step.", sparse=None, dense=None, profile=None)
    return_large_blocks()  # as every training run does
    if options.threads:
        from sparserec.training.threads import use_threads

        use_threads(options.threads)
    if options.mode == "profile":
        profile(options)
    else:
        run(f"sparserec {options.mode}", build(options.dim, options.layers, options.mode == "dense"), options)


if __name__ == "__main__":
    main()
