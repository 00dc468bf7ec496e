"""sparserec export: from a run folder to one small file, with a report of its size and quality before and after."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sparserec.data import ItemInfo
from sparserec.device import Model, ModelParts, model_bytes, write_model
from sparserec.errors import SettingError
from sparserec.export.choose import Encoder, Point, best_within, size_quality_curve
from sparserec.export.contents import full_parts, item_parts, kept_items, personal_parts
from sparserec.runs import Trained
from sparserec.vectors import (
    DEFAULT,
    EncodedLists,
    EncodedVectors,
    Encoding,
    Vectors,
    encoded_quality,
    made_quality,
    make_vectors,
    new_user_quality,
    popularity_quality,
)

ROOM_FOR_METRICS = 768
"""Bytes that the measured quality takes in a file's card; it is known only after the encoding is chosen."""

NAMES = ("item ids", "user ids", "titles", "tags")
"""Sections of a file that say what things are called, and nothing of the model."""

NEW_USERS = "new users"
"""The group of users who were held out whole, in the measured quality."""

Mode = Literal["items", "full", "personal"]


@dataclass(frozen=True)
class ExportOptions:
    """What the caller asked for."""

    mode: Mode = "items"
    budget: int | None = None
    """Largest file in bytes; the best encoding that fits is chosen by validation quality."""
    encoding: Encoding = DEFAULT
    bits: int = 8
    """Of the layer-0 table in mode full."""
    min_users: int = 1
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
    quality: dict[str, dict[str, dict[str, float]]]
    curve: list[dict[str, Any]]
    measured_on: str
    """Part of the split; `new users`, of a split that holds users out whole, are always measured on the test part."""
    items: int
    dropped_items: int


def export_run(
    run: Trained, path: Path, options: ExportOptions, info: ItemInfo | None = None, quiet: bool = True
) -> ExportReport:
    """Write a device file and measure it on the run's validation part (the test part where there is no validation)."""
    _refuse_disclosure(options)
    if options.mode == "full" and not run.recommender.user_rows:
        raise SettingError(
            f"mode full holds the rows of users, and {run.config.base} has none: mode items serves every user exactly"
        )
    info = info or run.split.train.item_info
    vectors = make_vectors(run.recommender, run.graph, run.table)
    items = kept_items(run, options.min_users if options.mode != "full" else 0)
    card = _card(run)
    curve: list[Point] = []
    encoding = options.encoding
    made: EncodedVectors | EncodedLists | None = None
    if options.mode == "full":
        parts = _full_within(run, vectors, options, info, card)
        encoding = Encoding(parts.layer0.bits if parts.layer0 else options.bits, run.table.shape.dim, "own")
    else:
        if options.budget is not None:
            encoding, curve = _choose(run, vectors, options, items, info, card, quiet)
        made = _encoded(vectors, encoding, items)
        parts = item_parts(run, made, items, info, card)
        if options.mode == "personal":
            if isinstance(made, EncodedLists):
                raise SettingError(
                    "mode personal holds a user's vector, and neighbours have none: mode items serves it"
                )
            parts = personal_parts(parts, run, vectors, made, items, options.user)
    quality = _quality(run, vectors, made, encoding, items)
    parts.card["metrics"] = quality
    model: Model = write_model(path, parts)
    model.self_test()
    return ExportReport(
        path, parts.mode, path.stat().st_size, _model_bytes(model), asdict(encoding), model.card()["sections"], quality,
        [point.row() for point in curve], "valid" if len(run.split.valid) else "test", len(items),
        run.split.n_items - len(items),
    )  # fmt: skip


def _model_bytes(model: Model) -> int:
    card = model.card()
    names = sum(size for section, size in card["sections"].items() if section in NAMES)
    return int(card["bytes"] - names - len(model.container.metadata["golden"].encode()))


def _refuse_disclosure(options: ExportOptions) -> None:
    if options.mode == "full" and not options.include_everyones_history:
        raise SettingError(
            "mode full puts the interaction history of every user into the file, and anyone who has the file "
            "can read it; "
            "if that is what you want, say so with --include-everyones-history. Mode items holds no interaction list"
        )
    if options.mode == "personal" and options.user is None:
        raise SettingError("mode personal needs --user: whose vector the file is to hold")


def _choose(
    run: Trained, vectors: Vectors, options: ExportOptions, items: np.ndarray, info: ItemInfo | None,
    card: dict[str, Any], quiet: bool,
) -> tuple[Encoding, list[Point]]:  # fmt: skip
    assert options.budget is not None
    smallest = _encoded(vectors, Encoding(2, min(8, vectors.items.shape[1]), "shared", "gaps"), items)
    room = {**card, "metrics": " " * ROOM_FOR_METRICS}
    least = len(model_bytes(item_parts(run, smallest, items, info, room)))
    overhead = least - smallest.nbytes
    scale = len(items) / run.split.n_items  # the curve is measured on all items; dropped ones take no bytes
    curve = size_quality_curve(
        vectors, run.split, overhead, int(options.budget / scale), quiet, options.mode == "personal"
    )
    fitting = [p for p in curve if (p.bytes - overhead) * scale + overhead <= options.budget]
    return best_within(fitting, options.budget, overhead, least).encoding, curve


def _encoded(vectors: Vectors, encoding: Encoding, items: np.ndarray) -> EncodedVectors | EncodedLists:
    """The tables of the kept items."""
    kept = replace(vectors, items=vectors.items[items], fold=tuple(part[items] for part in vectors.fold))
    if encoding.kind == "neighbours" and len(kept.fold) > 1:
        raise SettingError("neighbours cannot hold a recommender with self-loops: choose another encoding")
    return Encoder(kept, encoding.keep)(encoding)


def _full_within(
    run: Trained, vectors: Vectors, options: ExportOptions, info: ItemInfo | None, card: dict[str, Any]
) -> ModelParts:
    """int8 where it fits the budget, else int4."""
    for bits in (options.bits, 4) if options.budget is not None else (options.bits,):
        parts = full_parts(run, vectors, bits, info, card)
        size = len(model_bytes(parts)) + ROOM_FOR_METRICS
        if options.budget is None or size <= options.budget:
            return parts
    raise SettingError(
        f"mode full takes {size:,} bytes at int4, more than the budget of {options.budget:,}; lower the density"
    )


def _quality(
    run: Trained,
    vectors: Vectors,
    made: EncodedVectors | EncodedLists | None,
    encoding: Encoding,
    items: np.ndarray,
) -> dict[str, dict[str, dict[str, float]]]:
    """float first, then as the file has it, for trained and folded-in users, and popularity.

    Of a split that holds users out whole also for them, folded in from what is given; only they are test users.
    """
    at_test = len(run.split.valid) == 0
    truth = run.split.test if at_test else run.split.valid
    quality = {"float": encoded_quality(vectors, None, run.split, truth, at_test)}
    if made is None:  # mode full
        read = make_vectors(run.recommender, run.graph, run.table.quantised(encoding.bits))
        quality["file"] = encoded_quality(read, None, run.split, truth, at_test)
    else:
        read = vectors
        quality["file"] = made_quality(vectors, made, run.split, truth, at_test, items)
    quality["popularity"] = {"all": popularity_quality(run.split, truth, at_test)}
    if run.split.given is not None and run.config.open_test:  # a search leaves the test part closed
        quality["float"][NEW_USERS] = new_user_quality(vectors, None, run.split)
        quality["file"][NEW_USERS] = new_user_quality(read, made, run.split, items)
        quality["popularity"][NEW_USERS] = popularity_quality(run.split, run.split.test, at_test=True)
    return quality


def _card(run: Trained) -> dict[str, Any]:
    record = run.record
    return {
        "producer": f"sparserec {record.environment['sparserec']}",
        "method": run.config.method,
        "density": run.config.density,
        "config_sha": record.digest,
        "split": record.split.model_dump(),
        "test": {
            name: {k: v for k, v in found.items() if "." not in k} for name, found in record.test.items()
        },
    }
