"""What a method holds and how long it trains, found by letting it build its tables on a miniature of the data.

Every table is linear in its rows, so two miniatures of different size give bytes per row and what does not grow, role
by role, for any method there is or will be, without a second description of it that could go out of date.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparserec.data import IdMap, Interactions
from sparserec.evaluation import METRICS
from sparserec.exploration import Factors, NmfInfo
from sparserec.methods import Context, Method, Phase, PhaseResult, Validation, make_method
from sparserec.recommenders import Recommender, make_recommender
from sparserec.table import Ledger, Table
from sparserec.training import RunConfig

NMF_DENSITY = 0.13
"""Share of entries of both factors that are not zero: .12 on Gowalla, .16 on the built-in sample, rank 128."""
MOST_PHASES = 500


@dataclass(frozen=True)
class PhasePlan:
    """One phase of a method on data of the real size."""

    name: str
    kind: str
    """Phases of one kind take the same time."""
    epochs: int
    steps: int
    validated: bool
    validations: int
    """Asked for by the method itself."""
    table: Ledger
    """Bytes of its table by role."""
    table_dim: int


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


def synthetic_factors(users: int, items: int, rank: int, seed: int = 0) -> Factors:
    """Non-zeros of a factorisation nobody made, as many as a real one has."""
    rng = np.random.default_rng(seed)
    count = max(rank, round(NMF_DENSITY * (users + items) * rank))
    flat = np.unique(rng.integers(0, (users + items) * rank, count))
    rows, columns = np.divmod(flat, rank)
    values = rng.random(len(flat), np.float32) + np.float32(0.1)
    info = NmfInfo(0.0, 0, NMF_DENSITY, NMF_DENSITY, 0, cached=True)
    return Factors(rows.astype(np.int32), columns.astype(np.int16), values, rank, info)


class MadeUpScores:
    """Validation where nothing is trained: a method that chooses by it plans as it trains. Always the same numbers."""

    def __init__(self, n_users: int, ks: tuple[int, ...]) -> None:
        self.n_users, self.ks, self.calls = n_users, ks, 0

    def __call__(self, table: Table, also_at: tuple[int, ...] = ()) -> Validation:
        self.calls += 1
        rng = np.random.default_rng([self.calls])
        names = [f"{metric}@{k}" for k in sorted({*self.ks, *also_at}) for metric in METRICS]
        per_user = {name: rng.random(self.n_users) for name in names}
        metrics = {name: float(values.mean()) for name, values in per_user.items()}
        return Validation(metrics[f"ndcg@{max(self.ks)}"], metrics, per_user, np.arange(self.n_users))


@dataclass(frozen=True)
class MiniatureContext(Context):
    """A context with the budget of the real run: a network or a codebook is made for that."""

    real_rows: int | None = None

    @property
    def budget(self) -> int:
        rows = self.shape().n_rows if self.real_rows is None else self.real_rows
        return round(self.density * rows * self.dim)


def make_context(
    config: RunConfig,
    train: Interactions,
    method: Method,
    recommender: Recommender,
    steps_per_epoch: int = 10,
    real_rows: int | None = None,
) -> Context:
    """A context as the loop would make it, with made-up validation scores, and the budget of so many rows."""
    users, items, dim, seed = train.n_users, train.n_items, config.dim, config.seed
    rows = users if recommender.user_rows else 0
    factors = synthetic_factors(rows, items, dim) if method.wants_factors else None
    return MiniatureContext(
        train=train,
        dim=dim,
        density=config.density,
        epochs=config.recipe.length(steps_per_epoch),
        steps_per_epoch=steps_per_epoch,
        seed=seed,
        factors=factors,
        real_rows=real_rows,
        initial=lambda width: recommender.initial(seed, users, items, width),
        validate=MadeUpScores(users, config.ks),
        user_rows=recommender.user_rows,
        explorations=config.recipe.explorations,
        explore_every=config.recipe.explore_every,
    )


class Begun(NamedTuple):
    """A phase, the table it starts from, and how often the method validated around it."""

    phase: Phase
    table: Table
    validations: int


def phases_of(method: Method, context: Context) -> list[Begun]:
    """All phases of a method, none of them trained; those of one kind share the table of the first."""
    done: list[PhaseResult] = []
    found: list[Begun] = []
    first: dict[str, Begun] = {}
    while len(done) < MOST_PHASES and (phase := method.next_phase(context, done)) is not None:
        kind = kind_of(phase)
        if kind not in first:
            earlier = len(done) - 1 if phase.starts_from is None else phase.starts_from
            first[kind] = _begin(method, context, phase, found[earlier].table if done else None)
        found.append(first[kind]._replace(phase=phase))
        steps = phase.last_step(context.steps_per_epoch)
        done.append(PhaseResult(phase.name, phase.epochs, 0.1, phase.kept, steps=steps))
    return found


def _begin(method: Method, context: Context, phase: Phase, previous: Table | None) -> Begun:
    scores = context.validate
    before = scores.calls if isinstance(scores, MadeUpScores) else 0
    table = method.start(context, phase, previous)
    method.after_phase(context, phase, table)
    return Begun(phase, table, scores.calls - before if isinstance(scores, MadeUpScores) else 0)


def kind_of(phase: Phase) -> str:
    """What a phase has in common with those like it."""
    return phase.kind or phase.name


def plan_phases(config: RunConfig, users: int, items: int, steps_per_epoch: int = 10) -> list[PhasePlan]:
    """The method's phases with the bytes their tables will have on `users` and `items`."""
    recommender = make_recommender(config.base, config.base_settings)
    rows = items + (users if recommender.user_rows else 0)
    share = users / (users + items)
    nodes = min(240, users + items)
    built = []
    for count in (nodes, 2 * nodes):
        some_users = min(max(round(share * count), 8), count - 8) if count >= 16 else max(1, count // 2)
        train = synthetic_train(some_users, count - some_users, 4 * count)
        method = make_method(config.method, config.method_settings)
        context = make_context(config, train, method, recommender, steps_per_epoch, rows)
        built.append(phases_of(method, context))
    return [
        PhasePlan(
            name=small.phase.name,
            kind=kind_of(small.phase),
            epochs=small.phase.epochs,
            steps=small.phase.last_step(steps_per_epoch),
            validated=small.phase.validated,
            validations=small.validations,
            table=_extrapolated(small.table, large.table, rows),
            table_dim=small.table.shape.dim,
        )
        for small, large in zip(*built)
    ]


def _extrapolated(small: Table, large: Table, rows: int) -> Ledger:
    """Bytes by role on the line through two sizes."""
    one, two = small.shape.n_rows, large.shape.n_rows
    before, after = small.ledger(), large.ledger()
    return {
        role: max(0, round(size + (after.get(role, size) - size) * (rows - one) / (two - one)))
        for role, size in before.items()
    }


def with_settings(config: RunConfig, base: str | None = None, method: str | None = None) -> RunConfig:
    """The same run with another base or method, whose own settings are the defaults."""
    changes: dict[str, object] = {}
    if base is not None and base != config.base:
        changes |= {"base": base, "base_settings": {}}
    if method is not None and method != config.method:
        changes |= {"method": method, "method_settings": {}}
    return config.model_copy(update=changes) if changes else config
