"""Our training step, measured as the rivals are: SparseRec at a density, or the dense table, on any
base recommender.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from measure import Batch, Pairs, arguments, run
from sparserec.data import Batch as TrainBatch
from sparserec.data import Interactions
from sparserec.exploration import active_target, draw_candidates, uniform_support
from sparserec.graph import automatic_width, build_adjacency
from sparserec.graph.adjacency import by_degree
from sparserec.process import return_large_blocks
from sparserec.recommenders import Sampling, make_recommender
from sparserec.recommenders.step import Stepper
from sparserec.table import DenseTable, Shape, SparseTable

BASES = ("lightgcn", "mgdcf", "xsimgcl", "mf")
DENSITY = 0.125
RATIO = (1 - DENSITY) / 4


def prepare(pairs: Pairs, base: str, dim: int, layers: int, dense: bool) -> tuple[Stepper, Interactions]:
    """Stepper on nodes in degree order, and the train interactions in that order."""
    source = Interactions.from_pairs(pairs.users, pairs.items)
    train = source.relabel(*by_degree(source))
    recommender = make_recommender(base, {"layers": layers})
    graph = build_adjacency(train, self_loops=recommender.self_loops)
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


def many_negatives(sampling: Sampling, count: int, n_items: int, rng: np.random.Generator) -> np.ndarray:
    """Fresh negatives of a batch for a base that wants more than one: a row for each group of edges."""
    groups = -(-count // sampling.group_size)
    return rng.integers(0, n_items, (groups, sampling.negatives_per_edge), np.int32)


def build(base: str, dim: int, layers: int, dense: bool) -> Callable[[Pairs], Callable[[Batch], float]]:
    def make(pairs: Pairs) -> Callable[[Batch], float]:
        stepper, train = prepare(pairs, base, dim, layers, dense)
        users, items = new_numbers(train, pairs)
        sampling, rng, count = stepper.recommender.sampling, np.random.default_rng(1), [0]

        def step(batch: Batch) -> float:
            count[0] += 1
            parts = [part.numpy() for part in batch]
            negatives = (
                items[parts[2]][:, None]
                if sampling.negatives_per_edge == 1
                else many_negatives(sampling, len(parts[0]), train.n_items, rng)
            )
            return stepper.run(TrainBatch(users[parts[0]], items[parts[1]], negatives), count[0], 0.001)

        return step

    return make


def main() -> None:
    options = arguments("Time our step.", bases=BASES, modes=("sparse", "dense"))
    return_large_blocks()  # as every training run does
    if options.threads:
        from sparserec.process import use_threads

        use_threads(options.threads)
    name = "sparserec" if options.base == "lightgcn" else f"sparserec {options.base}"
    make = build(options.base, options.dim, options.layers, options.mode == "dense")
    run(f"{name} {options.mode}", make, options)


if __name__ == "__main__":
    main()
