"""Split protocols: named, seeded and recorded with a hash, because numbers of two splits must never be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sparserec import streams
from sparserec.data.columns import Source
from sparserec.data.errors import ProtocolError
from sparserec.data.interactions import Interactions, join

Parts = tuple[Interactions, ...]
"""Train, validation, test and, where users are held out whole, what is given of them."""

TEST, VALID = Fraction(1, 5), Fraction(1, 10)
"""Of each user's interactions, where a protocol merges all parts."""
NEW_USERS = Fraction(1, 10)
"""Users that `new-users` holds out whole."""
OWN_VALID = Fraction(1, 8)
"""Of each user's train part, where the data has a test part of its own and no validation."""


@dataclass(frozen=True, eq=False)
class Split:
    """Train, validation and test interactions over the same users and items."""

    train: Interactions
    valid: Interactions
    test: Interactions
    protocol: str
    seed: int
    hash: str
    """SHA-256 of all parts in terms of external ids; renumbering does not change it."""
    given: Interactions | None = None
    """Where the users of the test part are held out whole: their known history, which nothing is trained on."""

    @classmethod
    def of(
        cls,
        train: Interactions,
        valid: Interactions,
        test: Interactions,
        protocol: str,
        seed: int,
        given: Interactions | None = None,
    ) -> Split:
        """Build a split and its hash."""
        parts = (train, valid, test) if given is None else (train, valid, test, given)
        hashes = " ".join(part.pair_hash() for part in parts)
        return cls(train, valid, test, protocol, seed, hashlib.sha256(hashes.encode()).hexdigest(), given)

    @property
    def n_users(self) -> int:
        return self.train.n_users

    @property
    def n_items(self) -> int:
        return self.train.n_items

    @property
    def known_at_test(self) -> tuple[Interactions, ...]:
        """What is hidden besides train when the test part is measured."""
        return (self.valid,) if self.given is None else (self.valid, self.given)

    def everything(self) -> Interactions:
        """All that is known of the users, whatever part it was put in."""
        given = () if self.given is None else (self.given,)
        return join([part for part in (self.train, self.valid, self.test, *given) if len(part)])

    def relabel(self, user_order: np.ndarray, item_order: np.ndarray) -> Split:
        """Renumber users and items in all parts; see Interactions.relabel."""
        train, valid, test = (
            part.relabel(user_order, item_order) for part in (self.train, self.valid, self.test)
        )
        given = None if self.given is None else self.given.relabel(user_order, item_order)
        return Split(train, valid, test, self.protocol, self.seed, self.hash, given)


def split_interactions(
    source: Source, protocol: str, seed: int = 0, held_out_users: int | None = None
) -> Split:
    """Split by a named protocol. The same source, protocol and seed give the same split on every machine.

    With `held_out_users` only so many users, drawn at random, have anything held out: enough to measure a large log by.
    """
    if protocol not in PROTOCOLS:
        raise ProtocolError(f"unknown split protocol {protocol!r}; known: {', '.join(PROTOCOLS)}")
    if seed < 0:
        raise ProtocolError(f"the split seed must not be negative (got {seed})")
    if held_out_users is None:
        train, valid, test, *given = PROTOCOLS[protocol](source, seed)
    elif protocol in SAMPLING:
        train, valid, test, *given = SAMPLING[protocol](source, seed, held_out_users)
    else:
        raise ProtocolError(
            f"held_out_users is for the protocols {' and '.join(SAMPLING)}: with {protocol!r} files or whole "
            "users are held out"
        )
    if len(train) == 0:
        raise ProtocolError(f"protocol {protocol!r} leaves no training interactions; the data has too few")
    return Split.of(train, valid, test, protocol, seed, *given)


def _resplit(source: Source, seed: int, users: int | None = None) -> Parts:
    """Merge all parts and split each user's interactions at random, 70/10/20."""
    merged = source.merged()
    return _cut(merged, _random_rank(merged, seed), users, seed)


def _temporal(source: Source, seed: int, users: int | None = None) -> Parts:
    """Merge all parts; each user's last 20 % by time are the test set, the 10 % before them validation."""
    merged = source.merged()
    if merged.timestamps is None:
        raise ProtocolError(
            "protocol 'temporal' needs a timestamp column in every file; name it with `time_col`"
        )
    rank = _rank_within_user(merged, np.lexsort((merged.timestamps, merged.users)))
    return _cut(merged, rank, users, seed)


def _public(source: Source, seed: int) -> Parts:
    """The source's own test set; one eighth of each user's train (rounded) as validation, at random."""
    test = _own_test(source, "public")
    return *_without_an_eighth(source.train, seed), test


def _public_full(source: Source, seed: int) -> Parts:
    """All of the source's train and its own test set; no validation, for comparison with published numbers."""
    nothing = source.train.select(np.zeros(len(source.train), bool))
    return source.train, nothing, _own_test(source, "public-full")


def _files(source: Source, seed: int) -> Parts:
    """The parts as they were given; without a validation file it is one eighth of each user's train, at random.

    Something has to choose the epoch, and it must not be the test set. `public-full` trains on all of train.
    """
    test = _own_test(source, "files")
    if source.valid is not None:
        return source.train, source.valid, test
    return *_without_an_eighth(source.train, seed), test


def _new_users(source: Source, seed: int) -> Parts:
    """Merge all parts and hold a tenth of the users out whole, at least one: how good is the model for newcomers?

    A random fifth of what they have is the test, the rest is given to fold them in. Of everybody else a tenth is
    validation. All shares are rounded half up.
    """
    merged = source.merged()
    counts, rank = merged.user_counts(), _random_rank(merged, seed)
    users = np.flatnonzero(counts)
    new = _drawn(users, len(counts), new_users(len(users)), streams.SPLIT_USERS, seed)[merged.users]
    held_out = np.where(new, _of(TEST, counts)[merged.users], _of(VALID, counts)[merged.users])
    kept = rank < counts[merged.users] - held_out
    train, given = merged.select(~new & kept), merged.select(new & kept)
    valid, test = merged.select(~new & ~kept), merged.select(new & ~kept)
    if len(valid) == 0 or len(test) == 0:
        raise ProtocolError(
            "protocol 'new-users' finds nothing to validate or to test on: it needs other users with at least 5 "
            "interactions and a held-out one with at least 3; bring more data or use 'resplit'"
        )
    return train, valid, test, given


def own_protocol(source: Source) -> str:
    """The protocol for who names none: a test file that came with the data is what its owner means by test."""
    return "resplit" if source.test is None else "files"


PROTOCOLS: dict[str, Callable[[Source, int], Parts]] = {
    "resplit": _resplit,
    "public": _public,
    "public-full": _public_full,
    "temporal": _temporal,
    "files": _files,
    "new-users": _new_users,
}
SAMPLING: dict[str, Callable[[Source, int, int], Parts]] = {"resplit": _resplit, "temporal": _temporal}
"""Protocols that can hold out something of some users only."""


def train_share(protocol: str, parts: dict[str, int]) -> float:
    """About the share of all interactions that a protocol trains on; `parts` counts those of each part."""
    if protocol in ("resplit", "temporal"):
        return float(1 - TEST - VALID)
    if protocol == "new-users":
        return float((1 - NEW_USERS) * (1 - VALID))
    kept = 1 if protocol == "public-full" or "valid" in parts else 1 - OWN_VALID
    return float(kept) * parts["train"] / max(sum(parts.values()), 1)


def new_users(users: int) -> int:
    """How many of so many users `new-users` holds out whole."""
    return max(1, int(_of(NEW_USERS, np.array(users))))


def _of(share: Fraction, counts: np.ndarray) -> np.ndarray:
    """A share of each count, rounded half up."""
    return (2 * share.numerator * counts + share.denominator) // (2 * share.denominator)


def _without_an_eighth(train: Interactions, seed: int) -> tuple[Interactions, Interactions]:
    """Train without one eighth of each user's interactions (rounded), and those."""
    counts = train.user_counts()
    kept = _random_rank(train, seed) < (counts - _of(OWN_VALID, counts))[train.users]
    return train.select(kept), train.select(~kept)


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


def _cut(whole: Interactions, rank: np.ndarray, held_out_users: int | None, seed: int) -> Parts:
    """First 70 % of each user by rank to train, 10 % to validation, 20 % to test.

    Test is a fifth and validation a tenth of a user's count, each rounded half up, so train keeps at least one. Of
    users beyond `held_out_users` drawn ones everything is train.
    """
    counts = whole.user_counts()
    first_test = counts - _of(TEST, counts)
    first_valid = first_test - _of(VALID, counts)
    if held_out_users is not None:
        measurable = np.flatnonzero(first_test < counts)
        others = ~_drawn(measurable, len(counts), held_out_users, streams.SPLIT_MEASURED, seed)
        first_test[others] = first_valid[others] = counts[others]
    in_train = rank < first_valid[whole.users]
    in_test = rank >= first_test[whole.users]
    return whole.select(in_train), whole.select(~in_train & ~in_test), whole.select(in_test)


def _drawn(users: np.ndarray, n_users: int, count: int, stream: int, seed: int) -> np.ndarray:
    """Marks `count` of these users, drawn at random."""
    raw = np.random.PCG64(np.random.SeedSequence([stream, seed])).random_raw(len(users))
    chosen = np.zeros(n_users, bool)
    chosen[users[np.argsort(raw, kind="stable")[:count]]] = True
    return chosen


def _random_rank(interactions: Interactions, seed: int) -> np.ndarray:
    """Rank of each interaction in a random order of its user's.

    Raw generator output is used because numpy promises it never changes, unlike its shuffles.
    """
    raw = np.random.PCG64(np.random.SeedSequence([streams.SPLIT, seed])).random_raw(len(interactions))
    key = (interactions.users.astype(np.uint64) << np.uint64(32)) | (raw >> np.uint64(32))
    return _rank_within_user(interactions, np.argsort(key, kind="stable"))


def _rank_within_user(interactions: Interactions, order: np.ndarray) -> np.ndarray:
    """Position of each interaction among its user's, when `order` lists interactions user by user."""
    rank = np.empty(len(interactions), np.int32)
    rank[order] = np.arange(len(interactions), dtype=np.int32) - interactions.offsets()[interactions.users]
    return rank
