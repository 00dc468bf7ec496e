"""A model file opened for questions: `load(path)`, then recommend, explain, similar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import errors
from .card import describe
from .container import Container, open_container, parse
from .contents import Tags, read_item_terms, read_popularity, read_scorer, read_seen, read_tags
from .golden import GoldenQuery, compare, read_golden
from .ids import Ids, read_ids
from .profile import Profile, read_object, read_profile
from .question import Identifier, identifier, identifiers, length, weight_array
from .scorers import FullScorer, History, Scorer
from .term import Terms
from .text import TextTable, has_text, read_text
from .top_k import top

Some = Identifier | Iterable[Identifier]
"""Ids in a list, an array, a column .., or one id alone."""


@dataclass(frozen=True)
class Recommendation:
    """An item, how well it fits, and its title where the file holds titles."""

    id: Identifier
    score: float
    title: str | None = None


@dataclass(frozen=True)
class Explanation:
    """The score of an item taken apart: a contribution of each item of the history, in its order, and the item's own
    term, which add up to it.
    """

    id: Identifier
    score: float
    contributions: list[Recommendation]
    term: float = 0.0
    """What the item gets whoever asks; 0 in files without such terms, and where the answer is popularity."""


@dataclass(frozen=True)
class Item:
    """What a file says of an item."""

    id: Identifier
    title: str | None
    tags: tuple[str, ...]
    popularity: int


def load(path: str | Path) -> Model:
    """Open a model file, mapped into memory; raises the named error if anything in it is wrong."""
    return read_model(open_container(Path(path)))


def loads(data: bytes) -> Model:
    """The same for a file already in memory."""
    return read_model(parse(data))


def read_model(container: Container) -> Model:
    """Check everything, in the order of docs/format.md, and put the parts together."""
    profile = read_profile(container.metadata)
    card = read_object(container.metadata, "card") if "card" in container.metadata else {}
    scorer = read_scorer(container, profile)
    titled, known = has_text(container, "item.title"), profile.user_ids
    return Model(
        container=container,
        profile=profile,
        metadata=card,
        scorer=scorer,
        terms=read_item_terms(container, profile, scorer),
        seen=read_seen(container, profile),
        popularity=read_popularity(container, profile, scorer),
        titles=read_text(container, "item.title", profile.items) if titled else None,
        tags=read_tags(container, profile),
        ids=read_ids(container, "item.id", profile.item_ids, profile.items),
        user_ids=read_ids(container, "user.id", known, profile.users) if known else None,
        golden=read_golden(container.metadata, profile),
    )


@dataclass(frozen=True)
class Model:
    """Answers questions about external ids; scores with indices."""

    container: Container
    profile: Profile
    metadata: dict[str, Any]
    scorer: Scorer
    terms: Terms | None
    seen: np.ndarray
    popularity: np.ndarray
    titles: TextTable | None
    tags: Tags | None
    ids: Ids
    user_ids: Ids | None
    golden: list[GoldenQuery]
    # the vector of the last question, for the next one
    _last: dict[tuple[object, ...], np.ndarray] = field(default_factory=dict)

    def recommend(
        self,
        user: Identifier | None = None,
        history: Some | None = None,
        k: int = 20,
        *,
        weights: Iterable[float] | None = None,
        exclude: Some = (),
        allow: Some | None = None,
        deny: Some | None = None,
        tags: Iterable[str] | None = None,
        exclude_seen: bool = True,
    ) -> list[Recommendation]:
        """The k best items for a stored user, or for anyone with this history: ids in a list, an array .., or one id.

        `weights` go with the history: negative for a dislike, smaller for what is long ago. Items already seen are left
        out; so are those in `exclude` and `deny`, and all but those in `allow` and those with one of `tags`, where
        given. Without a history that names a liked item of the file, the most popular items are the answer.
        """
        wanted = length(k)
        scores, seen = self._question(user, history, weights)
        hidden = [*identifiers(exclude, "exclude"), *identifiers(deny, "deny")]
        allowed = self._allowed(hidden, allow, tags)
        if exclude_seen:
            allowed[seen] = False
        return [self._recommendation(index, scores[index]) for index in top(scores, wanted, allowed)]

    def explain(self, history: Some, item: Identifier, weights: Iterable[float] | None = None) -> Explanation:
        """Why `item` gets its score for this history: the contributions and its own term add up to it."""
        index = self._item(item)
        known, _ = self._history(history, weights)
        if not (known.weights > 0).any():
            return Explanation(self.ids[index], float(self.popularity[index]), [])
        values = self.scorer.contributions(known, index)
        parts = [self._recommendation(i, value) for i, value in zip(known.items, values)]
        score = 0.0
        for part in parts:  # one by one, as the format says: sum() compensates for rounding since Python 3.12
            score += part.score
        term = 0.0 if self.terms is None else self.terms[index]
        return Explanation(self.ids[index], score + term, parts, term)

    def similar(self, item: Identifier, k: int = 20) -> list[Recommendation]:
        """The items whose final vectors lie closest to that of `item`; terms of items count for nothing here."""
        wanted = length(k)
        index = self._item(item)
        scores = self.scorer.similarities(index)
        allowed = np.ones(len(scores), np.bool_)
        allowed[index] = False
        return [self._recommendation(other, scores[other]) for other in top(scores, wanted, allowed)]

    def user_vector(
        self, user: Identifier | None, history: Some | None, weights: Iterable[float] | None = None
    ) -> np.ndarray:
        """The vector of a stored user, or of a history with a known item: what items are scored with."""
        if history is None:
            return self.scorer.known(0 if user is None else self._user(user))
        return self.scorer.from_history(self._history(history, weights)[0])

    def self_test(self) -> int:
        """Run the golden queries; raises SelfTestFailed, or returns how many there were."""
        for number, query in enumerate(self.golden):
            scores, seen = self.score_indices(query.user, query.history, query.weights)
            allowed = np.ones(self.profile.items, np.bool_)
            allowed[seen] = False
            items = top(scores, max(len(query.items), 1), allowed)[: len(query.items)]
            compare(f"golden query {number}", query, items.tolist(), scores[items].astype(np.float64))
        return len(self.golden)

    def catalogue(self) -> Iterator[Item]:
        """All items with what the file says of them, for search and lists, in the order of the file."""
        return (self._described(index) for index in range(self.profile.items))

    def item(self, item: Identifier) -> Item | None:
        """One of them; None where the file has no such item."""
        index = self.ids.find(identifier(item))
        return None if index is None else self._described(index)

    def card(self) -> dict[str, Any]:
        """What is inside: mode, sizes by section, row sizes, hashes, metrics, and whose data it holds."""
        return describe(self)

    def score_indices(
        self, user: int | None, history: Sequence[int] | None, weights: Sequence[float] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores of all items, and the items already seen, for a user or a history given by indices instead of ids."""
        if user is not None:
            return self._scores_of_user(user)
        items = np.array(() if history is None else history, np.int64)
        known = np.ones(len(items)) if weights is None else np.array(weights)
        return self._scores_of_history(*distinct(items, known))

    def _question(
        self, user: Identifier | None, history: Some | None, weights: Iterable[float] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores of all items, and the items already seen."""
        if user is not None and history is not None:
            raise errors.BadQuery("give a user or a history, not both")
        if user is None and history is None and self.profile.mode == "personal":
            user_index = 0
        elif user is None:
            return self._scores_of_history(*self._history(history, weights))
        else:
            user_index = self._user(user)
        return self._scores_of_user(user_index)

    def _scores_of_user(self, user: int) -> tuple[np.ndarray, np.ndarray]:
        seen = self.scorer.filter.graph.items_of(user) if isinstance(self.scorer, FullScorer) else self.seen
        vector = self._remembered(("user", user), lambda: self.scorer.known(user))
        return self._scores(vector), seen

    def _scores_of_history(self, history: History, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not (history.weights > 0).any():
            return self.popularity.astype(np.float64), seen
        key = ("history", history.items.tobytes(), history.weights.tobytes())
        return self._scores(self._remembered(key, lambda: self.scorer.from_history(history))), seen

    def _scores(self, vector: np.ndarray) -> np.ndarray:
        scores = self.scorer.scores(vector)
        return scores if self.terms is None else self.terms.add_to(scores)

    def _remembered(self, key: tuple[object, ...], make: Callable[[], np.ndarray]) -> np.ndarray:
        """The user vector of a question; asking again with another filter or k does not compute it again."""
        vector = self._last.get(key)
        if vector is None:
            vector = make()
            self._last.clear()
            self._last[key] = vector
        return vector

    def _history(self, history: Some | None, weights: Iterable[float] | None) -> tuple[History, np.ndarray]:
        """The known items of a history, and those of them that count."""
        found = [self.ids.find(item) for item in identifiers(history, "history")]
        given = weight_array(weights, len(found))
        known = np.array([index is not None for index in found], np.bool_)
        return distinct(np.array([index for index in found if index is not None], np.int64), given[known])

    def _allowed(
        self, hidden: list[Identifier], allow: Some | None, tags: Iterable[str] | None
    ) -> np.ndarray:
        allowed = np.full(self.profile.items, allow is None)
        for item in identifiers(allow, "allow"):
            index = self.ids.find(item)
            if index is not None:
                allowed[index] = True
        if tags is not None:
            if self.tags is None:
                raise errors.UnknownTag("this file has no tags")
            allowed &= self.tags.items_with(map(str, identifiers(tags, "tags")))
        for item in hidden:
            index = self.ids.find(item)
            if index is not None:
                allowed[index] = False
        return allowed

    def _item(self, item: Identifier) -> int:
        index = self.ids.find(identifier(item))
        if index is None:
            raise errors.UnknownItem(f"no item {item!r} in this file")
        return index

    def _user(self, user: Identifier) -> int:
        user = identifier(user)
        index = self.user_ids.find(user) if self.user_ids is not None else None
        if self.profile.user_id is not None and str(user) == str(self.profile.user_id):
            index = 0
        if index is None:
            raise errors.UnknownUser(
                f"no user {user!r} in this file of mode {self.profile.mode!r}: give a history instead"
            )
        return index

    def _described(self, index: int) -> Item:
        title = self.titles[index] if self.titles is not None else None
        tags = self.tags.of_item(index) if self.tags is not None else ()
        return Item(self.ids[index], title, tags, int(self.popularity[index]))

    def _recommendation(self, index: int, score: float) -> Recommendation:
        title = self.titles[index] if self.titles is not None else None
        return Recommendation(self.ids[index], float(score), title)


def distinct(items: np.ndarray, weights: np.ndarray) -> tuple[History, np.ndarray]:
    """First occurrence of each item kept; those of weight 0 count as seen but not as history."""
    places: dict[int, int] = {}
    for place, item in enumerate(items.tolist()):
        places.setdefault(item, place)
    first = np.fromiter(places.values(), np.int64, len(places))
    items, weights = items[first], weights[first]
    used = weights != 0
    return History(items[used], weights[used]), items
