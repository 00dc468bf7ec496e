"""`train --budget 1MB`: the dimension and density whose exported file will fit.

The file's size is known before training: ids, titles, degrees and header are what they are, and vectors take about so
many bytes a row for a given dimension, cut and precision. How good a file is can only be measured: that is what the
choice among all encodings does, once the run is trained. The rules here keep what measuring on Gowalla showed: 128
columns are worth having as long as a twelfth of them can be shipped (12 of 128 entries at 4 bits lose 2.3 % of recall,
16 lose 2 %, 32 lose 0.3 %), fewer columns lose more than a cut does, and entries beyond what is shipped need not be
trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, Literal

import numpy as np

from sparserec.data import Interactions, ItemInfo, Source, train_share
from sparserec.device import encode_graph, gap_bytes, id_tensors, int_bytes, smallest_counts, text_tensors
from sparserec.errors import SettingError
from sparserec.units import show_bytes

Target = Literal["items", "full"]
DIMS = (128, 64, 32, 16, 8)
"""Tried in this order; the paper's dimension first."""
HEADER_BYTES = 6000
"""Header, card with metrics, golden queries: 4 to 6 kB in files of all modes."""
SMALLEST_CUT = 1 / 12
"""Share of a vector's entries below which fewer columns are the better use of the bytes."""
DENSITIES = (1 / 16, 1 / 4)
SAMPLED_USERS = 20_000


@dataclass(frozen=True)
class Choice:
    """What was chosen for a budget, and where its bytes go."""

    target: Target
    budget: int
    dim: int
    density: float
    bits: int
    keep: int
    """Entries of an item vector in the file (`items`), or mean entries of a row of the table (`full`)."""
    sections: dict[str, int]
    why: str

    @property
    def bytes(self) -> int:
        return sum(self.sections.values())

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "bytes": self.bytes}

    def lines(self) -> list[str]:
        """The choice as lines to print."""
        parts = ", ".join(f"{name} {show_bytes(size)}" for name, size in self.sections.items() if size)
        return [
            f"budget {show_bytes(self.budget)} for a file of mode {self.target}: "
            f"dim {self.dim}, density {self.density:.4g}",
            f"  {self.why}",
            f"  about {show_bytes(self.bytes)}: {parts}",
        ]


def choose(source: Source, target: Target, budget: int, protocol: str, dim: int | None = None) -> Choice:
    """Dimension and density for a file of at most `budget` bytes; `dim` fixes the dimension."""
    merged = source.merged()
    # the graph of a full file is all that is known; degrees are those of the train part
    parts = {name: len(part) for name, part in source.parts.items()}
    share = 1.0 if target == "full" else train_share(protocol, parts)
    fixed = fixed_sections(merged, merged.item_info, target, share)
    dims = DIMS if dim is None else (dim,)
    found = (
        _for_items(merged, fixed, budget, dims)
        if target == "items"
        else _for_full(merged, fixed, budget, dims)
    )
    if found is None:
        raise SettingError(_too_small(merged, fixed, target, budget, dims))
    return found


def fixed_sections(data: Interactions, info: ItemInfo | None, target: Target, share: float) -> dict[str, int]:
    """Bytes of everything in the file but the vectors; `share` of the interactions are train."""
    sections = {"header": HEADER_BYTES, "item ids": _id_bytes(data.item_ids.external())}
    if info is not None and info.titles is not None:
        sections["titles"] = _size(text_tensors("item.title", info.titles))
    if info is not None and info.tags is not None:
        names = sorted({tag for tags in info.tags for tag in tags})
        sections["tags"] = _size(text_tensors("tag", names)) + data.n_items * -(-len(names) // 8)
    if target == "items":
        sections["degrees"] = smallest_counts(
            np.maximum(data.item_counts() * share, 1).astype(np.int64)
        ).nbytes
    else:
        sections["user ids"] = _id_bytes(data.user_ids.external())
        sections["graph"] = graph_bytes(data, share)
        sections["lengths"] = 4 * data.n_items
    return sections


def graph_bytes(data: Interactions, share: float, seed: int = 0) -> int:
    """Bytes of the packed graph, from packing some users' interactions; `share` of them are train."""
    rng = np.random.default_rng(seed)
    kept = data if share >= 1.0 else data.select(rng.random(len(data)) < share)
    if data.n_users <= SAMPLED_USERS:
        return _size(encode_graph(kept.users, kept.items, data.n_users))
    chosen = np.sort(rng.choice(data.n_users, SAMPLED_USERS, replace=False))
    place = np.full(data.n_users, -1, np.int32)
    place[chosen] = np.arange(SAMPLED_USERS, dtype=np.int32)
    part = kept.select(place[kept.users] >= 0)
    packed = _size(encode_graph(place[part.users], part.items, SAMPLED_USERS))
    return round(packed * data.n_users / SAMPLED_USERS)


def _id_bytes(ids: np.ndarray) -> int:
    """Training renumbers, so the order of the ids is stored too; nothing is where an id is its number."""
    backwards = ids[::-1]
    return _size(id_tensors("id", backwards if ids.dtype.kind in "iu" else backwards.tolist())[1])


def _size(tensors: dict[str, np.ndarray]) -> int:
    return sum(tensor.nbytes for tensor in tensors.values())


def _for_items(data: Interactions, fixed: dict[str, int], budget: int, dims: Sequence[int]) -> Choice | None:
    """The largest dimension of which enough entries fit, as many as fit; 8 bits once all of them do at 4."""
    room, items = budget - sum(fixed.values()), data.n_items
    for dim in dims:
        keep = _most_entries(items, dim, 4, room)
        if (keep < max(1, SMALLEST_CUT * dim) and dim != dims[-1]) or keep < 1:
            continue
        bits = 8 if _most_entries(items, dim, 8, room) >= dim / 2 else 4
        keep = _most_entries(items, dim, bits, room)
        vectors = ceil(gap_bytes(keep, items, dim, bits))
        density = float(np.clip(keep / dim, *DENSITIES))
        why = (
            f"{room / items:.1f} bytes an item hold {keep} of {dim} entries at {bits} bits; the table is trained at "
            f"the density that will be shipped, within {DENSITIES[0]:g} and {DENSITIES[1]:g}"
        )
        return Choice("items", budget, dim, density, bits, keep, fixed | {"vectors": vectors}, why)
    return None


def _most_entries(rows: int, dim: int, bits: int, room: int) -> int:
    """The most entries of every row with which all of them fit `room` bytes, 0 where none does."""
    fitting = (n for n in range(1, dim + 1) if gap_bytes(n, rows, dim, bits) <= room)
    return max(fitting, default=0)


def _for_full(data: Interactions, fixed: dict[str, int], budget: int, dims: Sequence[int]) -> Choice | None:
    """The largest dimension that can have a sixteenth of its entries at 8 bits, else at 4."""
    rows = data.n_users + data.n_items
    room = budget - sum(fixed.values())
    for dim in dims:
        for bits in (8, 4):
            density = _largest_density(rows, dim, bits, room)
            if density < DENSITIES[0] and not (dim == dims[-1] and bits == 4 and density * dim >= 1):
                continue
            density = min(density, 0.5)
            table = int_bytes(round(density * rows * dim), rows, dim, bits)
            why = (
                f"{room / rows:.1f} bytes a user or item hold {density * dim:.1f} of {dim} entries at {bits} bits, "
                f"after the graph ({show_bytes(fixed['graph'])})"
            )
            keep = round(density * dim)
            return Choice("full", budget, dim, density, bits, keep, fixed | {"table": table}, why)
    return None


def _largest_density(rows: int, dim: int, bits: int, room: int) -> float:
    """The density at which a table takes `room` bytes, in steps of 1/1024, 0 where none does."""
    steps = (step / 1024 for step in range(1, 1025))
    fitting = (
        density for density in steps if int_bytes(round(density * rows * dim), rows, dim, bits) <= room
    )
    return max(fitting, default=0.0)


def _too_small(
    data: Interactions, fixed: dict[str, int], target: Target, budget: int, dims: Sequence[int]
) -> str:
    rows = data.n_items if target == "items" else data.n_users + data.n_items
    one_entry = gap_bytes(1, rows, min(dims), 4) if target == "items" else int_bytes(rows, rows, min(dims), 4)
    least = sum(fixed.values()) + ceil(one_entry)
    parts = ", ".join(
        f"{name} {show_bytes(size)}" for name, size in sorted(fixed.items(), key=lambda kv: -kv[1])
    )
    advice = "" if data.item_ids.is_integer else "use whole numbers as item ids"
    other = ", or make the file for items, which needs no graph" if target == "full" else ""
    return (
        f"a budget of {show_bytes(budget)} is too small for a file of mode {target}: the least is {least:,} bytes "
        f"({show_bytes(least)}), of which {parts}; raise the budget{', ' + advice if advice else ''}{other}"
    )
