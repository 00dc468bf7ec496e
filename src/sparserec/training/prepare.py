"""From a configuration to everything the loop needs: split, node order, graph, recommender, method, context."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sparserec.data import Interactions, ReadReport, Source, Split, split_interactions
from sparserec.distributed import ALONE, Processes
from sparserec.encodings import evaluate_part, evaluate_test
from sparserec.errors import DataError, SettingError
from sparserec.evaluation import Evaluation
from sparserec.exploration import StoredFactors, cached_path, factorise
from sparserec.graph import Adjacency, by_degree, by_group
from sparserec.methods import METHODS, Context, Method, Phase, PhaseResult, make_method
from sparserec.process import PhasePeaks
from sparserec.recommenders import Batches, Recommender, Steps, Tried, make_recommender
from sparserec.table import Table
from sparserec.training.config import RunConfig

# Where a training begins: from nothing, unless a finished run gives it a beginning (runs/warm_start.py).

Order = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class FirstTraining:
    """What a finished run left of the training that a method would begin with."""

    result: PhaseResult
    model: Path
    """File of its table, read when it is needed."""
    seconds: float
    steps: int
    peak: int  # bytes
    digest: str  # of its configuration


class Start:
    """From nothing. A beginning that a finished run gives changes some of this."""

    factorises: bool = True
    """Whether a factorisation is made for a method that wants one."""
    continues: bool = False
    """Whether the first table gets rows of an old one; it is scored before its first step, for it may be the best."""
    first_training: FirstTraining | None = None
    """Takes the place of a first training that would be the same."""

    def configure(self, config: RunConfig) -> RunConfig:
        """The configuration to train; one that cannot begin here is refused, before any data is read."""
        return config

    def split(self, source: Source, config: RunConfig) -> tuple[Source, Split]:
        """The split of the data, and the data with a note of what is different about it."""
        split = split_interactions(source, config.protocol, config.split_seed, config.held_out_users)
        return source, split

    def order(self, train: Interactions) -> Order:
        """Users and items in the order to number them, where it continues; else it is as is best for this data."""
        raise NotImplementedError

    def begin_table(self, method: Method, context: Context, phase: Phase) -> Table:
        """The table of the first phase, where it continues."""
        raise NotImplementedError

    def for_final(self) -> Start:
        """The beginning of the training on everything that follows the measured one."""
        return self


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to train."""

    config: RunConfig
    """With every setting of base and method as the run has it (`settled`)."""
    report: ReadReport
    """What was understood of the data; the data itself lives on only as the split."""
    split: Split
    graph: Adjacency
    recommender: Recommender
    method: Method
    context: Context
    sampler: Batches
    tried: Tried
    """Validation scores of settings of the base that short trainings chose among."""
    start: Start

    def stepper(self, table: Table) -> Steps:
        config = self.config
        return self.recommender.stepper(self.graph, table, config.seed, config.recipe.weight_decay)

    def validate(self, table: Table, also_at: tuple[int, ...] = ()) -> Evaluation:
        """Metrics on the validation part, at more list lengths if asked; test items play no role."""
        vectors, split = self.recommender.outputs(self.graph, table), self.split
        users, items = vectors[: self.graph.n_users], vectors[self.graph.n_users :]
        ks = tuple(sorted({*self.config.ks, *(k for k in also_at if k <= len(items))}))
        return evaluate_part(users, items, table.shape, split.train, split.valid, (), ks)

    def test(self, table: Table) -> Evaluation:
        """Metrics on the test part, validation items masked as well."""
        return evaluate_test(self.recommender, self.graph, table, self.split, self.config.ks)


def prepare_run(
    config: RunConfig,
    source: Source,
    start: Start | None = None,
    peaks: PhasePeaks | None = None,
    quiet: bool = True,
    processes: Processes = ALONE,
    everything: bool = False,
) -> Prepared:
    """Split the data, build the graph and what the method needs; with `everything` all of the data is train."""
    start, peaks = start or Start(), peaks or PhasePeaks()
    recommender = make_recommender(config.base, config.base_settings)
    method = make_method(config.method, config.method_settings)
    if not processes.alone:
        _check_processes(config, method, recommender, start)
    with peaks.phase("read"):
        if everything:  # the other parts are empty, so that nothing can be measured on it
            whole = source.merged()
            nothing = whole.select(np.zeros(len(whole), bool))
            split = Split.of(whole, nothing, nothing, "everything", config.split_seed)
        else:
            source, split = start.split(source, config)
        if len(split.train) == 0:
            raise DataError(f"{config.data}: no train interactions are left after reading and splitting")
        if split.n_items < max(config.ks):
            raise DataError(
                f"{config.data}: {split.n_items} items are fewer than the list length {max(config.ks)} of the metrics; "
                f"use shorter lists (`ks=[{max(1, min(5, split.n_items))}]`) or bring more data"
            )
    if method.needs_validation and len(split.valid) == 0:
        raise SettingError(
            f"{config.method} chooses by validation scores, and this split has no validation part; use another protocol"
        )
    with peaks.phase("init"):
        order, factors = start.order(split.train) if start.continues else None, None
        if order is None and method.wants_factors:
            order, factors = _factorised(
                split, config, method.wants_factors, quiet, recommender.user_rows, processes
            )
        if order is None and not method.keeps_numbers:
            order = by_degree(split.train)
        split = split if order is None else split.relabel(*order)
        recommender, tried = recommender.choose(split, config.seed, processes.decide, quiet)
        graph = recommender.graph(split.train)
        recipe = config.recipe
        sampler = recommender.sampler(split.train, recipe.batch_size, recipe.batches, config.seed)
    context = context_of(config, recommender, split.train, sampler.steps_per_epoch, factors, processes)
    context.shape()  # more processes than parts are refused here, before anything is written
    settled = {
        "base_settings": recommender.settings.model_dump(mode="json"),
        "method_settings": method.settings.model_dump(mode="json"),
        "epochs": context.epochs,
    }
    config = config.model_copy(update={"settled": settled})
    return Prepared(config, source.report, split, graph, recommender, method, context, sampler, tried, start)


def _factorised(
    split: Split, config: RunConfig, iterations: int, quiet: bool, user_rows: bool, processes: Processes
) -> tuple[Order, StoredFactors]:
    """Users and items numbered by their strongest factor, for locality; else it is by degree."""
    asked = split.train, config.dim, iterations, config.seed
    if not processes.alone:  # made once, and the same for all: what follows is then found in the cache
        processes.decide(lambda: factorise(*asked, quiet).rank)
        processes.share_file(cached_path(*asked))
    factors = factorise(*asked, quiet)
    users, items = by_group(split.train, factors.strongest(split.n_users + split.n_items, split.n_users))
    order = np.concatenate([users, items + split.n_users]).astype(np.int32)
    skipped = 0 if user_rows else split.n_users
    return (users, items), StoredFactors(cached_path(*asked), config.dim, factors.info, order, skipped)


def context_of(
    config: RunConfig,
    base: Recommender,
    train: Interactions,
    steps_per_epoch: int,
    factors: StoredFactors | None = None,
    processes: Processes = ALONE,
) -> Context:
    """What a method may know about a run of this configuration."""
    return Context(
        train=train,
        dim=config.dim,
        density=config.density,
        epochs=config.recipe.length(steps_per_epoch),
        steps_per_epoch=steps_per_epoch,
        seed=config.seed,
        initial=lambda dim: base.initial(config.seed, train.n_users, train.n_items, dim),
        factors=factors,
        explorations=config.recipe.explorations,
        explore_every=config.recipe.explore_every,
        user_rows=base.user_rows,
        processes=processes,
    )


def _check_processes(config: RunConfig, method: Method, recommender: Recommender, start: Start) -> None:
    """Refuse what only one process can train."""
    if start.continues or start.first_training is not None:
        raise SettingError(
            "a training that goes on from a finished run has one process; start it without torchrun"
        )
    shared = "shardable" if recommender.user_rows else "shardable_by_rows"
    if not getattr(method, shared):
        known = [name for name in METHODS if getattr(make_method(name), shared)]
        raise SettingError(
            f"method {config.method}, as it is set, keeps something that several processes cannot share with base "
            f"{config.base}; start it without torchrun, or train one of {', '.join(known)}"
        )
