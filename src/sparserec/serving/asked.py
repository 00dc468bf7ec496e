"""What can be asked of a model, be it a run folder or an exported file: one set of questions and of checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparserec.serving.answers import Explanation, Identifier, NamedItem, Recommendations
from sparserec.serving.questions import asks_for_many, check_length, check_who, wanted_length


@dataclass(frozen=True)
class Wanted:
    """Which items may be recommended: all, or those in `allow`; none in `deny`, and none that the user has."""

    allow: list[Identifier] | None
    deny: list[Identifier]
    exclude_seen: bool

    @classmethod
    def of(
        cls, allow: Iterable[Identifier] | None, deny: Iterable[Identifier] | None, exclude_seen: bool
    ) -> Wanted:
        return cls(None if allow is None else list(allow), list(deny or ()), exclude_seen)


class AskedModel(ABC):
    """The questions. Whether they make sense is checked here; the two kinds of models answer them below."""

    about_one_user: bool = False
    """Whether there is one user alone, who need not be named."""

    @property
    @abstractmethod
    def n_items(self) -> int:
        """Items that can be recommended."""

    def recommend(
        self,
        user: Identifier | Sequence[Identifier] | np.ndarray | None = None,
        history: Sequence[Identifier] | None = None,
        k: int = 20,
        exclude_seen: bool = True,
        allow: Iterable[Identifier] | None = None,
        deny: Iterable[Identifier] | None = None,
        *,
        N: int | None = None,
    ) -> Any:
        """The k best items for a user of the log, or for anybody with this history of item ids.

        A list or array of users gives `ids, scores`, two arrays with a row per user, as `implicit` does (`N` is its
        name for `k`); rows of users for whom fewer than k items are left end in scores of -inf and ids of -1 or "".
        `exclude_seen` leaves out all that the log holds of the user, validation and test part included, and the
        history. Only items in `allow` are recommended, none in `deny`. Without any history: the most popular items.
        A file of mode `items` knows no users: give a history.
        """
        k = wanted_length(k, N, self.n_items)
        check_who(user, history, self.about_one_user)
        wanted = Wanted.of(allow, deny, exclude_seen)
        if asks_for_many(user):
            return self._recommend_many(list(user), k, wanted)  # type: ignore[arg-type]
        return self._recommend(user, history, k, wanted)  # type: ignore[arg-type]

    def explain(
        self,
        user: Identifier | None = None,
        history: Sequence[Identifier] | None = None,
        *,
        item: Identifier,
    ) -> Explanation:
        """Which items of the history speak for `item`, and how much: the contributions add up to the score.

        That is exact for a history. A user of the log is explained by folding the train history in, which comes close
        to the trained vector but is not it; `trained_score` is what the trained vector gives. In a file a user is
        explained from the history that it holds.
        """
        check_who(user, history, self.about_one_user)
        return self._explain(user, history, item)

    def similar(self, item: Identifier, k: int = 20) -> Recommendations:
        """The items whose vectors point in the direction nearest to that of `item` (cosine)."""
        check_length(k, self.n_items - 1)
        return self._similar(item, k)

    @abstractmethod
    def find(self, name: Identifier) -> list[NamedItem]:
        """The item with this id, or else those with this title, or else those whose titles hold these words."""

    @abstractmethod
    def _recommend(
        self, user: Identifier | None, history: Sequence[Identifier] | None, k: int, wanted: Wanted
    ) -> Recommendations:
        """The best items for one user or history."""

    @abstractmethod
    def _recommend_many(
        self, users: list[Identifier], k: int, wanted: Wanted
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ids and scores, a row per user."""

    @abstractmethod
    def _explain(
        self, user: Identifier | None, history: Sequence[Identifier] | None, item: Identifier
    ) -> Explanation:
        """What speaks for an item."""

    @abstractmethod
    def _similar(self, item: Identifier, k: int) -> Recommendations:
        """The most similar items."""
