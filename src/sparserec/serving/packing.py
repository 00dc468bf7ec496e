"""Anybody's item vectors as a device file: `sparserec.pack` tries encodings and says what each loses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import IdMap, ItemInfo, read_item_info, read_source
from sparserec.device import FoldInWeights, ModelParts, model_bytes, write_model
from sparserec.encodings import EncodedVectors, Encoding, encode
from sparserec.errors import DataError, SettingError
from sparserec.export import file_ids, write_page
from sparserec.progress import progress, say
from sparserec.recommenders import Vectors
from sparserec.serving.frames import Columns, frame_of, html_table
from sparserec.units import parse_size, show_bytes

LENGTH = 20
"""Of the lists that are compared."""
GOOD_ENOUGH = 0.95
"""Share of the float lists that the smallest file still gives, where no budget is named."""
MOST_HISTORIES, AT_ONCE = 1000, 128
MADE_UP = 4
"""Items of a made-up history: an item and those nearest to it."""
FEWEST_FOR_CODES = 1024
"""Codebooks of fewer items would be as large as their rows."""


@dataclass(frozen=True)
class PackReport:
    """What was written and what it lost."""

    path: Path
    bytes: int
    encoding: dict[str, Any]
    kept: float
    """Share of the float vectors' top 20 that the file's has too."""
    tried: list[dict[str, Any]] = field(repr=False)
    """Every encoding tried: `encoding`, `bytes`, `kept`."""
    measured_on: str = "made-up histories"

    def to_frame(self, library: str | None = None) -> Any:
        """All that was tried, as a data frame."""
        return frame_of(self._columns(), library)

    def _columns(self) -> Columns:
        return {name: [row[name] for row in self.tried] for name in ("encoding", "bytes", "kept")}

    def _repr_html_(self) -> str:
        return html_table(self._columns(), str(self))

    def __str__(self) -> str:
        label = Encoding(**self.encoding).label
        return (
            f"{self.path}: {show_bytes(self.bytes)}, {label}; {self.kept:.1%} of the top {LENGTH} of the float "
            f"vectors, measured on {self.measured_on}"
        )


@dataclass(frozen=True)
class Packed:
    """What is known of the items."""

    vectors: Vectors
    ids: IdMap
    counts: np.ndarray
    fold_in: FoldInWeights
    info: ItemInfo | None

    def parts(self, encoded: EncodedVectors) -> ModelParts:
        names: dict[str, Any] = (
            {} if self.info is None else {"titles": self.info.titles, "tags": self.info.tags}
        )
        return ModelParts(
            mode="items", base="vectors", weight=np.ones(1), score=encoded.score, fold=encoded.fold,
            degree=self.counts, fold_in=self.fold_in, item_ids=file_ids(self.ids), **names, card={"method": "pack"},
        )  # fmt: skip


def pack(
    item_vectors: Any,
    ids: Any = None,
    path: Path | str = "model.srec",
    *,
    fold: Any = None,
    counts: Any = None,
    fold_exponent: float = 0.0,
    log: Any = None,
    metadata: Any = None,
    budget: str | int | None = None,
    encoding: dict[str, Any] | None = None,
    page: Path | str | bool | None = None,
    quiet: bool = False,
) -> PackReport:
    """Write item vectors that somebody else has trained as a file, and a page, for a device; says what that loses.

    A user is the sum of the rows of `fold` (the item vectors themselves, unless given) for the items of a history, each
    times count^-`fold_exponent`; scores are products with the item vectors. `ids` are those of the rows, 0, 1, 2 .. by
    default; `counts` say how many users each item has, for what is popular; `metadata` gives titles and tags.

    Without a `budget` the smallest file is written that keeps 95 % of the top 20 lists of the float vectors, with one
    the best that fits. Lists are compared for the histories in `log` (anything that `fit` reads, or a user at a time),
    or for made-up ones. `encoding={"kind": "codes", "keep": 16}` asks for one way alone.

    >>> vectors = model.item_vectors
    >>> report = sparserec.pack(vectors, model.item_ids, folder / "own.srec", quiet=True)
    >>> report.kept > 0.9 and report.bytes == (folder / "own.srec").stat().st_size
    True
    >>> len(sparserec.load(folder / "own.srec").recommend(history=["i02"], k=5))
    5
    """
    packed = _checked(item_vectors, ids, fold, counts, fold_exponent, metadata)
    most = None if budget is None else parse_size(str(budget))
    histories = _made_up(packed.vectors.items) if log is None else _of_log(log, packed.ids)
    wanted = _tops(packed, packed.vectors.items, packed.vectors.fold[0], histories)
    found = []
    ways = list(_ways(packed.vectors, encoding))
    with progress("packing", len(ways), quiet) as bar:
        for way in ways:
            encoded = encode(packed.vectors, way)
            size = len(model_bytes(packed.parts(encoded)))
            items, fold_tables = encoded.read
            kept = _overlap(wanted, _tops(packed, items, fold_tables[0], histories))
            found.append((size, kept, way, encoded))
            bar.advance(1, f"{way.label}: {show_bytes(size)}, {kept:.1%}")
    size, kept, way, encoded = _chosen(found, most)
    path = Path(path)
    write_model(path, packed.parts(encoded)).self_test()
    if page is not None and page is not False:
        write_page(path.with_suffix(".html") if page is True else Path(page), path)
    in_order = sorted(found, key=_size)
    rows = [{"encoding": way.label, "bytes": size, "kept": kept} for size, kept, way, _ in in_order]
    about = f"{len(histories):,} {'made-up histories' if log is None else 'histories of the log'}"
    report = PackReport(path, path.stat().st_size, asdict(way), kept, rows, about)
    say(str(report), quiet)
    return report


Found = tuple[int, float, Encoding, EncodedVectors]


def _size(found: Found) -> int:
    return found[0]


def _chosen(found: list[Found], most: int | None) -> Found:
    fits = [one for one in found if most is None or one[0] <= most]
    if not fits:
        raise SettingError(
            f"budget {show_bytes(most or 0)}: the smallest file takes {show_bytes(min(found, key=_size)[0])}; "
            "raise the budget, or pack fewer items or shorter titles"
        )
    good = [one for one in fits if most is None and one[1] >= GOOD_ENOUGH]
    if good:
        return min(good, key=_size)
    return max(fits, key=lambda one: (one[1], -one[0]))


def _ways(vectors: Vectors, chosen: dict[str, Any] | None) -> Iterator[Encoding]:
    """The encodings to try: whole rows, their largest entries, their first axes, product codes."""
    dim, n_items = vectors.items.shape[1], len(vectors.items)
    fold = "shared" if vectors.fold[0] is vectors.items else "own"
    if chosen is not None:
        known = {**asdict(Encoding()), "fold": fold}
        wrong = chosen.keys() - known.keys()
        if wrong:
            raise SettingError(f"pack: an encoding has {', '.join(known)}, and no {wrong.pop()!r}")
        one = Encoding(**{**known, **chosen})
        if one.learnt or one.of.lists:
            raise SettingError(
                f"pack: encoding {one.label} is made from a training log, and here are vectors alone; int, gaps, "
                "prefix and codes, not learnt, can be had"
            )
        yield one
        return
    for bits, kind in ((8, "int"), (4, "int"), (3, "gaps"), (2, "gaps")):
        yield Encoding(bits, dim, fold, kind)  # type: ignore[arg-type]
    for share in (2, 4):
        if dim >= 4 * share:
            yield Encoding(4, dim // share, fold, "gaps")  # type: ignore[arg-type]
            yield Encoding(4, dim // share, fold, "prefix")  # type: ignore[arg-type]
            if n_items >= FEWEST_FOR_CODES:
                yield Encoding(8, dim // share, fold, "codes")  # type: ignore[arg-type]


def _checked(
    item_vectors: Any, ids: Any, fold: Any, counts: Any, fold_exponent: float, metadata: Any
) -> Packed:
    items = _matrix(item_vectors, "item_vectors")
    users = np.zeros((0, items.shape[1]), np.float32)
    other = items if fold is None else _matrix(fold, "fold")
    if other.shape != items.shape:
        raise DataError(
            f"fold has the shape {other.shape}, item_vectors {items.shape}: give a row for each item"
        )
    known = IdMap(np.arange(len(items)) if ids is None else np.asarray(ids))
    seen = np.ones(len(items), np.int64) if counts is None else np.asarray(counts)
    for name, length in (("ids", len(known)), ("counts", len(seen))):
        if length != len(items):
            raise DataError(f"{name}: {length:,} for {len(items):,} item vectors; give one for each")
    if seen.dtype.kind not in "iu" or (seen < 0).any():
        raise DataError("counts: whole numbers from 0, how many users each item has")
    fold_in = FoldInWeights(exponent=fold_exponent)
    with np.errstate(over="ignore"):
        weights = fold_in.weights(seen).astype(np.float32)
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise SettingError(
            f"pack: fold_exponent {fold_exponent}: counts of up to {seen.max():,} to the power of minus it are no "
            "weights"
        )
    info = None if metadata is None else read_item_info(metadata, known)
    vectors = Vectors(users, items, (other,), None)  # type: ignore[arg-type]
    return Packed(vectors, known, seen, fold_in, info)


def _matrix(values: Any, name: str) -> np.ndarray:
    try:
        matrix = np.ascontiguousarray(np.asarray(values), np.float32)
    except (TypeError, ValueError):
        raise DataError(f"{name}: {type(values).__name__} is no matrix of numbers") from None
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all():
        raise DataError(
            f"{name}: a matrix of finite numbers is needed, a row for each item; got {matrix.shape}"
        )
    return matrix


def _made_up(items: np.ndarray) -> list[np.ndarray]:
    """An item and those nearest to it, of some items drawn at random: what one person may like."""
    some = np.random.default_rng(0).permutation(len(items))[:MOST_HISTORIES]
    lengths = np.linalg.norm(items, axis=1, keepdims=True)
    unit = items / np.where(lengths > 0, lengths, 1)
    near = min(MADE_UP, len(items))
    return [
        one
        for at in range(0, len(some), AT_ONCE)
        for one in _best(unit[some[at : at + AT_ONCE]] @ unit.T, near)
    ]


def _of_log(log: Any, ids: IdMap) -> list[np.ndarray]:
    known = read_source(log).merged()
    items = ids.index_of(known.item_ids.external())[known.items]
    histories = [one[one >= 0] for one in np.split(items, known.offsets()[1:-1])]
    histories = [one for one in histories if len(one)]
    if not histories:
        raise DataError("log: none of its items has a vector")
    some = np.random.default_rng(0).permutation(len(histories))[:MOST_HISTORIES]
    return [histories[one] for one in some]


def _tops(packed: Packed, items: np.ndarray, fold: np.ndarray, histories: list[np.ndarray]) -> np.ndarray:
    """The top 20 of every history without its own items, (histories, 20)."""
    weights = packed.fold_in.weights(packed.counts).astype(np.float32)[:, None]
    tops = []
    for start in range(0, len(histories), AT_ONCE):
        some = histories[start : start + AT_ONCE]
        scores = np.stack([(weights[one] * fold[one]).sum(axis=0) for one in some]) @ items.T
        for row, one in zip(scores, some):
            row[one] = -np.inf
        tops.append(_best(scores, min(LENGTH, items.shape[0])))
    return np.concatenate(tops)


def _best(scores: np.ndarray, count: int) -> np.ndarray:
    return np.argsort(-scores, axis=1, kind="stable")[:, :count]


def _overlap(wanted: np.ndarray, found: np.ndarray) -> float:
    return float(np.mean([len(np.intersect1d(one, other)) / len(one) for one, other in zip(wanted, found)]))
