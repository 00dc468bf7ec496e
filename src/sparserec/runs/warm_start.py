"""Starting from a finished run: going on from it when the log has grown, or taking it for a method's first training.

**Warm start.** Users and items are matched by their external ids. Rows that were there keep mask, values and Adam
moments; new rows get entries of their own; the number of active entries is exactly what the density asks for. No
factorisation is made: the old run's node order, which came from one, is kept and new nodes are put behind.

Whoever was trained on must not be tested on: pairs the old run trained on stay in train, whatever the protocol says.

**Dense run.** magnitude and lottery begin with the training that `dense` is, at any density: one run of it serves all
of them. What it cost (seconds, steps, memory) is counted as if it had been trained again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import IdMap, Interactions, Source, Split, join, split_interactions
from sparserec.errors import RunError, SettingError
from sparserec.exploration import Factors, NmfInfo
from sparserec.methods import Context, Method, Phase, PhaseResult, make_method
from sparserec.runs.continued_table import continue_table
from sparserec.runs.trained import Trained, open_final, open_run
from sparserec.table import Table
from sparserec.training import FirstTraining, Order, RunConfig, Start, differences

MAY_DIFFER = {"method", "method_settings", "density", "open_test", "test_epochs", "checkpoint_every"}
"""Settings that do not change what a dense training gives."""


@dataclass(frozen=True)
class DenseRun(Start):
    """A finished run of method `dense` in the place of a method's own first training."""

    config: RunConfig
    split_hash: str
    first_training: FirstTraining | None

    def configure(self, config: RunConfig) -> RunConfig:
        """Refuse a run that is not what the method would have trained itself."""
        if not make_method(config.method, config.method_settings).begins_dense:
            raise SettingError(
                f"`dense_run`: {config.method} does not begin with a dense training; leave the option out"
            )
        if config.final:
            raise SettingError(
                "`dense_run`: that run has not seen everything, so it cannot be a `final` one's first"
            )
        same = config.model_copy(update={name: getattr(self.config, name) for name in MAY_DIFFER})
        if same.digest() != self.config.digest():
            raise SettingError(f"`dense_run`: that run has other settings ({differences(self.config, same)})")
        return config

    def split(self, source: Source, config: RunConfig) -> tuple[Source, Split]:
        """Refuse a run on other data under the same name."""
        source, split = super().split(source, config)
        if split.hash != self.split_hash:
            raise SettingError("`dense_run`: that run was trained on other data, or on another split of it")
        return source, split


def open_dense_run(folder: Path) -> DenseRun:
    """A finished run of method `dense`."""
    run = _opened(folder, "`dense_run`")
    if run.config.method != "dense":
        raise SettingError(f"`dense_run` {folder}: holds method {run.config.method}, not dense")
    record = run.record
    training = FirstTraining(
        PhaseResult(**record.epochs[0].model_dump()),
        run.folder.model,
        record.seconds.train,
        record.steps,
        record.memory.peak["train"],
        run.config.digest(),
    )
    return DenseRun(run.config, record.split.hash, training)


def _opened(folder: Path, option: str) -> Trained:
    try:
        return open_run(folder)
    except RunError as error:
        raise RunError(f"{option} {error}; give a finished run, `sparserec runs` lists them") from None


@dataclass(frozen=True)
class WarmStart(Start):
    """A finished run to go on from."""

    run: Trained
    identity: str
    """Hash of its model file: part of the new run's configuration."""
    final: Trained | None = None
    """The old run's model trained on everything: what the new one's final training goes on from."""
    factorises: bool = False
    continues: bool = True

    def for_final(self) -> Start:
        """The measured training must not begin from what has seen its test part; the final one may."""
        return self if self.final is None else replace(self, run=self.final)

    def inherited(
        self, base: str | None = None, method: str | None = None, budget: bool = False
    ) -> dict[str, Any]:
        """Settings of the old run for the new one to begin with; those of a base or method that changes are left out.

        A `budget` chooses the density anew.
        """
        left_out = {"data", "start_from", "seed", "test_epochs"} | ({"density"} if budget else set())
        values = self.run.config.model_dump(mode="json", exclude=left_out)
        values["base_settings"] = self.run.record.base_settings  # with what was chosen on validation
        for part, name in (("base", base), ("method", method)):
            if name is not None and name != values[part]:
                values[f"{part}_settings"] = {}
        return values

    def configure(self, config: RunConfig) -> RunConfig:
        """The new run's configuration; what cannot be continued is refused before any data is read."""
        old = self.run.config
        if config.base != old.base:
            raise SettingError(f"`warm`: that run trained {old.base}, this one is to train {config.base}")
        if config.dim != old.dim:
            raise SettingError(
                f"`warm`: that run has {old.dim} columns, this one is to have {config.dim}; leave `dim` out or say "
                f"{old.dim}"
            )
        if config.protocol == "new-users":
            raise SettingError(
                "`warm`: protocol new-users measures users nothing was trained on, but that run may have trained on "
                "them; name another `protocol`, or train from scratch"
            )
        return _without_first_training(config).model_copy(update={"start_from": self.identity})

    def split(self, source: Source, config: RunConfig) -> tuple[Source, Split]:
        """The split of the new log, and the source with a note of what the old run made different about it."""
        if config.protocol == "resplit":
            return source, _extended(self.run.split, source, config)
        source, split = super().split(source, config)
        split, moved = _keep_trained(self.run.split, split)
        if moved:
            source = source.with_notes(
                f"{moved:,} held-out pairs were trained on by the run this one starts from: moved to train"
            )
        return source, split

    def order(self, train: Interactions) -> Order:
        """Old users and items in their old order, then the new ones, the busiest first."""
        old = self.run.split.train
        return (
            _old_first(old.user_ids.index_of(train.user_ids.external()), train.user_counts()),
            _old_first(old.item_ids.index_of(train.item_ids.external()), train.item_counts()),
        )

    def begin_table(self, method: Method, context: Context, phase: Phase) -> Table:
        """The first table of the method with the old run's rows, carried over to the new users and items."""
        factors = _no_factors(context.dim) if method.wants_factors else None
        table = method.start(replace(context, factors=factors), phase, None)
        old_rows = matched_rows(context.train, self.run.split.train, context.user_rows)
        report = continue_table(table, self.run.table, old_rows, context, self.run.record.steps)
        context.record("warm start", **report)
        return table


def _without_first_training(config: RunConfig) -> RunConfig:
    """sparserec's rows are those of the old run, so no dense table is trained for them, and none is cut again."""
    settings = config.method_settings
    if config.method != "sparserec" or settings.get("init") != "rotated":
        return config
    return config.model_copy(update={"method_settings": {**settings, "init": "nmf", "start_ratio": 1.0}})


def open_warm_start(folder: Path) -> WarmStart:
    """Read a finished run to go on from."""
    run = _opened(folder, "`warm`")
    identity = hashlib.sha256(run.folder.model.read_bytes()).hexdigest()[:16]
    return WarmStart(run, identity, open_final(folder))


def matched_rows(train: Interactions, old: Interactions, user_rows: bool = True) -> np.ndarray:
    """For every row of the new stacked table the row of the old one, -1 where there was none."""
    items = old.item_ids.index_of(train.item_ids.external())
    if not user_rows:
        return items
    users = old.user_ids.index_of(train.user_ids.external())
    return np.concatenate([users, np.where(items >= 0, items + old.n_users, -1)])


def _no_factors(rank: int) -> Factors:
    """A factorisation without entries: the support comes from the old run."""
    nothing = np.empty(0, np.int32)
    info = NmfInfo(seconds=0.0, peak_bytes=0, density_users=0.0, density_items=0.0, iterations=0, cached=True)
    return Factors(nothing, nothing, np.empty(0, np.float32), rank, info)


def _old_first(old: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.lexsort((-counts, np.where(old >= 0, old, len(old) + old.max(initial=0))))


# -- the split ---------------------------------------------------------------------------------------------------


def _keys(users: np.ndarray, items: np.ndarray, n_items: int) -> np.ndarray:
    return users.astype(np.int64) * max(n_items, 1) + items


def _translated(part: Interactions, user_ids: IdMap, item_ids: IdMap) -> np.ndarray:
    """Keys of a part's pairs in another numbering, ascending; pairs unknown there are left out."""
    users = user_ids.index_of(part.user_ids.external())[part.users]
    items = item_ids.index_of(part.item_ids.external())[part.items]
    known = (users >= 0) & (items >= 0)
    return np.sort(_keys(users[known], items[known], len(item_ids)))


def _among(keys: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    at = np.minimum(np.searchsorted(ascending, keys), max(len(ascending) - 1, 0))
    return ascending[at] == keys if len(ascending) else np.zeros(len(keys), bool)


def _extended(old: Split, source: Source, config: RunConfig) -> Split:
    """`resplit` of a grown log: known pairs stay in their part, new ones are split as ever.

    Where only some people have anything held out (`held_out_users`) they stay those who were.
    """
    merged = source.merged()
    keys = _keys(merged.users, merged.items, merged.n_items)
    known = [
        _among(keys, _translated(part, merged.user_ids, merged.item_ids))
        for part in (old.train, old.valid, old.test)
    ]
    new = ~(known[0] | known[1] | known[2])
    divided = new & _measured(old, merged) if config.held_out_users is not None else new
    parts: list[Any] = known
    if divided.any():
        fresh = Source(merged.select(divided), None, None, source.report)
        added = split_interactions(fresh, "resplit", config.split_seed)
        parts = [
            mask | _among(keys, _keys(part.users, part.items, merged.n_items))
            for mask, part in zip(known, (added.train, added.valid, added.test))
        ]
    parts[0] = parts[0] | (new & ~divided)
    train, valid, test = (merged.select(mask) for mask in parts)
    return Split.of(train, valid, test, "resplit", config.split_seed)


def _measured(old: Split, merged: Interactions) -> np.ndarray:
    """Whether each pair is of somebody of whom the old run held something out."""
    held_out = old.valid.user_counts() + old.test.user_counts() > 0
    users = merged.user_ids.index_of(old.train.user_ids.external(np.flatnonzero(held_out)))
    return np.isin(merged.users, users)


def _keep_trained(old: Split, split: Split) -> tuple[Split, int]:
    """Held-out pairs that the old run trained on go to train; also how many there were."""
    train = split.train
    trained = _translated(old.train, train.user_ids, train.item_ids)
    held_out = (split.valid, split.test)
    leaked = [_among(_keys(part.users, part.items, train.n_items), trained) for part in held_out]
    moved = int(sum(mask.sum() for mask in leaked))
    if not moved:
        return split, 0
    whole = join([train, *(part.select(mask) for part, mask in zip(held_out, leaked))])
    valid, test = (part.select(~mask) for part, mask in zip(held_out, leaked))
    return Split.of(whole, valid, test, split.protocol, split.seed), moved
