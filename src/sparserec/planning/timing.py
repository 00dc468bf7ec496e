"""About how long a run takes on this machine, from a second or two of measuring it.

Steps, propagation, ranking and factorisation run for a moment on made-up data of the run's own size (capped, then
scaled) and are multiplied up. What cannot be known beforehand is when early stopping ends a training: times are for
all epochs of the recipe.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from sparserec.data import Interactions
from sparserec.evaluation import top_items
from sparserec.graph import Adjacency
from sparserec.methods import make_method
from sparserec.nmf_child import iterate, start_factors
from sparserec.planning.memory_plan import Sizes
from sparserec.planning.miniature import PhasePlan, kind_of, make_context, phases_of, synthetic_train
from sparserec.recommenders import Batches, Recommender, Steps, make_recommender
from sparserec.table import Table
from sparserec.training import RunConfig

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


@dataclass(frozen=True)
class StepTimes:
    """Measured seconds, at the run's full number of columns."""

    step: float
    propagate: float
    kind: str  # of the phases that take it


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


def step_times(config: RunConfig, stand_in: StandIn) -> list[StepTimes]:
    """Seconds of a step of every phase that trains; columns are few here and the time is carried on to all of them."""
    base = make_recommender(config.base, config.base_settings)
    batch = min(config.recipe.batch_size, len(stand_in.train))
    sampler = base.sampler(stand_in.train, batch, config.recipe.batches, 0)
    sampler.batch(0, 0)  # shuffles the epoch's edges: paid once an epoch, not once a step
    dims = sorted({max(1, config.dim // 4), max(1, config.dim // 2)})
    measured = [_measure(config.model_copy(update={"dim": dim}), base, stand_in, sampler) for dim in dims]
    return [_to_full(config.dim, dims, points) for points in zip(*measured)]


def _measure(config: RunConfig, base: Recommender, stand_in: StandIn, sampler: Batches) -> list[StepTimes]:
    method = make_method(config.method, config.method_settings)
    rows = stand_in.train.n_items + (stand_in.train.n_users if base.user_rows else 0)
    context = make_context(
        config, stand_in.train, method, base, sampler.steps_per_epoch, round(stand_in.scale * rows)
    )
    found: list[StepTimes] = []
    for phase, table, _ in phases_of(method, context):
        if phase.epochs == 0 or any(kind_of(phase) == one.kind for one in found):
            continue
        stepper, count = base.stepper(stand_in.graph, table, 0), [0]

        def step(stepper: Steps = stepper, count: list[int] = count) -> None:
            count[0] += 1
            stepper.run(sampler.batch(0, count[0] % sampler.steps_per_epoch), count[0], 0.001)

        def whole(table: Table = table) -> None:
            base.outputs(stand_in.graph, table)

        found.append(StepTimes(seconds_of(step), seconds_of(whole, 0.05), kind_of(phase)))
    return found


def _to_full(dim: int, dims: list[int], points: tuple[StepTimes, ...]) -> StepTimes:
    """On the line through the measured widths; never less than the wider one."""
    first, last = points[0], points[-1]
    if len(points) == 1:
        share = dim / dims[0]
        return StepTimes(first.step * share, first.propagate * share, first.kind)
    more = (dim - dims[1]) / (dims[1] - dims[0])
    return StepTimes(
        last.step + max(0.0, last.step - first.step) * more,
        last.propagate + max(0.0, last.propagate - first.propagate) * more,
        first.kind,
    )


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
    config: RunConfig, sizes: Sizes, phases: list[PhasePlan], nmf: int, steps: list[StepTimes], scale: float
) -> dict[str, float]:
    """Seconds of each part of the run, at most: early stopping may end it before."""
    by_kind = {one.kind: one for one in steps}
    ranking = rank_seconds(sizes, phases[-1].table_dim)
    train = evaluations = propagation = 0.0
    for phase in phases:
        times = by_kind.get(phase.kind)
        train += phase.steps * (times.step * scale if times else 0.0)
        own = -(-phase.epochs // config.recipe.validate_every) if phase.validated else 0
        count = own + phase.validations if sizes.held_out else 0
        evaluations += count
        propagation += count * (times.propagate * scale if times else 0.0)
    tests = 3  # float, int8, int4
    last = steps[-1].propagate * scale if steps else 0.0
    ranked = evaluations * sizes.ranked_users + tests * sizes.tested_users
    return {
        "nmf": nmf_seconds(sizes, config.dim, nmf) if nmf else 0.0,
        "train": train,
        "evaluate": propagation + tests * last + ranked * ranking if sizes.held_out else 0.0,
    }
