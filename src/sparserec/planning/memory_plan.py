"""Bytes per phase of a run, by role: formulas over its sizes with the constants that measured runs gave.

Phases follow each other, so a run needs the largest of them. The factorisation is a process of its own while the
parent waits with the interactions; both must fit, and so it stands as a phase that includes what the parent holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from sparserec.data import Interactions, Source, find_named, new_users, train_share
from sparserec.evaluation import tile_shape
from sparserec.exploration import SAMPLED_USERS
from sparserec.graph import automatic_width
from sparserec.methods import Phase, make_method
from sparserec.recommenders import Recommender, StepSizes, fold_taps
from sparserec.table import Held, Ledger, total
from sparserec.training import RunConfig, context_of

# How big a data set is, and sizes and times as people read them.


@dataclass(frozen=True)
class Sizes:
    """Everything about a data set that the cost of a run depends on."""

    users: int
    items: int
    train: int
    held_out: int = 0
    timed: bool = False
    """Whether every interaction carries a time."""
    id_bytes: int = 0
    """Bytes of all external ids as they are held in memory."""
    held_out_users: int | None = None
    """Users ranked at once: those with validation or with test items, whichever are more; None is all of them."""
    new_users: int = 0
    """Users held out whole: they have rows, but nothing trains on them and the test is about them alone."""

    @property
    def nodes(self) -> int:
        return self.users + self.items

    @property
    def interactions(self) -> int:
        return self.train + self.held_out

    @property
    def factorised_nodes(self) -> int:
        """Users and items whose factors are descended to together: of very many users a sample."""
        return min(self.users, SAMPLED_USERS) + self.items

    @property
    def ranked_users(self) -> int:
        return self.users if self.held_out_users is None else self.held_out_users

    @property
    def trained_users(self) -> int:
        return self.users - self.new_users

    @property
    def tested_users(self) -> int:
        return self.new_users or self.ranked_users

    def everything(self) -> Sizes:
        """Sizes of a training that holds nothing and nobody out."""
        return replace(self, train=self.interactions, held_out=0, new_users=0)

    @classmethod
    def of_counts(
        cls,
        users: int,
        items: int,
        parts: dict[str, int],
        protocol: str,
        timed: bool = False,
        id_bytes: int | None = None,
        measured: int | None = None,
    ) -> Sizes:
        """Sizes before splitting, from how many interactions each part has and the shares of the protocol.

        With `measured` something is held out of so many users only.
        """
        total = sum(parts.values())
        train = round(train_share(protocol, parts) * total)
        new = new_users(users) if protocol == "new-users" else 0
        ids = 8 * (users + items) if id_bytes is None else id_bytes
        if measured is not None and measured < users:
            held_out = round((total - train) * measured / users)
            return cls(users, items, total - held_out, held_out, timed, ids, measured)
        return cls(
            users, items, train, total - train, timed, ids, max(users - new, new) if new else None, new
        )

    @classmethod
    def of_source(cls, source: Source, protocol: str, measured: int | None = None) -> Sizes:
        """Sizes of data that was read and is not split yet."""
        train, parts = source.train, {name: len(part) for name, part in source.parts.items()}
        timed, sizes = train.timestamps is not None, (train.n_users, train.n_items, parts)
        ids = train.user_ids.external().nbytes + train.item_ids.external().nbytes
        return cls.of_counts(*sizes, protocol, timed, ids, measured)

    @classmethod
    def of_named(cls, name: str, protocol: str) -> Sizes | None:
        """Sizes of a data set of the catalogue without reading it; None where it is no such name."""
        entry = find_named(name)
        return None if entry is None else cls.of_counts(entry.users, entry.items, entry.parts, protocol)


NMF_DENSITY = 0.13
"""Share of entries of both factors that are not zero: .12 on Gowalla, .16 on the built-in sample, rank 128."""
READ_BYTES = 60
"""Per interaction while reading and splitting: columns as read, numbers, one sort of them."""
LIBRARY_BYTES = 100 << 20
"""Libraries that reading loads."""
COMPILED_BYTES = 24 << 20
"""Machine code of the kernels and the first-use state of torch, in every phase that computes."""
CHILD_BYTES = 112 << 20
"""An idle child process; the pages of libraries it shares with its parent are not counted."""
FACTOR_COPIES = 2.6
"""Dense (nodes, rank) arrays alive in an iteration of coordinate descent: measured 2.5 (sample) and 2.6 (Gowalla)."""
RANK_SCRATCH = 32 << 20
"""Tiles of scores in full ranking; evaluation.top_items keeps to it."""
FACTOR_ENTRY_BYTES = 40
"""Per non-zero of the factors while they are scaled, cut and sorted into the first support."""


class Counts(NamedTuple):
    """What a plan knows of the training data."""

    n_users: int
    n_items: int


def plan_phases(config: RunConfig, sizes: Sizes, base: Recommender) -> list[Phase]:
    """The phases of a run's method, with what their tables hold."""
    counts = cast(Interactions, Counts(sizes.users, sizes.items))
    per_epoch = base.steps_per_epoch(step_sizes(config, sizes))
    method = make_method(config.method, config.method_settings)
    return method.phases(context_of(config, base, counts, per_epoch))


def plan_memory(
    config: RunConfig, sizes: Sizes, base: Recommender, phases: list[Phase], nmf: int, processes: int = 1
) -> dict[str, Ledger]:
    """Bytes of each phase of the run by role; `nmf` is the iterations of the factorisation, 0 for none.

    Of several `processes` it is what one of them needs: the table is shared, the data is everybody's.
    """
    tables = [held_by(phase, processes) for phase in phases]
    both, held = interactions_held(sizes, 2), interactions_held(sizes, 1)
    graph = base.graph_bytes(step_sizes(config, sizes))
    reading = READ_BYTES * sizes.interactions
    plans = {"read": {"interactions": both, "reading": reading, "libraries": LIBRARY_BYTES}}
    if nmf:
        child = nmf_bytes(sizes, config.dim)
        plans["nmf"] = {"interactions": both, "child": child, "libraries": LIBRARY_BYTES}
    plans["init"] = init_bytes(config, sizes, graph, both, nmf)
    plans["train"] = max(
        (train_bytes(config, sizes, base, one, graph, held, processes) for one in tables), key=total
    )
    plans["evaluate"] = max(
        (
            evaluate_bytes(sizes, base, one, graph, held, processes)
            for phase, one in zip(phases, tables)
            if phase.validated or phase is phases[-1]
        ),
        key=total,
    )
    return plans


def held_by(phase: Phase, processes: int = 1) -> Held:
    """What one of several processes holds of a phase's table."""
    assert phase.holds is not None, f"phase {phase.name} of a plan does not say what its table holds"
    ledger = {role: -(-size // processes) for role, size in phase.holds.ledger.items()}
    return phase.holds._replace(ledger=ledger)


def interactions_held(sizes: Sizes, copies: int) -> int:
    """Two int32 arrays, a time beside them where there are times, and ids; two copies while the source is split."""
    each = 8 + (8 if sizes.timed else 0)
    return copies * each * sizes.interactions + 3 * sizes.id_bytes + 16 * sizes.nodes


def step_sizes(config: RunConfig, sizes: Sizes, table: Held | None = None, processes: int = 1) -> StepSizes:
    """What a base is asked about its steps with."""
    batch = config.recipe.batch_size
    data = StepSizes(sizes.users, sizes.items, sizes.train, batch, sizes.trained_users, processes=processes)
    if table is None:
        return data
    entries = table.ledger["values"] // 4 if table.kind == "sparse" else None
    return replace(data, dim=table.dim, entries=entries)


def nmf_bytes(sizes: Sizes, rank: int) -> int:
    """The child process: matrix and pairs, factors and their copies, then the non-zeros written."""
    factors = 4.0 * sizes.factorised_nodes * rank
    non_zeros = 26 * NMF_DENSITY * sizes.nodes * rank
    return CHILD_BYTES + 28 * sizes.train + round(max(FACTOR_COPIES * factors, 2 * factors + non_zeros))


def init_bytes(config: RunConfig, sizes: Sizes, graph: int, held: int, nmf: int) -> Ledger:
    """Building the graph and the first support."""
    ledger = {"interactions": held, "graph": graph, "sorting": 24 * sizes.train, "libraries": LIBRARY_BYTES}
    if nmf:
        ledger["factors"] = round(FACTOR_ENTRY_BYTES * NMF_DENSITY * sizes.nodes * config.dim)
    return ledger


def train_bytes(
    config: RunConfig,
    sizes: Sizes,
    base: Recommender,
    table: Held,
    graph: int,
    held: int,
    processes: int = 1,
) -> Ledger:
    """The ledger of a step, and what lives beside it."""
    passing = base.step_bytes(step_sizes(config, sizes, table, processes))
    scratch = passing.pop("scratch")
    return {
        **table.ledger,
        **passing,
        "scratch": scratch,
        "graph": graph,
        "interactions": held,
        "batches": 4 * sizes.train + 8 * sizes.nodes + 64 * config.recipe.batch_size,
        "checkpoint": total(table.ledger),
        "allocator": total(passing),  # what steps free and ask for again lies in two places now and then
        "code and libraries": COMPILED_BYTES + LIBRARY_BYTES,
    }


def evaluate_bytes(
    sizes: Sizes, base: Recommender, table: Held, graph: int, held: int, processes: int = 1
) -> Ledger:
    """Vectors of all nodes, one more filter, tiles of scores, and the table (as it is and quantised).

    Users held out whole are folded in: that takes tables of its own and a vector for every user. Several processes
    have some columns of all vectors each, and whole vectors of items; of base history all of them.
    """
    nodes = sizes.nodes
    if processes > 1 and base.user_rows:
        nodes = -(-sizes.nodes // processes) + sizes.items
    folds = (
        len(fold_taps(base.taps[0], base.self_loops)) * sizes.nodes + sizes.users if sizes.new_users else 0
    )
    width = automatic_width(sizes.nodes, table.dim)
    copies = 20 if "positions" in table.ledger else 7  # float64 codes; entries also have row and column
    return {
        **table.ledger,
        "quantised": copies * table.ledger.get("values", 0),
        "vectors": 4 * nodes * table.dim,
        "fold-in": 4 * folds * table.dim,
        "allocator": 4 * nodes * table.dim,
        "scratch": 4 * 4 * sizes.nodes * width,
        "scores": score_bytes(sizes, table.dim) + 4 * 30 * sizes.ranked_users,
        "graph": graph,
        "interactions": held,
        "batches": 4 * sizes.train + 8 * sizes.nodes,
        "code and libraries": COMPILED_BYTES + LIBRARY_BYTES,
    }


def score_bytes(sizes: Sizes, dim: int) -> int:
    """Tiles of scores and the vectors of the users in them."""
    chunk, block = tile_shape(sizes.ranked_users, sizes.items, dim, 20, RANK_SCRATCH)
    return 4 * chunk * (block + dim + 21)
