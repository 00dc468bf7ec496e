"""How big a data set is, and sizes and times as people read them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparserec.data import Interactions, Source, Split, find_named, new_users, train_share
from sparserec.exploration import SAMPLED_USERS


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
    """Users ranked at once: those with validation or with test items, whichever are more; None is all of them."""
    new_users: int = 0
    """Users held out whole: they have rows, but nothing trains on them and the test is about them alone."""

    @property
    def nodes(self) -> int:
        return self.users + self.items

    @property
    def interactions(self) -> int:
        return self.train + self.held_out

    @property
    def factorised_nodes(self) -> int:
        """Users and items whose factors are descended to together: of very many users a sample."""
        return min(self.users, SAMPLED_USERS) + self.items

    @property
    def ranked_users(self) -> int:
        return self.users if self.held_out_users is None else self.held_out_users

    @property
    def trained_users(self) -> int:
        return self.users - self.new_users

    @property
    def tested_users(self) -> int:
        return self.new_users or self.ranked_users

    def everything(self) -> Sizes:
        """Sizes of a training that holds nothing and nobody out."""
        return replace(self, train=self.interactions, held_out=0, new_users=0)

    @classmethod
    def of_split(cls, split: Split) -> Sizes:
        """Exact sizes of a split."""
        held_out = len(split.test) + sum(len(part) for part in split.known_at_test)
        ranked = max(len(np.unique(part.users)) for part in (split.valid, split.test))
        new = 0 if split.given is None else len(np.union1d(split.given.users, split.test.users))
        return cls(
            split.n_users,
            split.n_items,
            len(split.train),
            held_out,
            split.train.timestamps is not None,
            _id_bytes(split.train),
            ranked,
            new,
        )

    @classmethod
    def of_counts(
        cls,
        users: int,
        items: int,
        parts: dict[str, int],
        protocol: str,
        timed: bool = False,
        id_bytes: int | None = None,
        measured: int | None = None,
    ) -> Sizes:
        """Sizes before splitting, from how many interactions each part has and the shares of the protocol.

        With `measured` something is held out of so many users only.
        """
        total = sum(parts.values())
        train = round(train_share(protocol, parts) * total)
        new = new_users(users) if protocol == "new-users" else 0
        ids = 8 * (users + items) if id_bytes is None else id_bytes
        if measured is not None and measured < users:
            held_out = round((total - train) * measured / users)
            return cls(users, items, total - held_out, held_out, timed, ids, measured)
        return cls(
            users, items, train, total - train, timed, ids, max(users - new, new) if new else None, new
        )

    @classmethod
    def of_source(cls, source: Source, protocol: str, measured: int | None = None) -> Sizes:
        """Sizes of data that was read and is not split yet."""
        train, parts = source.train, {name: len(part) for name, part in source.parts.items()}
        timed = train.timestamps is not None
        sizes = train.n_users, train.n_items, parts
        return cls.of_counts(*sizes, protocol, timed, _id_bytes(train), measured)

    @classmethod
    def of_named(cls, name: str, protocol: str) -> Sizes | None:
        """Sizes of a data set of the catalogue without reading it; None where it is no such name."""
        entry = find_named(name)
        return None if entry is None else cls.of_counts(entry.users, entry.items, entry.parts, protocol)


def _id_bytes(part: Interactions) -> int:
    return int(part.user_ids.external().nbytes + part.item_ids.external().nbytes)
