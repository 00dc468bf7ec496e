"""What tables of a file are made from: the vectors of a model, its log, and what was chosen for both."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sparserec.data import Interactions, Split
from sparserec.encodings.base import EncodedVectors, Encoding
from sparserec.evaluation import some_users
from sparserec.progress import say
from sparserec.recommenders import Vectors

USERS_TO_CHOOSE_BY = 10_000

Learnt = Callable[[np.ndarray], EncodedVectors]
"""What goes into a file that knows some items only."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """Settings that are chosen on validation, once for all models of an export and only where they are asked for."""

    split: Split
    quiet: bool = True
    chosen: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def truth(self) -> Interactions:
        return some_users(self.split.valid, USERS_TO_CHOOSE_BY)

    def settings(self, what: str, default: Any, choose: Callable[[Split, Interactions], Any]) -> Any:
        """Those of `what`, or the default where there is nothing to choose by."""
        if len(self.split.valid) == 0:
            return default
        if what not in self.chosen:
            say(f"choosing {what}", self.quiet)
            self.chosen[what] = choose(self.split, self.truth)
        return self.chosen[what]


@dataclass(frozen=True, eq=False)
class Material:
    """Of one model. What a kind computes for one encoding it may keep here for its next."""

    vectors: Vectors
    train: Interactions | None = None
    chosen: Chosen | None = None
    list_users: int = 1
    """People who must have an item, or both of a pair, for it to be in a list."""
    kept: dict[Hashable, Any] = field(default_factory=dict)

    @cached_property
    def users_of_items(self) -> np.ndarray:
        assert self.train is not None
        return self.train.item_counts()

    def once(self, name: Hashable, make: Callable[[], Any]) -> Any:
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]


def encode(vectors: Vectors, encoding: Encoding) -> EncodedVectors:
    """Scoring table and fold-in tables of vectors alone, as they go into a file."""
    encoded = encoding.of.encode(encoding, Material(vectors))
    assert isinstance(encoded, EncodedVectors)
    return encoded
