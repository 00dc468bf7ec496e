"""The model card: what a file holds, how big its parts are, and whose data is inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .container import DIGEST_END, DIGEST_START
from .scorers import FullScorer, NeighboursScorer
from .tables import AnyTable

if TYPE_CHECKING:
    from .model import Model

SECTIONS = (
    ("score.", "item vectors"),
    ("lists.", "neighbour lists"),
    ("fold.", "fold-in vectors"),
    ("layer0.", "layer-0 table"),
    ("graph.", "graph"),
    ("item.id", "item ids"),
    ("user.id", "user ids"),
    ("item.title", "titles"),
    ("tag.", "tags"),
    ("item.tags", "tags"),
    ("item.degree", "degrees and popularity"),
    ("item.weight", "fold-in weights"),
    ("item.popularity", "degrees and popularity"),
    ("user.", "one user"),
)
DATA_INSIDE = {
    "items": "no interaction list; vectors of items with very few users may hint at those users",
    "full": "the whole interaction history of every user in the file",
    "neighbours": "no interaction list; lists of items with very few users may hint at those users",
    "personal": "the vector of one user, and the items that user has seen where they are stored",
}


def describe(model: Model) -> dict[str, Any]:
    """Everything `inspect` prints, as plain values."""
    container, profile = model.container, model.profile
    return {
        "mode": profile.mode,
        "base": profile.base,
        "items": profile.items,
        "users": profile.users,
        "dim": profile.dim,
        "self_loops": profile.self_loops,
        "format_version": container.metadata["version"],
        "sha256": bytes(container.buffer[DIGEST_START:DIGEST_END]).decode("ascii"),
        "bytes": len(container.buffer),
        "sections": section_bytes(model),
        "tables": {name: describe_table(table) for name, table in tables_of(model).items()},
        "item_ids": profile.item_ids,
        "titles": model.titles is not None,
        "tags": 0 if model.tags is None else len(model.tags.names),
        "golden_queries": len(model.golden),
        "data_inside": DATA_INSIDE[profile.mode],
        "card": model.metadata,
    }


def section_bytes(model: Model) -> dict[str, int]:
    """Bytes by section; they add up to the file."""
    sizes = {"header": model.container.payload_start}
    for name, entry in model.container.entries.items():
        section = next((title for prefix, title in SECTIONS if name.startswith(prefix)), "other")
        sizes[section] = sizes.get(section, 0) + entry.end - entry.begin
    return sizes


def tables_of(model: Model) -> dict[str, AnyTable]:
    """The tables of a model by their names in the file."""
    if isinstance(model.scorer, FullScorer):
        return {"layer0": model.scorer.layer0}
    if isinstance(model.scorer, NeighboursScorer):
        return {"lists": model.scorer.lists}
    return {"score": model.scorer.score} | {f"fold.{q}": table for q, table in enumerate(model.scorer.fold)}


def describe_table(table: AnyTable) -> dict[str, Any]:
    """Encoding, and how many rows have how many entries (keys are upper ends: 0, 1, 2, 4, 8 ..)."""
    counts = table.counts
    ends = [0] + [1 << power for power in range(int(counts.max(initial=1)).bit_length() + 1)]
    places = np.bincount(np.searchsorted(ends, counts), minlength=len(ends))
    return {
        "rows": table.rows,
        "entries": int(table.code.size),
        "bits": table.bits,
        "encoding": table.encoding,
        "row_sizes": {str(end): int(rows) for end, rows in zip(ends, places) if rows},
    }
