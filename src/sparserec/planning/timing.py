"""About how long a run takes on this machine, from a second or two of measuring it.

Steps, propagation, ranking and factorisation run for a moment on made-up data of the run's own size (capped, then
scaled) and are multiplied up. What cannot be known beforehand is when early stopping ends a training: times are for
all epochs of the recipe.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import torch

from sparserec.data import IdMap, Interactions
from sparserec.evaluation import top_items
from sparserec.exploration import uniform_support
from sparserec.graph import Adjacency
from sparserec.methods import Context, Method, Phase, make_method
from sparserec.nmf_child import iterate, start_factors
from sparserec.planning.memory_plan import Sizes, held_by, step_sizes
from sparserec.recommenders import Batches, Recommender, Steps, make_recommender
from sparserec.table import DenseTable, SparseTable, Table
from sparserec.training import RunConfig, context_of

MOST_PAIRS, MOST_NODES = 1_500_000, 150_000
"""Made-up data ends here; above it times are scaled by the share."""
RANKED_USERS, RANKED_ITEMS = 256, 40_000
NMF_WORK, FEWEST_NMF_ROWS, MOST_NMF_ROWS = 1e8, 500, 20_000
"""The factorisation is measured on rows * rank^2 of about this: half a second an iteration."""


@dataclass(frozen=True)
class StandIn:
    """Made-up data to measure on, and how many times larger the real data is."""

    train: Interactions
    graph: Adjacency
    scale: float


def synthetic_train(users: int, items: int, pairs: int, seed: int = 0) -> Interactions:
    """Made-up interactions: a few popular items, and groups of users who keep to groups of items, as in real logs.

    Groups lie together in the numbering, as they do after ordering by factor: it decides how the multiply uses caches.
    """
    rng = np.random.default_rng(seed)
    count = int(pairs * 1.15) + 16
    who = np.minimum((rng.random(count) ** 1.5 * users).astype(np.int64), users - 1)
    busy = rng.permutation(users)[who]  # busy users are everywhere, not at the front
    groups = max(1, min(64, items // 8))
    width = items / groups
    inside = rng.random(count) < 0.6
    place = rng.random(count) ** 2.0
    start = np.where(inside, (busy * groups // users) * width, 0.0)
    what = (start + place * np.where(inside, width, float(items))).astype(np.int64)
    pairs = min(pairs, users * items // 2)
    both = np.unique(busy * items + np.minimum(what, items - 1))
    while len(both) < pairs:
        both = np.unique(np.concatenate([both, rng.integers(0, users * items, pairs)]))
    if len(both) > pairs:
        both = np.sort(rng.choice(both, pairs, replace=False))
    left, right = np.divmod(both, items)
    ids = IdMap(np.arange(users)), IdMap(np.arange(items))
    return Interactions(left.astype(np.int32), right.astype(np.int32), *ids)


def make_stand_in(sizes: Sizes, base: Recommender) -> StandIn:
    """Data of the run's size, or smaller by the same factor in users, items and pairs."""
    scale = max(sizes.train / MOST_PAIRS, sizes.nodes / MOST_NODES, 1.0)
    users, items = max(2, round(sizes.users / scale)), max(2, round(sizes.items / scale))
    train = synthetic_train(users, items, max(4, round(sizes.train / scale)))
    return StandIn(train, base.graph(train), scale)


def seconds_of(work: Callable[[], object], least: float = 0.15, most_runs: int = 5) -> float:
    """Seconds of one run, the quickest of a few after one that does not count (it loads compiled code)."""
    work()
    best, spent = float("inf"), 0.0
    for _ in range(most_runs):
        began = time.perf_counter()
        work()
        taken = time.perf_counter() - began
        best, spent = min(best, taken), spent + taken
        if spent >= least:
            break
    return best


StepTimes = dict[str, tuple[float, float]]
"""By kind of table the seconds of a step and of propagating, at the run's full number of columns."""


def step_times(config: RunConfig, stand_in: StandIn) -> StepTimes:
    """Measured with few columns, on the line through two widths; never less than the wider one."""
    base = make_recommender(config.base, config.base_settings)
    batch = min(config.recipe.batch_size, len(stand_in.train))
    sampler = base.sampler(stand_in.train, batch, config.recipe.batches, 0)
    sampler.batch(0, 0)  # shuffles the epoch's edges: paid once an epoch, not once a step
    dims = [max(1, config.dim // 4), max(1, config.dim // 2)]
    few, more = (_measure(config.model_copy(update={"dim": dim}), base, stand_in, sampler) for dim in dims)
    share = (config.dim - dims[1]) / max(dims[1] - dims[0], 1)
    return {
        kind: (high[0] + max(0.0, high[0] - low[0]) * share, high[1] + max(0.0, high[1] - low[1]) * share)
        for (kind, low), high in zip(few.items(), more.values())
    }


def _measure(config: RunConfig, base: Recommender, stand_in: StandIn, sampler: Batches) -> StepTimes:
    method = make_method(config.method, config.method_settings)
    context = context_of(config, base, stand_in.train, sampler.steps_per_epoch)
    found: StepTimes = {}
    for phase in method.phases(context):
        kind = held_by(phase).kind
        if phase.epochs == 0 or kind in found:
            continue
        table = _table_like(method, context, phase, stand_in.scale)
        stepper, numbers = base.stepper(stand_in.graph, table, 0), count(1)

        def step(stepper: Steps = stepper, numbers: Iterator[int] = numbers) -> None:
            number = next(numbers)
            stepper.run(sampler.batch(0, number % sampler.steps_per_epoch), number, 0.001)

        def whole(table: Table = table) -> None:
            base.outputs(stand_in.graph, table)

        found[kind] = seconds_of(step), seconds_of(whole, 0.05)
    return found


def _table_like(method: Method, context: Context, phase: Phase, scale: float) -> Table:
    """A table as the phase has it: of the usual kinds with as many numbers, of others one that the method starts."""
    held, shape = held_by(phase), context.shape(held_by(phase).dim)
    initial = context.initial(shape.dim)
    if held.kind == "dense":
        return DenseTable.create(shape, initial)
    if held.kind != "sparse":  # a network or a codebook is made for the budget of the real data
        return method.start(replace(context, density=min(1.0, context.density * scale)), phase, None)
    rng = np.random.default_rng(context.seed)
    support = uniform_support(shape, held.ledger["values"] // 4, rng)
    table = SparseTable.create(shape, support, initial)
    candidates = held.ledger["accumulated"] // (4 + 4 * shape.dim)
    if candidates:
        table.set_candidates(np.sort(rng.choice(shape.n_rows, candidates, replace=False)))
    return table


def rank_seconds(sizes: Sizes, dim: int) -> float:
    """Seconds to rank all items for one user."""
    rng = np.random.default_rng(0)
    items = torch.from_numpy(rng.standard_normal((min(sizes.items, RANKED_ITEMS), dim), np.float32))
    users = torch.from_numpy(rng.standard_normal((min(sizes.users, RANKED_USERS), dim), np.float32))
    ids = np.arange(len(users), dtype=np.int32)
    taken = seconds_of(
        lambda: top_items(
            lambda some: users[torch.from_numpy(some).long()], items, ids, min(20, len(items)), []
        ),
        0.1,
    )
    return taken / len(users) * sizes.items / len(items)


def nmf_seconds(sizes: Sizes, rank: int, iterations: int) -> float:
    """Seconds of the factorisation: its time goes with the nodes, so an iteration on some of them tells it.

    On one thread, as the child process runs it: with more, their waiting for each other on a busy machine would be
    measured, which is up to ten times as long.
    """
    import scipy.sparse
    from threadpoolctl import threadpool_limits

    nodes, sampled = sizes.factorised_nodes, sizes.factorised_nodes - sizes.items
    scale = max(1.0, nodes / min(max(NMF_WORK / rank**2, FEWEST_NMF_ROWS), MOST_NMF_ROWS))
    shape = max(2, round(sampled / scale)), max(2, round(sizes.items / scale))
    train = synthetic_train(*shape, max(2, round(sizes.train * sampled / sizes.users / scale)))
    ones = np.ones(len(train), np.float32)
    matrix = scipy.sparse.csr_matrix((ones, (train.users, train.items)), shape=shape)
    users, items = start_factors(shape, len(train), rank, 0)
    with threadpool_limits(1):
        taken = seconds_of(lambda: iterate(matrix, users.copy(), items.copy()), 0.1, 3)
    return taken * scale * iterations


def plan_seconds(
    config: RunConfig, sizes: Sizes, phases: list[Phase], nmf: int, steps: StepTimes, scale: float
) -> dict[str, float]:
    """Seconds of each part of the run, at most: early stopping may end it before."""
    per_epoch = make_recommender(config.base, config.base_settings).steps_per_epoch(step_sizes(config, sizes))
    last = list(steps.values())[-1]
    ranking = rank_seconds(sizes, held_by(phases[-1]).dim)
    train = evaluations = propagation = 0.0
    for phase in phases:
        step, propagate = (scale * seconds for seconds in steps.get(held_by(phase).kind, last))
        train += phase.last_step(per_epoch) * step
        own = -(-phase.epochs // config.recipe.validate_every) if phase.validated else 0
        scored = own + phase.judged if sizes.held_out else 0
        evaluations += scored
        propagation += scored * propagate
    tests = 3  # float, int8, int4
    ranked = evaluations * sizes.ranked_users + tests * sizes.tested_users
    return {
        "nmf": nmf_seconds(sizes, config.dim, nmf) if nmf else 0.0,
        "train": train,
        "evaluate": propagation + tests * propagate + ranked * ranking if sizes.held_out else 0.0,
    }
