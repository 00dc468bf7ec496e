"""From id columns of one or more parts to a Source: filters, numbering, duplicates, and the report of it all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sparserec.data.errors import EmptyDataError, MissingColumnError
from sparserec.data.interactions import IdMap, Interactions, ItemInfo, join, number_ids

# What a reader hands on: the parts as they came, and a report of what was understood.


@dataclass(frozen=True)
class ReadReport:
    """What was understood of the input, for people and for the run record."""

    format: str
    files: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
    users: int = 0
    items: int = 0
    parts: dict[str, int] = field(default_factory=dict)
    """Interactions per part: train, and valid and test when the input has them."""
    density: float = 0.0
    dropped: dict[str, int] = field(default_factory=dict)
    """Rows left out, by reason."""
    notes: tuple[str, ...] = ()

    @property
    def interactions(self) -> int:
        return sum(self.parts.values())

    def lines(self) -> list[str]:
        """The report as lines to print."""
        parts = ", ".join(f"{name} {count:,}" for name, count in self.parts.items())
        lines = [f"format        {self.format}"]
        lines += [f"file          {name}" for name in self.files[:4]]
        if len(self.files) > 4:
            lines.append(f"              and {len(self.files) - 4} more")
        if self.columns:
            lines.append(
                "columns       " + ", ".join(f"{role} = {name}" for role, name in self.columns.items())
            )
        lines.append(f"users         {self.users:,}")
        lines.append(f"items         {self.items:,}")
        lines.append(f"interactions  {self.interactions:,}" + (f" ({parts})" if len(self.parts) > 1 else ""))
        lines.append(
            f"density       {self.density:.3%}"
            if self.density >= 1e-4
            else f"density       {self.density:.2e}"
        )
        lines += [
            f"dropped       {count:,} rows: {reason}" for reason, count in self.dropped.items() if count
        ]
        return lines + [f"note          {note}" for note in self.notes]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values for JSON."""
        return {
            "format": self.format,
            "files": list(self.files),
            "columns": dict(self.columns),
            "users": self.users,
            "items": self.items,
            "interactions": self.interactions,
            "parts": dict(self.parts),
            "density": self.density,
            "dropped": dict(self.dropped),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class Source:
    """Interactions as they were given; all parts share their id maps."""

    train: Interactions
    valid: Interactions | None
    test: Interactions | None
    report: ReadReport

    @property
    def parts(self) -> dict[str, Interactions]:
        """The parts that exist, by name."""
        named = {"train": self.train, "valid": self.valid, "test": self.test}
        return {name: part for name, part in named.items() if part is not None}

    def merged(self) -> Interactions:
        """All parts as one."""
        return join(list(self.parts.values()))

    def with_item_info(self, item_info: ItemInfo | None) -> Source:
        """The same source with names for the items; its report says where they are from."""
        named = {name: part.with_item_info(item_info) for name, part in self.parts.items()}
        source = Source(named["train"], named.get("valid"), named.get("test"), self.report)
        return source.with_notes(item_info.note) if item_info is not None and item_info.note else source

    def with_notes(self, *notes: str) -> Source:
        """The same source with more lines in its report."""
        return replace(self, report=replace(self.report, notes=self.report.notes + notes))


PART_NAMES = ("train", "valid", "test")


@dataclass(frozen=True)
class Columns:
    """Id columns of one part as read: Arrow arrays or numpy arrays of one length, int64 or text."""

    users: Any
    items: Any
    ratings: np.ndarray | None = None
    times: np.ndarray | None = None
    where: str = "input"
    dropped: dict[str, int] = field(default_factory=dict)
    weights: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.users)

    def select(self, chosen: np.ndarray, reason: str) -> Columns:
        """The rows where `chosen` is set; the others are counted under `reason`."""
        left_out = int(len(chosen) - np.count_nonzero(chosen))
        if left_out == 0:
            return self
        return replace(
            self,
            users=_pick(self.users, chosen),
            items=_pick(self.items, chosen),
            ratings=None if self.ratings is None else self.ratings[chosen],
            times=None if self.times is None else self.times[chosen],
            weights=None if self.weights is None else self.weights[chosen],
            dropped={**self.dropped, reason: self.dropped.get(reason, 0) + left_out},
        )


def _pick(column: Any, chosen: np.ndarray) -> Any:
    return column[chosen] if isinstance(column, np.ndarray) else column.filter(chosen)


def join_parts(files: list[Columns]) -> Columns:
    """The rows of several files as one part; ratings, times and weights stay only when every file has them."""
    if len(files) == 1:
        return files[0]
    dropped: Counter[str] = Counter()
    for part in files:
        dropped.update(part.dropped)
    return Columns(
        _one_column([part.users for part in files]),
        _one_column([part.items for part in files]),
        _all_or_none([part.ratings for part in files]),
        _all_or_none([part.times for part in files]),
        files[0].where,
        dict(dropped),
        _all_or_none([part.weights for part in files]),
    )


def _all_or_none(arrays: list[np.ndarray | None]) -> np.ndarray | None:
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if len(present) == len(arrays) else None


def build_source(
    parts: dict[str, Columns],
    report: ReadReport,
    min_rating: float | None = None,
    core: int | None = None,
    drawn: tuple[int, int] | None = None,
    count_repeats: bool = False,
) -> Source:
    """Number the ids of all parts together and build the Source; `report` says where the columns came from.

    `drawn` is how many users are kept, and the seed that decides which. With `count_repeats` a pair weighs as much as
    it has rows.
    """
    parts = {name: _weighed(_rated(part, min_rating), count_repeats) for name, part in parts.items()}
    dropped: Counter[str] = Counter()
    for part in parts.values():
        dropped.update(part.dropped)
    if sum(len(part) for part in parts.values()) == 0:
        where = ", ".join(part.where for part in parts.values())
        raise EmptyDataError(f"{where}: no interactions" + (f" ({_reasons(dropped)})" if dropped else ""))
    numbered = _number(parts)
    if drawn is not None and drawn[0] < len(numbered.user_ids):
        numbered = _draw(numbered, *drawn, dropped)
    if core is not None and core > 1:
        numbered = _core(numbered, core, dropped)
    built = _interactions(numbered, dropped)
    return _source(built, report, dropped)


def _rated(part: Columns, min_rating: float | None) -> Columns:
    """Turn ratings into observed or not: at least `min_rating` counts as observed."""
    if min_rating is None:
        return part
    if part.ratings is None:
        raise MissingColumnError(f"{part.where}: min_rating needs a rating column; name it with `rating_col`")
    return part.select(part.ratings >= min_rating, f"rating below {min_rating:g}")


def _weighed(part: Columns, count_repeats: bool) -> Columns:
    """Rows that weigh nothing are left out; every row weighs one where repeats are to be counted."""
    if count_repeats and part.weights is None:
        return replace(part, weights=np.ones(len(part)))
    return part if part.weights is None else part.select(part.weights > 0, "weight 0")


PerPart = dict[str, np.ndarray] | None
"""One array for each part, or none."""


@dataclass(frozen=True)
class _Numbered:
    users: dict[str, np.ndarray]
    items: dict[str, np.ndarray]
    times: PerPart
    weights: PerPart
    user_ids: IdMap
    item_ids: IdMap


def _number(parts: dict[str, Columns]) -> _Numbered:
    users, user_ids = number_ids(_one_column([part.users for part in parts.values()]))
    items, item_ids = number_ids(_one_column([part.items for part in parts.values()]))
    timed = {name: part.times for name, part in parts.items() if part.times is not None}
    weighed = {name: part.weights for name, part in parts.items() if part.weights is not None}
    return _Numbered(
        _apart(users, parts),
        _apart(items, parts),
        timed if len(timed) == len(parts) else None,
        weighed if len(weighed) == len(parts) else None,
        user_ids,
        item_ids,
    )


def _one_column(columns: list[Any]) -> Any:
    """One Arrow column of all parts; numbers become texts when any part has texts."""
    import pyarrow as pa

    arrays: list[Any] = []
    for column in columns:
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        arrays += [chunk if isinstance(chunk, pa.Array) else pa.array(chunk) for chunk in chunks]
    kinds = {array.type for array in arrays}
    if len(kinds) > 1:
        arrays = [array.cast(pa.large_string()) for array in arrays]
    return pa.chunked_array(arrays)


def _apart(codes: np.ndarray, parts: dict[str, Columns]) -> dict[str, np.ndarray]:
    ends = np.cumsum([len(part) for part in parts.values()])[:-1]
    return dict(zip(parts, np.split(codes, ends)))


def _draw(numbered: _Numbered, count: int, seed: int, dropped: Counter[str]) -> _Numbered:
    """Keep some users, drawn among their sorted ids, and the items they have."""
    order = np.argsort(numbered.user_ids.external(), kind="stable")
    good_user = np.zeros(len(order), bool)
    good_user[order[np.random.default_rng(seed).choice(len(order), count, replace=False)]] = True
    good_item = np.zeros(len(numbered.item_ids), bool)
    for name, users in numbered.users.items():
        good_item[numbered.items[name][good_user[users]]] = True
    return _only(numbered, good_user, good_item, "user who was not drawn", dropped)


def _core(numbered: _Numbered, core: int, dropped: Counter[str]) -> _Numbered:
    """Leave out users and items with fewer than `core` distinct interactions, again and again until none is left."""
    users = np.concatenate(list(numbered.users.values()))
    items = np.concatenate(list(numbered.items.values()))
    whole = Interactions.from_codes(users, items, numbered.user_ids, numbered.item_ids)
    kept = np.ones(len(whole), bool)
    while True:
        user_counts = np.bincount(whole.users[kept], minlength=whole.n_users)
        item_counts = np.bincount(whole.items[kept], minlength=whole.n_items)
        good = kept & (user_counts[whole.users] >= core) & (item_counts[whole.items] >= core)
        if np.array_equal(good, kept):
            break
        kept = good
    if not kept.any():
        raise EmptyDataError(f"core={core} leaves no interactions; choose a smaller core")
    reason = f"user or item with fewer than {core} interactions"
    return _only(numbered, user_counts > 0, item_counts > 0, reason, dropped)


def _only(
    numbered: _Numbered, good_user: np.ndarray, good_item: np.ndarray, reason: str, dropped: Counter[str]
) -> _Numbered:
    """Rows of good users and items, numbered anew; how many others were left out, and why, is counted."""
    rows = {
        name: good_user[numbered.users[name]] & good_item[numbered.items[name]] for name in numbered.users
    }
    dropped[reason] += sum(int((~row).sum()) for row in rows.values())
    return _Numbered(
        {name: _renumber(codes[rows[name]], good_user) for name, codes in numbered.users.items()},
        {name: _renumber(codes[rows[name]], good_item) for name, codes in numbered.items.items()},
        _some(numbered.times, rows),
        _some(numbered.weights, rows),
        numbered.user_ids.take(np.flatnonzero(good_user)),
        numbered.item_ids.take(np.flatnonzero(good_item)),
    )


def _some(arrays: PerPart, rows: dict[str, np.ndarray]) -> PerPart:
    return None if arrays is None else {name: array[rows[name]] for name, array in arrays.items()}


def _renumber(codes: np.ndarray, good: np.ndarray) -> np.ndarray:
    return (np.cumsum(good, dtype=np.int32) - 1)[codes]


def _interactions(numbered: _Numbered, dropped: Counter[str]) -> dict[str, Interactions]:
    """Interactions per part; a pair of an earlier part is left out of later ones: it could never be recommended."""
    built: dict[str, Interactions] = {}
    for name in numbered.users:
        times = None if numbered.times is None else numbered.times[name]
        weights = None if numbered.weights is None else numbered.weights[name]
        codes = numbered.users[name], numbered.items[name], numbered.user_ids, numbered.item_ids
        part = Interactions.from_codes(*codes, times, weights=weights)
        dropped["repeat of another row"] += 0 if weights is not None else part.duplicates
        for earlier, other in built.items():
            seen = np.isin(_keys(part), _keys(other), assume_unique=True)
            if seen.any():
                dropped[f"{name} pair that is also in {earlier}"] += int(seen.sum())
                part = part.select(~seen)
        built[name] = part
    return built


def _keys(part: Interactions) -> np.ndarray:
    return part.users.astype(np.int64) * part.n_items + part.items


def _source(built: dict[str, Interactions], report: ReadReport, dropped: Counter[str]) -> Source:
    train = built["train"]
    if len(train) == 0:
        raise EmptyDataError(f"{', '.join(report.files) or 'input'}: the train part has no interactions")
    notes = list(report.notes)
    counts = train.user_counts()
    if (counts == 0).any():
        notes.append(f"{int((counts == 0).sum()):,} users have no train interaction")
    total = sum(len(part) for part in built.values())
    full = replace(
        report,
        users=train.n_users,
        items=train.n_items,
        parts={name: len(part) for name, part in built.items()},
        density=total / (train.n_users * train.n_items),
        dropped={reason: count for reason, count in dropped.items() if count},
        notes=tuple(notes),
    )
    return Source(train, built.get("valid"), built.get("test"), full)


def _reasons(dropped: Counter[str]) -> str:
    return "; ".join(f"{count:,} rows dropped: {reason}" for reason, count in dropped.items())
