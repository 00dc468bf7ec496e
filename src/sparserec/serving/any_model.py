"""What can be asked of a model, be it a run folder or an exported file: one set of questions and of checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from sparserec.serving.answers import Explanation, Identifier, ManyRecommendations, NamedItem, Recommendations
from sparserec.serving.questions import (
    Past,
    QuestionError,
    Wanted,
    asks_for_many,
    check_length,
    check_who,
    histories,
    id_list,
    identifier,
    is_one,
    listed,
    wanted_length,
    weights_of_each,
)


class AnyModel(ABC):
    """The questions. Whether they make sense is checked here; the two kinds of models answer them below."""

    about_one_user: bool = False
    """Whether there is one user alone, who need not be named."""

    @property
    @abstractmethod
    def n_items(self) -> int:
        """Items that can be recommended."""

    @property
    @abstractmethod
    def item_ids(self) -> np.ndarray:
        """Ids of the items, whole numbers or texts; rows of `item_vectors` are in this order.

        >>> sorted(model.item_ids.tolist())[:3]
        ['i00', 'i01', 'i02']
        """

    @property
    @abstractmethod
    def item_vectors(self) -> np.ndarray:
        """Vectors of the items, float32 with a row for each: what an index such as usearch or faiss is built from.

        Scores are dot products with `user_vector`.

        >>> model.item_vectors.shape[0] == len(model.item_ids)
        True
        """

    def recommend(
        self,
        user: Any = None,
        history: Any = None,
        k: int = 20,
        exclude_seen: bool = True,
        allow: Iterable[Identifier] | None = None,
        deny: Iterable[Identifier] | None = None,
        *,
        weights: Any = None,
        tags: str | Iterable[str] | None = None,
        N: int | None = None,
    ) -> Any:
        """The k best items for a user of the log, or for anybody with this history of item ids.

        Ids come in any iterable: a list, an array, a column of a data frame; a text alone is one id. `weights` say what
        each item of a history counts for: negative for a dislike, smaller for what is long ago. `exclude_seen` leaves
        out all that the log holds of the user, validation and test part included, and the history. Only items in
        `allow` and with one of `tags` are recommended, none in `deny`. Without any history: the most popular items. A
        file of mode `items` knows no users: give a history.

        Several users, or several histories in a list, are answered together: `ids, scores`, two arrays with a row for
        each, as `implicit` does (`N` is its name for `k`). Rows for which fewer than k items are left end in scores of
        -inf and ids of -1 or "". All answers have `to_frame()`.

        >>> model.recommend("u05", k=3).basis
        'trained'
        >>> {item.title[-6:] for item in model.recommend(history=["i02", "i06"], k=3)}
        {'kind 2'}
        >>> model.recommend(history=["i02", "i06"], weights=[1, -1], tags="kind 2", k=2).basis
        'history'
        >>> ids, scores = model.recommend(["u05", "u06"], k=4)
        >>> ids.shape
        (2, 4)
        >>> list(model.recommend(history=[["i02"], ["i03", "i07"]], k=1).to_frame().columns)
        ['history', 'rank', 'item', 'title', 'score']
        """
        k = wanted_length(k, N, self.n_items)
        check_who(user, history, weights, self.about_one_user)
        wanted = Wanted.of(allow, deny, exclude_seen, tags)
        if asks_for_many(user):
            users = id_list(user, "user")
            return self._many(*self._recommend_many(users, k, wanted), "user", users)
        history = listed(history)
        several = histories(history)
        if several is not None:
            each = zip(several, weights_of_each(weights, len(several)))
            found = [self._recommend(None, Past.of(*one), k, wanted) for one in each]
            return self._many(*self._padded(found, k), "history", list(range(len(found))))
        return self._recommend(*_about(user, history, weights), k, wanted)

    def explain(
        self, user: Any = None, history: Any = None, *, item: Identifier, weights: Any = None
    ) -> Explanation:
        """Which items of the history speak for `item`, and how much: the contributions add up to the score.

        That is exact for a history. A user of the log is explained by folding the train history in, which comes close
        to the trained vector but is not it; `trained_score` is what the trained vector gives. In a file a user is
        explained from the history that it holds.

        >>> why = model.explain(history=["i02", "i06"], item="i10")
        >>> sorted(part.id for part in why.contributions)
        ['i02', 'i06']
        """
        check_who(user, history, weights, self.about_one_user)
        return self._explain(*_about(user, history, weights), identifier(item, "item"))

    def similar(self, item: Identifier, k: int = 20) -> Recommendations:
        """The items whose vectors point in the direction nearest to that of `item` (cosine).

        >>> model.similar("i03", k=2).to_frame()["title"].str[-6:].tolist()
        ['kind 3', 'kind 3']
        """
        if not is_one(item):
            raise QuestionError(
                "item: one at a time; ask for the similar ones of each, or recommend(history=..)"
            )
        check_length(k, self.n_items - 1)
        return self._similar(identifier(item, "item"), int(k))

    def user_vector(self, user: Any = None, history: Any = None, *, weights: Any = None) -> np.ndarray:
        """The vector of a user of the log or of a history, float32: `item_vectors @ user_vector` are the scores.

        >>> bool((model.item_vectors @ model.user_vector("u05")).argmax() >= 0)
        True
        """
        check_who(user, history, weights, self.about_one_user)
        return self._user_vector(*_about(user, history, weights))

    @abstractmethod
    def find(self, name: Identifier) -> list[NamedItem]:
        """The item with this id, or else those with this title, or else those whose titles hold these words.

        >>> [found.id for found in model.find("place 7")]
        ['i07']
        """

    @abstractmethod
    def _recommend(
        self, user: Identifier | None, history: Past | None, k: int, wanted: Wanted
    ) -> Recommendations:
        """The best items for one user or history."""

    @abstractmethod
    def _recommend_many(
        self, users: list[Identifier], k: int, wanted: Wanted
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ids and scores, a row per user."""

    @abstractmethod
    def _explain(self, user: Identifier | None, history: Past | None, item: Identifier) -> Explanation:
        """What speaks for an item."""

    @abstractmethod
    def _similar(self, item: Identifier, k: int) -> Recommendations:
        """The most similar items."""

    @abstractmethod
    def _user_vector(self, user: Identifier | None, history: Past | None) -> np.ndarray:
        """The vector that scores are made with."""

    @abstractmethod
    def _title_of(self, item: Identifier) -> str | None:
        """What an item is called, where items have titles."""

    def _padded(self, found: list[Recommendations], k: int) -> tuple[np.ndarray, np.ndarray]:
        """Lists of at most k items as two arrays."""
        whole = self.item_ids.dtype.kind == "i"
        blank: Identifier = -1 if whole else ""
        rows = [[*one.ids, *[blank] * (k - len(one))] for one in found]
        ids = np.array(rows, np.int64 if whole else None).reshape(len(found), k)
        scores = np.array([one.scores + [-np.inf] * (k - len(one)) for one in found], np.float32)
        return ids, scores.reshape(len(found), k)

    def _many(
        self, ids: np.ndarray, scores: np.ndarray, kind: str, who: list[Identifier]
    ) -> ManyRecommendations:
        return ManyRecommendations(ids, scores, kind, who, self._title_of)


def _about(user: Any, history: Any, weights: Any) -> tuple[Identifier | None, Past | None]:
    """The user, or the history, as plain values."""
    past = None if history is None else Past.of(history, weights)
    return None if user is None else identifier(user, "user"), past
