"""How big a data set is, and sizes and times as people read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparserec.data import Interactions, Source, Split
from sparserec.data.catalogue import find_named

TRAIN_SHARE = 0.7
"""Of `resplit` and `temporal`."""


def show_bytes(size: float) -> str:
    """A size as people read it: three digits and a unit of a thousand."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if abs(size) < 999.5 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if size >= 100 or unit == "bytes" else f"{size:.3g} {unit}"


def show_seconds(seconds: float) -> str:
    """A time as people read it."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@dataclass(frozen=True)
class Sizes:
    """Everything about a data set that the cost of a run depends on."""

    users: int
    items: int
    train: int
    held_out: int = 0
    timed: bool = False
    """Whether every interaction carries a time."""
    id_bytes: int = 0
    """Bytes of all external ids as they are held in memory."""
    held_out_users: int | None = None
    """Users with held-out items; None is all of them."""

    @property
    def nodes(self) -> int:
        return self.users + self.items

    @property
    def interactions(self) -> int:
        return self.train + self.held_out

    @property
    def ranked_users(self) -> int:
        return self.users if self.held_out_users is None else self.held_out_users

    @classmethod
    def of_split(cls, split: Split) -> Sizes:
        """Exact sizes of a split."""
        held_out = len(split.valid) + len(split.test)
        return cls(
            split.n_users, split.n_items, len(split.train), held_out, split.train.timestamps is not None,
            _id_bytes(split.train), len(np.unique(split.test.users)),
        )  # fmt: skip

    @classmethod
    def of_source(cls, source: Source, protocol: str) -> Sizes:
        """Sizes before splitting; the parts of `resplit` and `temporal` by their shares."""
        total = sum(len(part) for part in source.parts.values())
        train = round(TRAIN_SHARE * total) if protocol in ("resplit", "temporal") else len(source.train)
        timed = source.train.timestamps is not None
        ids = _id_bytes(source.train)
        return cls(source.train.n_users, source.train.n_items, train, total - train, timed, ids)

    @classmethod
    def of_named(cls, name: str, protocol: str) -> Sizes | None:
        """Sizes of a data set of the catalogue without reading it; None where it is no such name."""
        entry = find_named(name)
        if entry is None:
            return None
        total = sum(entry.parts.values())
        mixed = protocol in ("resplit", "temporal") or "train" not in entry.parts
        train = round(TRAIN_SHARE * total) if mixed else entry.parts["train"]
        return cls(entry.users, entry.items, train, total - train, id_bytes=8 * (entry.users + entry.items))


def _id_bytes(part: Interactions) -> int:
    return int(part.user_ids.external().nbytes + part.item_ids.external().nbytes)
