"""sparserec export: from a run folder to one small file, with a report of its size and quality before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import ItemInfo
from sparserec.device import Model, ModelParts, model_bytes, write_model
from sparserec.encodings import Encoding
from sparserec.errors import RunError, SettingError
from sparserec.export.choose import (
    Measure,
    Point,
    TimeLimit,
    choose_good,
    choose_point,
    measured_within,
    nothing_fits,
    smallest_good,
    worth_learning,
)
from sparserec.export.contents import file_parts, full_parts, kept_items
from sparserec.export.options import ExportOptions, check_options
from sparserec.export.sides import Quality, Side
from sparserec.files import ABANDONED_AFTER, sweep
from sparserec.runs import Trained, count_opening

BYTES_FOR_METRICS = 768
"""Bytes that the measured quality takes in a file's card; it is known only after the encoding is chosen."""

NAMES = ("item ids", "user ids", "titles", "tags")
"""Sections of a file that say what things are called, and nothing of the model."""

PartsOf = Callable[[Encoding], ModelParts]
"""What the shipped model gives a file of an encoding."""
Choice = tuple[Encoding, ModelParts, list[Point]]
"""What is written, and what it was chosen from."""


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
    ids = _kept_ids(final or run, options)
    measured = Side(run, ids, options, quiet)
    shipped = measured if final is None else Side(final, ids, options, quiet, measured)
    info = (info or shipped.run.split.train.item_info) if options.titles else None
    limit, full = TimeLimit(options.seconds), options.mode == "full"
    parts_of = partial(full_parts if full else file_parts, shipped, info, _card(run, final is not None))
    encoding, parts, curve = (
        _full(measured, parts_of) if full else _items(measured, shipped, parts_of, limit, info is not None)
    )
    quality, opened = measured.quality(None if full else measured.encoded(encoding), encoding.bits)
    parts.card["metrics"] = quality
    try:
        sweep(path.parent, path.name, ABANDONED_AFTER)
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
        len(ids),
        run.split.n_items - len(ids),
        limit.left_out,
        final is not None,
        0.0 if parts.term is None else parts.term.weight,
    )


def _kept_ids(run: Trained, options: ExportOptions) -> np.ndarray:
    """Of the items of the file."""
    least = 0 if options.mode == "full" else options.min_users
    return run.split.train.item_ids.external(kept_items(run, least))


def _model_bytes(model: Model) -> int:
    card = model.card()
    names = sum(size for section, size in card["sections"].items() if section in NAMES)
    return int(card["bytes"] - names - len(model.container.metadata["golden"].encode()))


def _items(measured: Side, shipped: Side, parts_of: PartsOf, limit: TimeLimit, titled: bool) -> Choice:
    """Modes items and personal: the encoding that was asked for, or the one that validation prefers."""
    options, split = measured.options, measured.run.split
    if options.encoding is not None or len(split.valid) == 0:
        encoding = options.encoding or Encoding()
        measured.choose_term(encoding)
        parts = parts_of(encoding)
        _refuse_over_budget(_size(parts), encoding.label, options.budget)
        return encoding, parts, []
    smallest = Encoding(2, min(8, shipped.vectors.items.shape[1]), "shared", "gaps")
    least = _size(parts_of(smallest))
    overhead, share = least - shipped.encoded(smallest).nbytes, len(shipped.items) / split.n_items
    measure = Measure(measured.vectors, split, overhead, share)
    if options.budget is None:
        encoding = choose_good(smallest_good(measure, measured.quiet), measure).encoding
        measured.choose_term(encoding)
        return encoding, parts_of(encoding), []
    curve = _curve(measured, measure, options.budget, limit)
    left = list(curve)
    while (point := choose_point(left, options.budget)) is not None:
        measured.choose_term(point.encoding)
        parts = parts_of(point.encoding)
        if parts.term is not None and _size(parts) > options.budget:
            measured.terms[point.encoding] = None  # there is room for the tables alone
            parts = parts_of(point.encoding)
        if _size(parts) <= options.budget:
            return point.encoding, parts, curve
        left.remove(point)  # sizes are foreseen: what turns out to be too large makes room for others
    raise nothing_fits(options.budget, overhead, least, titled)


def _curve(measured: Side, measure: Measure, budget: int, limit: TimeLimit) -> list[Point]:
    """All that is tried for a budget: every encoding of about its size, then the best of them with learnt codes."""
    options, everything = measured.options, np.arange(measured.run.split.n_items)
    personal = options.mode == "personal"
    curve = measured_within(measure, measured.material, budget, limit, measured.quiet, personal)
    if not options.learn or len(measured.vectors.fold) > 1:
        return curve
    return curve + [
        measure.point(one, measured.learnt(one)(everything))
        for one in reversed(worth_learning(curve, budget))
        if limit.allows_one_more()
    ]


def _full(measured: Side, parts_of: Callable[[int], ModelParts]) -> Choice:
    """Mode full: 4 bits where they are good enough; else 8, and 4 only where a budget asks for it."""
    options, budget = measured.options, measured.options.budget
    first = options.bits or 8
    if options.bits is None and len(measured.run.split.valid) and measured.good_at_four_bits():
        first = 4
    for bits in (first,) if first == 4 or budget is None else (first, 4):
        parts = parts_of(bits)
        size = _size(parts)
        if budget is None or size <= budget:
            return Encoding(bits, measured.run.table.shape.dim, "own"), parts, []
    _refuse_over_budget(size, "mode full at int4", budget)
    raise AssertionError("the last size was over the budget")


def _refuse_over_budget(size: int, what: str, budget: int | None) -> None:
    if budget is not None and size > budget:
        raise SettingError(
            f"{what} takes {size:,} bytes, more than the `budget` of {budget:,}; raise it, or train "
            "with a lower density"
        )


def _size(parts: ModelParts) -> int:
    return len(model_bytes(parts)) + BYTES_FOR_METRICS


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
