"""Split protocols: named, seeded and recorded with a hash, because numbers of two splits must never be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparserec.data.interactions import Interactions
from sparserec.data.problems import ProtocolError
from sparserec.data.source import Source

Parts = tuple[Interactions, Interactions, Interactions]
_SPLIT_STREAM = 0x5EED5


@dataclass(frozen=True, eq=False)
class Split:
    """Train, validation and test interactions over the same users and items."""

    train: Interactions
    valid: Interactions
    test: Interactions
    protocol: str
    seed: int
    hash: str
    """SHA-256 of the three parts in terms of external ids; renumbering does not change it."""

    @classmethod
    def of(
        cls, train: Interactions, valid: Interactions, test: Interactions, protocol: str, seed: int
    ) -> Split:
        """Build a split and its hash."""
        parts = " ".join(part.pair_hash() for part in (train, valid, test))
        return cls(train, valid, test, protocol, seed, hashlib.sha256(parts.encode()).hexdigest())

    @property
    def n_users(self) -> int:
        return self.train.n_users

    @property
    def n_items(self) -> int:
        return self.train.n_items

    def relabel(self, user_order: np.ndarray, item_order: np.ndarray) -> Split:
        """Renumber users and items in all parts; see Interactions.relabel."""
        train, valid, test = (
            part.relabel(user_order, item_order) for part in (self.train, self.valid, self.test)
        )
        return Split(train, valid, test, self.protocol, self.seed, self.hash)


def split_interactions(source: Source, protocol: str, seed: int = 0) -> Split:
    """Split by a named protocol. The same source, protocol and seed give the same split on every machine."""
    if protocol not in PROTOCOLS:
        raise ProtocolError(f"unknown split protocol {protocol!r}; known: {', '.join(PROTOCOLS)}")
    if seed < 0:
        raise ProtocolError(f"the split seed must not be negative (got {seed})")
    train, valid, test = PROTOCOLS[protocol](source, seed)
    if len(train) == 0:
        raise ProtocolError(f"protocol {protocol!r} leaves no training interactions; the data has too few")
    return Split.of(train, valid, test, protocol, seed)


def _resplit(source: Source, seed: int) -> Parts:
    """Merge all parts and split each user's interactions at random, 70/10/20."""
    merged = source.merged()
    return _cut(merged, _random_rank(merged, seed))


def _temporal(source: Source, seed: int) -> Parts:
    """Merge all parts; each user's last 20 % by time are the test set, the 10 % before them validation."""
    merged = source.merged()
    if merged.timestamps is None:
        raise ProtocolError(
            "protocol 'temporal' needs a timestamp column in every file; name it with --time-col"
        )
    return _cut(merged, _rank_within_user(merged, np.lexsort((merged.timestamps, merged.users))))


def _public(source: Source, seed: int) -> Parts:
    """The source's own test set; one eighth of each user's train (rounded) as validation, at random."""
    train, test = source.train, _own_test(source, "public")
    counts = train.user_counts()
    first_valid = (counts - (counts + 4) // 8)[train.users]
    in_train = _random_rank(train, seed) < first_valid
    return train.select(in_train), train.select(~in_train), test


def _public_full(source: Source, seed: int) -> Parts:
    """All of the source's train and its own test set; no validation, for comparison with published numbers."""
    return source.train, _nothing(source.train), _own_test(source, "public-full")


def _files(source: Source, seed: int) -> Parts:
    """The parts exactly as they were given."""
    return source.train, source.valid or _nothing(source.train), _own_test(source, "files")


PROTOCOLS: dict[str, Callable[[Source, int], Parts]] = {
    "resplit": _resplit,
    "public": _public,
    "public-full": _public_full,
    "temporal": _temporal,
    "files": _files,
}


def _own_test(source: Source, protocol: str) -> Interactions:
    if source.valid is not None and protocol != "files":
        raise ProtocolError(
            f"protocol {protocol!r} has no use for a validation file, but there is one: use 'files'"
        )
    if source.test is None:
        raise ProtocolError(
            f"protocol {protocol!r} needs a test file of its own, but there is none: use 'resplit'"
        )
    return source.test


def _nothing(like: Interactions) -> Interactions:
    return like.select(np.zeros(len(like), bool))


def _cut(whole: Interactions, rank: np.ndarray) -> Parts:
    """First 70 % of each user by rank to train, 10 % to validation, 20 % to test.

    Test is a fifth and validation a tenth of a user's count, each rounded half up, so train keeps at least one.
    """
    counts = whole.user_counts()
    first_test = counts - (2 * counts + 5) // 10
    first_valid = first_test - (counts + 5) // 10
    in_train = rank < first_valid[whole.users]
    in_test = rank >= first_test[whole.users]
    return whole.select(in_train), whole.select(~in_train & ~in_test), whole.select(in_test)


def _random_rank(interactions: Interactions, seed: int) -> np.ndarray:
    """Rank of each interaction in a random order of its user's.

    Raw generator output is used because numpy promises it never changes, unlike its shuffles.
    """
    raw = np.random.PCG64(np.random.SeedSequence([_SPLIT_STREAM, seed])).random_raw(len(interactions))
    key = (interactions.users.astype(np.uint64) << np.uint64(32)) | (raw >> np.uint64(32))
    return _rank_within_user(interactions, np.argsort(key, kind="stable"))


def _rank_within_user(interactions: Interactions, order: np.ndarray) -> np.ndarray:
    """Position of each interaction among its user's, when `order` lists interactions user by user."""
    rank = np.empty(len(interactions), np.int32)
    rank[order] = np.arange(len(interactions), dtype=np.int32) - interactions.offsets()[interactions.users]
    return rank
