"""From id columns of one or more parts to a Source: filters, numbering, duplicates, and the report of it all."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
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
        columns = ", ".join(f"{role} = {name}" for role, name in self.columns.items())
        density = f"{self.density:.3%}" if self.density >= 1e-4 else f"{self.density:.2e}"
        lines = [f"format        {self.format}", *(f"file          {name}" for name in self.files[:4])]
        lines += [f"              and {len(self.files) - 4} more"] if len(self.files) > 4 else []
        lines += [f"columns       {columns}"] if columns else []
        lines += [f"users         {self.users:,}", f"items         {self.items:,}"]
        lines.append(f"interactions  {self.interactions:,}" + (f" ({parts})" if len(self.parts) > 1 else ""))
        lines.append(f"density       {density}")
        lines += [f"dropped       {count:,} rows: {why}" for why, count in self.dropped.items() if count]
        return lines + [f"note          {note}" for note in self.notes]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values for JSON."""
        return {**asdict(self), "interactions": self.interactions}


@dataclass(frozen=True, eq=False)
class Source:
    """Interactions as they were given; all parts share their id maps."""

    train: Interactions
    valid: Interactions | None
    test: Interactions | None
    report: ReadReport

    @classmethod
    def whole(cls, data: Interactions, what: str) -> Source:
        """Interactions without parts; `what` they are is all that there is to report."""
        sizes: Any = {"users": data.n_users, "items": data.n_items, "parts": {"train": len(data)}}
        density = len(data) / max(data.n_users * data.n_items, 1)
        return cls(data, None, None, ReadReport(what, **sizes, density=density))

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
        named: Any = {name: replace(part, item_info=item_info) for name, part in self.parts.items()}
        source = replace(self, **named)
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
        columns = {
            name: column[chosen] if isinstance(column, np.ndarray) else column.filter(chosen)
            for name in ("users", "items", "ratings", "times", "weights")
            if (column := getattr(self, name)) is not None
        }
        dropped = {**self.dropped, reason: self.dropped.get(reason, 0) + left_out}
        return replace(self, **columns, dropped=dropped)


def join_parts(parts: list[Columns]) -> Columns:
    """The rows of several parts as one; ratings, times and weights stay only when every part has them."""
    if len(parts) == 1:
        return parts[0]
    dropped: Counter[str] = Counter()
    for part in parts:
        dropped.update(part.dropped)
    joined: dict[str, Any] = {
        name: _one_column([getattr(part, name) for part in parts]) for name in ("users", "items")
    }
    for name in ("ratings", "times", "weights"):
        arrays = [getattr(part, name) for part in parts]
        joined[name] = None if any(array is None for array in arrays) else np.concatenate(arrays)
    return Columns(**joined, where=parts[0].where, dropped=dict(dropped))


def _one_column(columns: list[Any]) -> Any:
    """One Arrow column of all parts; numbers become texts when any part has texts."""
    import pyarrow as pa

    arrays: list[Any] = []
    for column in columns:
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        arrays += [chunk if isinstance(chunk, pa.Array) else pa.array(chunk) for chunk in chunks]
    if len({array.type for array in arrays}) > 1:
        arrays = [array.cast(pa.large_string()) for array in arrays]
    return pa.chunked_array(arrays)


@dataclass
class _Rows:
    """Numbered rows of all parts, one part after the other."""

    users: np.ndarray
    items: np.ndarray
    times: np.ndarray | None
    weights: np.ndarray | None
    user_ids: IdMap
    item_ids: IdMap
    lengths: list[int]
    """Rows of each part."""
    dropped: Counter[str]

    def keep(self, good_user: np.ndarray, good_item: np.ndarray, reason: str) -> None:
        """Rows of good users and items alone, numbered anew; how many others there were is counted."""
        kept = good_user[self.users] & good_item[self.items]
        self.dropped[reason] += int(len(kept) - np.count_nonzero(kept))
        self.lengths = [int(part.sum()) for part in np.split(kept, np.cumsum(self.lengths)[:-1])]
        self.users = (np.cumsum(good_user, dtype=np.int32) - 1)[self.users[kept]]
        self.items = (np.cumsum(good_item, dtype=np.int32) - 1)[self.items[kept]]
        self.times = None if self.times is None else self.times[kept]
        self.weights = None if self.weights is None else self.weights[kept]
        self.user_ids = self.user_ids.take(np.flatnonzero(good_user))
        self.item_ids = self.item_ids.take(np.flatnonzero(good_item))


def build_source(
    parts: dict[str, Columns],
    report: ReadReport,
    min_rating: float | None = None,
    core: int | None = None,
    drawn: tuple[int, int] | None = None,
    count_repeats: bool = False,
) -> Source:
    """Number the ids of all parts in one go and build the Source; `report` says where the columns came from.

    `drawn` is how many users are kept, and the seed that decides which. With `count_repeats` a pair weighs as much as
    it has rows.
    """
    counted = [_counted(part, min_rating, count_repeats) for part in parts.values()]
    whole = join_parts(counted)
    if len(whole) == 0:
        reasons = "; ".join(f"{count:,} rows dropped: {reason}" for reason, count in whole.dropped.items())
        where = ", ".join(part.where for part in counted)
        raise EmptyDataError(f"{where}: no interactions" + (f" ({reasons})" if reasons else ""))
    users, user_ids = number_ids(whole.users)
    items, item_ids = number_ids(whole.items)
    lengths, dropped = [len(part) for part in counted], Counter(whole.dropped)
    rows = _Rows(users, items, whole.times, whole.weights, user_ids, item_ids, lengths, dropped)
    if drawn is not None and drawn[0] < len(user_ids):
        _draw(rows, *drawn)
    if core is not None and core > 1:
        _core(rows, core)
    return _source(_interactions(rows, list(parts)), report, rows.dropped)


def _counted(part: Columns, min_rating: float | None, count_repeats: bool) -> Columns:
    """Rows that count: rated at least `min_rating`, of a weight above 0; each weighs one where repeats are counted."""
    if min_rating is not None:
        if part.ratings is None:
            raise MissingColumnError(
                f"{part.where}: min_rating needs a rating column; name it with `rating_col`"
            )
        part = part.select(part.ratings >= min_rating, f"rating below {min_rating:g}")
    if part.weights is not None:
        return part.select(part.weights > 0, "weight 0")
    return replace(part, weights=np.ones(len(part))) if count_repeats else part


def _draw(rows: _Rows, count: int, seed: int) -> None:
    """Keep some users, drawn among their sorted ids, and the items they have."""
    order = np.argsort(rows.user_ids.external(), kind="stable")
    good_user = np.zeros(len(order), bool)
    good_user[order[np.random.default_rng(seed).choice(len(order), count, replace=False)]] = True
    good_item = np.zeros(len(rows.item_ids), bool)
    good_item[rows.items[good_user[rows.users]]] = True
    rows.keep(good_user, good_item, "user who was not drawn")


def _core(rows: _Rows, core: int) -> None:
    """Leave out users and items with fewer than `core` distinct interactions, again and again until none is left."""
    whole = Interactions.from_codes(rows.users, rows.items, rows.user_ids, rows.item_ids)
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
    rows.keep(user_counts > 0, item_counts > 0, f"user or item with fewer than {core} interactions")


def _interactions(rows: _Rows, names: list[str]) -> dict[str, Interactions]:
    """Interactions per part; a pair of an earlier part is left out of later ones: it could never be recommended."""
    built: dict[str, Interactions] = {}
    end = 0
    for name, length in zip(names, rows.lengths):
        here, end = slice(end, end + length), end + length
        times = None if rows.times is None else rows.times[here]
        weights = None if rows.weights is None else rows.weights[here]
        part = Interactions.from_codes(
            rows.users[here], rows.items[here], rows.user_ids, rows.item_ids, times, weights=weights
        )
        rows.dropped["repeat of another row"] += 0 if weights is not None else part.duplicates
        for earlier, other in built.items():
            seen = np.isin(_keys(part), _keys(other), assume_unique=True)
            if seen.any():
                rows.dropped[f"{name} pair that is also in {earlier}"] += int(seen.sum())
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
