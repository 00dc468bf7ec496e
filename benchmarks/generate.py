"""A made-up log of any size, as Parquet parts: users of lognormal activity, items of Zipf popularity, groups of taste.

    python benchmarks/generate.py FOLDER --users 1000000 --items 300000 --interactions 42000000

Pairs are unique and drawn a chunk of users at a time, so that memory does not grow with the log.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

GROUP_ITEMS = 1500
OWN_GROUP = 0.6
"""Share of a user's draws that fall into their own group of items."""
ZIPF, FLAT_TOP = 0.9, 30
"""Popularity is (rank + FLAT_TOP)^-ZIPF: even the best known item is not everybody's."""
SPREAD = 1.1
"""Standard deviation of the logarithm of users' activity: the busiest hundredth makes about a ninth of the log."""
USERS_AT_ONCE = 50_000
EXTRA = 1.6
"""Draws per pair wanted: popular items are drawn twice by the same user, and repeats go."""


class Catalogue:
    """Items in order of their group, with what is needed to draw from all of them or from one group."""

    def __init__(self, n_items: int, rng: np.random.Generator) -> None:
        self.n_groups = max(1, n_items // GROUP_ITEMS)
        popularity = (FLAT_TOP + np.arange(n_items)) ** -ZIPF
        group = rng.integers(0, self.n_groups, n_items)
        order = np.argsort(group, kind="stable")
        self.names = order.astype(np.int32)
        self.ends = np.cumsum(popularity[order])
        firsts = np.searchsorted(group[order], np.arange(self.n_groups + 1))
        self.bounds = np.concatenate([[0.0], self.ends])[firsts]

    def draw(self, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """An item for every draw, from the group named beside it or, now and then, from anywhere."""
        own = rng.random(len(groups)) < OWN_GROUP
        low = np.where(own, self.bounds[groups], 0.0)
        high = np.where(own, self.bounds[groups + 1], self.ends[-1])
        places = np.searchsorted(self.ends, low + rng.random(len(groups)) * (high - low), side="right")
        return self.names[np.minimum(places, len(self.names) - 1)]


def activity(n_users: int, n_interactions: int, n_items: int, rng: np.random.Generator) -> np.ndarray:
    """Interactions of every user, at least one, at most a third of the catalogue, with the wanted sum."""
    wanted = rng.lognormal(0.0, SPREAD, n_users)
    counts = np.clip(np.floor(wanted * n_interactions / wanted.sum()), 1, max(1, n_items // 3)).astype(
        np.int64
    )
    missing = n_interactions - int(counts.sum())
    chosen = rng.choice(n_users, abs(missing), replace=abs(missing) > n_users)
    np.add.at(counts, chosen, np.sign(missing))
    return np.maximum(counts, 1)


def chunk_pairs(
    first: int, counts: np.ndarray, catalogue: Catalogue, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Users and items of a chunk of users who begin with number `first`: at most counts[j] distinct ones each."""
    groups = rng.integers(0, catalogue.n_groups, len(counts))
    draws = np.ceil(EXTRA * counts).astype(np.int64) + 1
    owners = np.repeat(np.arange(len(counts)), draws)
    key = owners << 32 | catalogue.draw(groups[owners], rng)
    key = np.unique(key)
    owners = (key >> 32).astype(np.int32)
    order = np.lexsort((rng.random(len(key), np.float32), owners))  # which of a user's draws stay is random
    starts = np.searchsorted(owners, np.arange(len(counts)))
    kept = order[np.arange(len(key)) - starts[owners[order]] < counts[owners[order]]]
    return owners[kept] + np.int32(first), (key[kept] & 0xFFFFFFFF).astype(np.int32)


def generate(folder: Path, users: int, items: int, interactions: int, seed: int) -> int:
    """Write the parts; returns how many pairs there are."""
    rng = np.random.default_rng(seed)
    catalogue, counts = Catalogue(items, rng), activity(users, interactions, items, rng)
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for part, first in enumerate(range(0, users, USERS_AT_ONCE)):
        columns = chunk_pairs(first, counts[first : first + USERS_AT_ONCE], catalogue, rng)
        table = pa.table(dict(zip(("user", "item"), columns)))
        parquet.write_table(table, folder / f"part-{part:04}.parquet")
        total += table.num_rows
    return total


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=300_000)
    parser.add_argument("--interactions", type=int, default=42_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    made = generate(**vars(arguments))
    print(f"{arguments.folder}: {arguments.users:,} users, {arguments.items:,} items, {made:,} interactions")


if __name__ == "__main__":
    main()
