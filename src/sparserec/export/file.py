"""sparserec export: from a run folder to one small file, with a report of its size and quality before and after."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.classics import EASE, Together
from sparserec.data import Interactions, ItemInfo
from sparserec.device import ItemTerm, Model, ModelParts, model_bytes, write_model
from sparserec.errors import RunError, SettingError
from sparserec.export.choose import (
    LIST_USERS,
    USERS_TO_CHOOSE_BY,
    Encoder,
    Measure,
    TimeLimit,
    choose_good,
    measured_within,
    nothing_fits,
    smallest_good,
    worth_learning,
)
from sparserec.export.contents import full_parts, item_parts, kept_items, personal_parts
from sparserec.export.learn import TRIAL, Learnt, choose_lesson, learn_encoding, lesson_of
from sparserec.export.measured import Quality, file_quality
from sparserec.export.options import ExportOptions, check_options
from sparserec.export.prefer import SHARE_TO_LOSE, Point, choose_point
from sparserec.export.term import choose_term, with_term
from sparserec.files import sweep_abandoned
from sparserec.progress import say
from sparserec.recommenders import graph_of
from sparserec.runs import Trained, count_opening
from sparserec.vectors import (
    DEFAULT,
    EncodedLists,
    EncodedVectors,
    Encoding,
    ListsOfLog,
    Vectors,
    WeightsOfLog,
    choose_lists,
    choose_weights,
    encoded_quality,
    make_vectors,
    some_users,
)

ROOM_FOR_METRICS = 768
"""Bytes that the measured quality takes in a file's card; it is known only after the encoding is chosen."""

NAMES = ("item ids", "user ids", "titles", "tags")
"""Sections of a file that say what things are called, and nothing of the model."""

Made = EncodedVectors | EncodedLists


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
    left_out: int
    """Encodings that there was no time to try."""
    final: bool
    """Whether the file holds a model trained on all that is known, chosen and measured before on a part of it."""
    term: float
    """What the logarithm of an item's users counts in its score, beside what a history says."""


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
    check_options(run, path, options)
    job = _Job(run, final or run, options, info, quiet, TimeLimit(options.seconds))
    encoding, parts, curve = job.full() if options.mode == "full" else job.items()
    made = None if options.mode == "full" else job.encoded(run, encoding, job.measured_items)
    quality, opened = file_quality(run, job.vectors, options.mode, made, encoding, job.measured_items)
    parts.card["metrics"] = quality
    try:
        sweep_abandoned(path)
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
        job.limit.left_out,
        final is not None,
        0.0 if parts.term is None else parts.term.weight,
    )


def _model_bytes(model: Model) -> int:
    card = model.card()
    names = sum(size for section, size in card["sections"].items() if section in NAMES)
    return int(card["bytes"] - names - len(model.container.metadata["golden"].encode()))


@dataclass(frozen=True, eq=False)
class _Job:
    """One export: `run` chooses and is measured, `shipped` goes into the file."""

    run: Trained
    shipped: Trained
    options: ExportOptions
    given_info: ItemInfo | None
    quiet: bool
    limit: TimeLimit
    learnt: dict[tuple[bool, Encoding], Learnt] = field(default_factory=dict)
    logs: dict[tuple[bool, str], ListsOfLog | WeightsOfLog] = field(default_factory=dict)
    terms: dict[Encoding, ItemTerm | None] = field(default_factory=dict)
    """Of the encodings for which one was looked for."""

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
        least = self.options.min_users
        if least is None:
            least = LIST_USERS if self.shipped.recommender.user_rows else 1
        return kept_items(self.shipped, least if self.options.mode != "full" else 0)

    @cached_property
    def measured_items(self) -> np.ndarray:
        """The same items, as the measured model numbers them."""
        ids = self.shipped.split.train.item_ids.external(self.kept)
        return self.run.split.train.item_ids.index_of(ids)

    @cached_property
    def truth(self) -> Interactions:
        """What settings of lists are chosen by."""
        return some_users(self.run.split.valid, USERS_TO_CHOOSE_BY)

    @cached_property
    def list_settings(self) -> Together:
        """Of co-occurrence lists, chosen on the validation part where there is one."""
        if len(self.run.split.valid) == 0:
            return Together(least_users=self.options.list_users)
        say("choosing settings of co-occurrence lists", self.quiet)
        return choose_lists(self.run.split, self.truth, self.options.list_users)

    @cached_property
    def weight_settings(self) -> EASE:
        """The same of EASE."""
        if len(self.run.split.valid) == 0:
            return EASE()
        say("choosing settings of EASE", self.quiet)
        return choose_weights(self.run.split, self.truth)

    def of_log(self, which: Trained, kind: str) -> ListsOfLog | WeightsOfLog:
        """Lists of the log of the measured or of the shipped model, made once."""
        known = which is self.run, kind
        if known not in self.logs:
            train = which.split.train
            self.logs[known] = (
                ListsOfLog(train, self.list_settings)
                if kind == "together"
                else WeightsOfLog(train, self.weight_settings, self.options.list_users)
            )
        return self.logs[known]

    def encoded(self, which: Trained, encoding: Encoding, items: np.ndarray) -> Made:
        """The tables of the kept items of the measured or of the shipped model, and the term that was chosen."""
        made, term = self._tables(which, encoding, items), self.terms.get(encoding)
        return made if term is None else with_term(made, term)

    def _choose_term(self, encoding: Encoding) -> None:
        if not self.options.term or len(self.run.split.valid) == 0 or encoding in self.terms:
            return
        everything = self.encoded(self.run, encoding, np.arange(self.run.split.n_items))
        self.terms[encoding] = choose_term(self.vectors, everything, self.run.split, self.truth)

    def _tables(self, which: Trained, encoding: Encoding, items: np.ndarray) -> Made:
        if encoding.learnt:
            return self._learnt(which, encoding)(items)
        vectors = self.vectors if which is self.run else self.shipped_vectors
        kept = replace(vectors, items=vectors.items[items], fold=tuple(part[items] for part in vectors.fold))
        if vectors.fold[0] is vectors.items:  # the same table: one is enough in the file
            kept = replace(kept, fold=(kept.items, *kept.fold[1:]))
        listed = which.split.train.item_counts() >= self.options.list_users
        return Encoder(kept, partial(self.of_log, which), listed, encoding.keep, items)(encoding)

    @cached_property
    def temperature(self) -> float | None:
        """Of learning rows of a graph base, chosen once for a run; None: that of its training."""
        if self.run.recommender.learns_codes or len(self.run.split.valid) == 0:
            return None
        say("choosing the temperature that rows are learnt with", self.quiet)
        measure = Measure(self.vectors, self.run.split, 0)
        lesson = lesson_of(self.run.recommender, self.vectors, self.run.split.train)
        chosen = choose_lesson(lesson, self.vectors, lambda made: measure.point(TRIAL, made).score)
        return chosen.temperature

    def _learnt(self, which: Trained, encoding: Encoding) -> Learnt:
        """Codes are learnt once for each model: choosing, measuring and writing see the same."""
        known = which is self.run, encoding
        if known not in self.learnt:
            vectors = self.vectors if which is self.run else self.shipped_vectors
            lesson = lesson_of(which.recommender, vectors, which.split.train)
            if self.temperature is not None:
                lesson = lesson.with_temperature(self.temperature)
            self.learnt[known] = learn_encoding(vectors, encoding, lesson, self.quiet)
        return self.learnt[known]

    def items(self) -> tuple[Encoding, ModelParts, list[Point]]:
        """Modes items and personal."""
        if self.options.encoding is not None or len(self.run.split.valid) == 0:
            encoding = self.options.encoding or DEFAULT
            self._choose_term(encoding)
            parts = self._parts(encoding)
            self._refuse_over_budget(_size(parts), encoding.label)
            return encoding, parts, []
        measure, least = self._measure_and_least()
        if self.options.budget is None:
            encoding = choose_good(smallest_good(measure, self.quiet), measure).encoding
            self._choose_term(encoding)
            return encoding, self._parts(encoding), []
        return self._within(self.options.budget, measure, least)

    def _measure_and_least(self) -> tuple[Measure, int]:
        """What encodings are measured with, and the bytes of the smallest file."""
        smallest = Encoding(2, min(8, self.shipped_vectors.items.shape[1]), "shared", "gaps")
        least = _size(self._parts(smallest))
        overhead = least - self.encoded(self.shipped, smallest, self.kept).nbytes
        share = len(self.kept) / self.run.split.n_items
        return Measure(self.vectors, self.run.split, overhead, share, self.options.list_users), least

    def _within(self, budget: int, measure: Measure, least: int) -> tuple[Encoding, ModelParts, list[Point]]:
        """The file that a budget gets; sizes are foreseen, so what turns out to be too large makes room for others."""
        log, personal = partial(self.of_log, self.run), self.options.mode == "personal"
        curve = measured_within(measure, log, budget, self.limit, self.quiet, personal)
        curve += self._learnt_points(worth_learning(curve, budget), measure)
        left = list(curve)
        while (point := choose_point(left, budget)) is not None:
            self._choose_term(point.encoding)
            parts = self._parts(point.encoding)
            if _size(parts) > budget and parts.term is not None:
                self.terms[point.encoding] = None  # there is room for the tables alone
                parts = self._parts(point.encoding)
            if _size(parts) <= budget:
                return point.encoding, parts, curve
            left.remove(point)
        raise nothing_fits(budget, measure.overhead, least, self.info is not None)

    def _learnt_points(self, encodings: list[Encoding], measure: Measure) -> list[Point]:
        if not self.options.learn or len(self.vectors.fold) > 1:
            return []
        everything = np.arange(self.run.split.n_items)
        return [
            measure.point(one, self.encoded(self.run, one, everything))
            for one in reversed(encodings)
            if self.limit.allows_one_more()
        ]

    def _parts(self, encoding: Encoding) -> ModelParts:
        made = self.encoded(self.shipped, encoding, self.kept)
        card = _card(self.run, self.shipped is not self.run) | {"encoding": encoding.label}
        if encoding.lists:
            card["list_users"] = self.options.list_users
        parts = item_parts(self.shipped, made, self.kept, self.info, card, encoding.kind)
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
        if len(self.run.split.valid) and self._trained_score(4) >= (1 - SHARE_TO_LOSE) * self._trained_score(
            None
        ):
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
