"""sparserec export: from a run folder to one small file, with a report of its size and quality before and after."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sparserec.classics import Together
from sparserec.data import ItemInfo
from sparserec.device import Model, ModelParts, model_bytes, write_model
from sparserec.errors import RunError, SettingError
from sparserec.export.choose import (
    GOOD_ENOUGH,
    USERS_TO_CHOOSE_BY,
    Encoder,
    Point,
    by_preference,
    good_score,
    nothing_fits,
    size_quality_curve,
    smallest_good,
    worth_learning,
)
from sparserec.export.contents import full_parts, item_parts, kept_items, personal_parts
from sparserec.export.learn import Learnt, learn_encoding
from sparserec.export.measured import Quality, file_quality
from sparserec.progress import say
from sparserec.recommenders import History, graph_of, make_recommender
from sparserec.runs import Trained, count_opening
from sparserec.vectors import (
    DEFAULT,
    EncodedLists,
    EncodedVectors,
    Encoding,
    ListsOfLog,
    Vectors,
    choose_lists,
    encoded_quality,
    made_quality,
    make_vectors,
    some_users,
)

ROOM_FOR_METRICS = 768
"""Bytes that the measured quality takes in a file's card; it is known only after the encoding is chosen."""

NAMES = ("item ids", "user ids", "titles", "tags")
"""Sections of a file that say what things are called, and nothing of the model."""

Mode = Literal["items", "full", "personal"]
Made = EncodedVectors | EncodedLists


@dataclass(frozen=True)
class ExportOptions:
    """What the caller asked for."""

    mode: Mode = "items"
    budget: int | None = None
    """Largest file in bytes."""
    encoding: Encoding | None = None
    """None chooses on validation: the smallest file within 1 % of float, or the best that fits where none does."""
    bits: int | None = None
    """Of the layer-0 table in mode full; None chooses as above."""
    learn: bool = True
    """Whether codes may be learnt for a budget with the loss of the training, where that is base history's."""
    min_users: int = 1
    titles: bool = True
    """Whether titles and tags go into the file."""
    include_everyones_history: bool = False
    """Mode full holds every user's interactions; it is refused unless this is set."""
    user: Any = None
    """Whose vector a personal file holds."""


@dataclass(frozen=True)
class ExportReport:
    """What was written and how good it is."""

    path: Path
    mode: str
    bytes: int
    model_bytes: int
    """The same without ids, titles, tags and golden queries: what sizes of models are compared by."""
    encoding: dict[str, Any]
    sections: dict[str, int]
    quality: Quality
    """Of the model that was trained on the train part; see `final`."""
    curve: list[dict[str, Any]]
    measured_on: str | None
    """Part of the split; None where there is no validation part, because the test part stays closed."""
    items: int
    dropped_items: int
    final: bool
    """Whether the file holds a model trained on all that is known, chosen and measured before on a part of it."""


def export_run(
    run: Trained,
    path: Path,
    options: ExportOptions,
    info: ItemInfo | None = None,
    quiet: bool = True,
    final: Trained | None = None,
) -> ExportReport:
    """Write a device file, and measure on the run's validation part what it is worth.

    `final` is the same run trained once more on everything, and what is written then; `info` names its items. The
    encoding is chosen and the quality measured with the run that has not seen the validation part.
    """
    _check(run, path, options)
    job = _Job(run, final or run, options, info, quiet)
    encoding, parts, curve = job.full() if options.mode == "full" else job.items()
    made = None if options.mode == "full" else job.encoded(run, encoding, job.measured_items)
    quality, opened = file_quality(run, job.vectors, options.mode, made, encoding, job.measured_items)
    parts.card["metrics"] = quality
    try:
        model: Model = write_model(path, parts)
    except OSError as error:
        raise RunError(f"{path}: cannot write ({error.strerror or error}); nothing was changed") from None
    model.self_test()
    if opened:
        count_opening(run)
    return ExportReport(
        path,
        parts.mode,
        path.stat().st_size,
        _model_bytes(model),
        asdict(encoding),
        model.card()["sections"],
        quality,
        [point.row() for point in curve],
        "valid" if len(run.split.valid) else None,
        len(job.kept),
        run.split.n_items - len(job.kept),
        final is not None,
    )


def _model_bytes(model: Model) -> int:
    card = model.card()
    names = sum(size for section, size in card["sections"].items() if section in NAMES)
    return int(card["bytes"] - names - len(model.container.metadata["golden"].encode()))


def _check(run: Trained, path: Path, options: ExportOptions) -> None:
    """Refuse what cannot or must not be written before anything is computed."""
    if path.is_dir():
        raise SettingError(f"{path}: is a folder; name the file to write, for example {path / 'model.srec'}")
    if not path.absolute().parent.is_dir():
        raise SettingError(f"{path}: there is no folder {path.parent}; make it first")
    if options.mode == "full" and not options.include_everyones_history:
        raise SettingError(
            "mode full puts the interaction history of every user into the file, and anyone who has the file can "
            "read it; if that is what you want, say so with `include_everyones_history`. Mode items holds no "
            "interaction list"
        )
    if options.mode == "full" and not run.recommender.user_rows:
        raise SettingError(
            f"mode full holds the rows of users, and {run.config.base} has none: mode items serves every user exactly"
        )
    if options.mode == "personal" and options.user is None:
        raise SettingError("mode personal needs a `user`: whose vector the file is to hold")
    if options.encoding is not None:
        options.encoding.check(run.table.shape.dim)
        if options.encoding.learnt and not isinstance(run.recommender, History):
            raise SettingError(
                f"encoding {options.encoding.label}: codes are learnt with the loss of base history, and this run has "
                f"base {run.config.base}"
            )
    if options.min_users < 0:
        raise SettingError(f"`min_users` {options.min_users}: must not be negative")


@dataclass(frozen=True, eq=False)
class _Job:
    """One export: `run` chooses and is measured, `shipped` goes into the file."""

    run: Trained
    shipped: Trained
    options: ExportOptions
    given_info: ItemInfo | None
    quiet: bool
    learnt: dict[tuple[bool, Encoding], Learnt] = field(default_factory=dict)

    @property
    def info(self) -> ItemInfo | None:
        return (self.given_info or self.shipped.split.train.item_info) if self.options.titles else None

    @cached_property
    def vectors(self) -> Vectors:
        return make_vectors(self.run.recommender, self.run.graph, self.run.table)

    @cached_property
    def shipped_vectors(self) -> Vectors:
        shipped = self.shipped
        return (
            self.vectors
            if shipped is self.run
            else make_vectors(shipped.recommender, shipped.graph, shipped.table)
        )

    @cached_property
    def kept(self) -> np.ndarray:
        """Items of the file, as the shipped model numbers them."""
        return kept_items(self.shipped, self.options.min_users if self.options.mode != "full" else 0)

    @cached_property
    def measured_items(self) -> np.ndarray:
        """The same items, as the measured model numbers them."""
        ids = self.shipped.split.train.item_ids.external(self.kept)
        return self.run.split.train.item_ids.index_of(ids)

    @cached_property
    def list_settings(self) -> Together:
        """Of lists of items chosen together, chosen on the validation part where there is one."""
        split = self.run.split
        if len(split.valid) == 0:
            return Together()
        say("choosing settings of lists of items chosen together", self.quiet)
        return choose_lists(split, some_users(split.valid, USERS_TO_CHOOSE_BY))

    @cached_property
    def log(self) -> ListsOfLog:
        return ListsOfLog(self.run.split.train, self.list_settings)

    @cached_property
    def shipped_log(self) -> ListsOfLog:
        same = self.shipped is self.run
        return self.log if same else ListsOfLog(self.shipped.split.train, self.list_settings)

    def encoded(self, which: Trained, encoding: Encoding, items: np.ndarray) -> Made:
        """The tables of the kept items of the measured or of the shipped model."""
        if encoding.learnt:
            return self._learnt(which, encoding)(items)
        measured = which is self.run
        vectors = self.vectors if measured else self.shipped_vectors
        kept = replace(vectors, items=vectors.items[items], fold=tuple(part[items] for part in vectors.fold))
        if vectors.fold[0] is vectors.items:  # the same table: one is enough in the file
            kept = replace(kept, fold=(kept.items, *kept.fold[1:]))
        return Encoder(kept, lambda: self.log if measured else self.shipped_log, encoding.keep, items)(
            encoding
        )

    def _learnt(self, which: Trained, encoding: Encoding) -> Learnt:
        """Codes are learnt once for each model: choosing, measuring and writing see the same."""
        known = which is self.run, encoding
        if known not in self.learnt:
            base = make_recommender(
                which.config.base, which.record.base_settings
            )  # with the temperature of the run
            assert isinstance(base, History)
            vectors = self.vectors if which is self.run else self.shipped_vectors
            self.learnt[known] = learn_encoding(vectors, encoding, base, which.split.train, self.quiet)
        return self.learnt[known]

    def items(self) -> tuple[Encoding, ModelParts, list[Point]]:
        """Modes items and personal."""
        if self.options.encoding is not None or len(self.run.split.valid) == 0:
            encoding = self.options.encoding or DEFAULT
            parts = self._parts(encoding)
            self._refuse_over_budget(_size(parts), encoding.label)
            return encoding, parts, []
        budget = self.options.budget
        smallest = Encoding(2, min(8, self.shipped_vectors.items.shape[1]), "shared", "gaps")
        least = _size(self._parts(smallest))
        overhead = least - self.encoded(self.shipped, smallest, self.kept).nbytes
        needed = good_score(self.vectors, self.run.split)
        points = smallest_good(self.vectors, self.run.split, overhead, needed, self.quiet)
        curve = [] if budget is None else self._curve(overhead, budget)
        for point in by_preference([*points, *curve], needed, budget):
            parts = self._parts(point.encoding)
            if budget is None or _size(parts) <= budget:
                return point.encoding, parts, curve
        assert budget is not None
        raise nothing_fits(budget, overhead, least, self.info is not None)

    def _curve(self, overhead: int, budget: int) -> list[Point]:
        scale = len(self.kept) / self.run.split.n_items  # measured on all items; dropped ones take no bytes
        personal, room = self.options.mode == "personal", int(budget / scale)
        points = size_quality_curve(
            self.vectors, lambda: self.log, self.run.split, overhead, room, self.quiet, personal
        )
        return points + self._learnt_points(worth_learning(points, room), overhead)

    def _learnt_points(self, encodings: list[Encoding], overhead: int) -> list[Point]:
        if not self.options.learn or not isinstance(self.run.recommender, History):
            return []
        truth = some_users(self.run.split.valid, USERS_TO_CHOOSE_BY)
        points = []
        for encoding in encodings:
            made = self.encoded(self.run, encoding, np.arange(self.run.split.n_items))
            quality = made_quality(self.vectors, made, self.run.split, truth)
            points.append(Point(encoding, made.nbytes + overhead, quality))
        return points

    def _parts(self, encoding: Encoding) -> ModelParts:
        made = self.encoded(self.shipped, encoding, self.kept)
        card = _card(self.run, self.shipped is not self.run) | {"encoding": encoding.label}
        parts = item_parts(self.shipped, made, self.kept, self.info, card)
        if self.options.mode != "personal":
            return parts
        if isinstance(made, EncodedLists):
            raise SettingError(
                "mode personal holds a user's vector, and neighbours have none: mode items serves it"
            )
        return personal_parts(parts, self.shipped, self.shipped_vectors, made, self.kept, self.options.user)

    def full(self) -> tuple[Encoding, ModelParts, list[Point]]:
        """Mode full: the graph is all that is known, so that nothing a user has is recommended to them.

        On the sample, propagating over what became known after training made the test score higher, not lower.
        """
        shipped, same = self.shipped, self.shipped is self.run
        known = shipped.split.everything()
        vectors = make_vectors(shipped.recommender, graph_of(shipped.recommender, known), shipped.table)
        for bits in self._bits_in_order():
            parts = full_parts(shipped, known, vectors, bits, self.info, _card(self.run, not same))
            size = _size(parts)
            if self.options.budget is None or size <= self.options.budget:
                return Encoding(bits, shipped.table.shape.dim, "own"), parts, []
        self._refuse_over_budget(size, "mode full at int4")
        raise AssertionError("the last size was over the budget")

    def _bits_in_order(self) -> tuple[int, ...]:
        """4 bits first where they are good enough; else 8, and 4 only where a budget asks for it."""
        if self.options.bits is not None:
            return (self.options.bits, 4) if self.options.budget is not None else (self.options.bits,)
        if len(self.run.split.valid) and self._trained_score(4) >= GOOD_ENOUGH * self._trained_score(None):
            return (4,)
        return (8, 4) if self.options.budget is not None else (8,)

    def _trained_score(self, bits: int | None) -> float:
        table = self.run.table if bits is None else self.run.table.quantised(bits)
        read = self.vectors if bits is None else make_vectors(self.run.recommender, self.run.graph, table)
        found = encoded_quality(read, None, self.run.split, self.run.split.valid)
        return found["trained"]["ndcg@20"]

    def _refuse_over_budget(self, size: int, what: str) -> None:
        if self.options.budget is not None and size > self.options.budget:
            raise SettingError(
                f"{what} takes {size:,} bytes, more than the `budget` of {self.options.budget:,}; raise it, or train "
                "with a lower density"
            )


def _size(parts: ModelParts) -> int:
    return len(model_bytes(parts)) + ROOM_FOR_METRICS


def _card(run: Trained, final: bool) -> dict[str, Any]:
    """Where a file is from; its figures are those of the model that was trained on the train part."""
    record = run.record
    return {
        "producer": f"sparserec {record.environment['sparserec']}",
        "method": run.config.method,
        "density": run.config.density,
        "config_sha": record.digest,
        "split": record.split.model_dump(),
        "trained_on": "all that is known" if final else "the train part",
        "test": {
            name: {k: v for k, v in found.items() if "." not in k} for name, found in record.test.items()
        },
    }
