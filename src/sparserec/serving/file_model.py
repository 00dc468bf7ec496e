"""An exported model file behind the same questions as a run folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np

from sparserec import device
from sparserec.device import FileError, FullScorer, ItemsScorer
from sparserec.errors import RunError
from sparserec.serving.answers import Basis, Explanation, Identifier, NamedItem, Recommendations
from sparserec.serving.any_model import AnyModel
from sparserec.serving.lookup import hint, no_item
from sparserec.serving.questions import Past, QuestionError, UnknownUserError, Wanted, no_vector
from sparserec.serving.titles import matching_titles


class FileModel(AnyModel):
    """Asks `sparserec.device.Model` (numpy alone) and answers as `Model` does; there is no log inside to evaluate."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise RunError(f"{self.path}: no such file")
        try:
            self.file = device.load(self.path)
        except FileError as error:
            raise RunError(
                f"{self.path}: not a usable model file: {error} ({type(error).__name__}); export it again"
            ) from None

    def __repr__(self) -> str:
        profile = self.file.profile
        return f"FileModel({self.path}, mode {profile.mode}, {profile.items:,} items)"

    @property
    def n_items(self) -> int:
        return self.file.profile.items

    @property
    def about_one_user(self) -> bool:  # type: ignore[override]
        return self.file.profile.mode == "personal"

    @cached_property
    def item_ids(self) -> np.ndarray:  # type: ignore[override]
        return np.array([self.file.ids[index] for index in range(self.n_items)])

    @cached_property
    def item_vectors(self) -> np.ndarray:  # type: ignore[override]
        return np.array([self._scorer.score.row(index) for index in range(self.n_items)], np.float32)

    @property
    def _scorer(self) -> ItemsScorer:
        if not isinstance(self.file.scorer, ItemsScorer):
            raise QuestionError(
                f"{self.path}: a file of mode {self.file.profile.mode} holds no vectors of items; a run folder and "
                "files of mode items do"
            )
        return self.file.scorer

    def _user_vector(self, user: Identifier | None, history: Past | None) -> np.ndarray:
        assert self._scorer is not None  # a file without vectors is refused
        if history is not None and self._basis(history) == "popularity":
            raise no_vector()
        self._unknown(() if history is None else history.items)
        items, weights = (None, None) if history is None else (history.items, history.weights)
        with _asking():
            return self.file.user_vector(user, items, weights).astype(np.float32)

    def _recommend(
        self, user: Identifier | None, history: Past | None, k: int, wanted: Wanted
    ) -> Recommendations:
        items = None if history is None else history.items
        unknown = (*self._unknown(items or ()), *self._unknown(wanted.allow or ()))
        ignored = (*unknown, *self._unknown(wanted.deny, some_known=False))
        with _asking():
            weights = None if history is None else history.weights
            found = self.file.recommend(user, items, k, weights=weights, **vars(wanted))
        return Recommendations(tuple(found), self._basis(history), ignored)

    def _recommend_many(
        self, users: list[Identifier], k: int, wanted: Wanted
    ) -> tuple[np.ndarray, np.ndarray]:
        return self._padded([self._recommend(user, None, k, wanted) for user in users], k)

    def _explain(self, user: Identifier | None, history: Past | None, item: Identifier) -> Explanation:
        if self.file.ids.find(item) is None:
            raise no_item(self.item_ids, item)
        with _asking():
            past = Past(self._stored_history(user)) if history is None else history
            found = self.file.explain(past.items, item, past.weights)
        parts = tuple(sorted(found.contributions, key=lambda part: -part.score))
        ignored = tuple(self._unknown(past.items))
        title, basis = self._title_of(item), self._basis(past)
        return Explanation(found.id, title, found.score, parts, basis, None, ignored, found.term)

    def _similar(self, item: Identifier, k: int) -> Recommendations:
        if self.file.ids.find(item) is None:
            raise no_item(self.item_ids, item)
        return Recommendations(tuple(self.file.similar(item, k)), "trained")

    def find(self, name: Identifier) -> list[NamedItem]:
        ids, titles = self.file.ids, self.file.titles
        known = [] if titles is None else [titles[place] for place in range(len(titles))]
        found = ids.find(name)
        places = [found] if found is not None else matching_titles(str(name), known)
        return [NamedItem(ids[place], known[place] if known else None) for place in places]

    def _title_of(self, item: Identifier) -> str | None:
        place, titles = self.file.ids.find(item), self.file.titles
        return None if titles is None or place is None else titles[place]

    def _basis(self, history: Past | None) -> Basis:
        if history is None:
            return "trained"
        weights = history.weights or [1.0] * len(history.items)
        counted: dict[int, float] = {}  # as the reader does: items it knows, each as it stands there first
        for item, weight in zip(history.items, weights):
            place = self.file.ids.find(item)
            if place is not None:
                counted.setdefault(place, weight)
        return "history" if any(weight > 0 for weight in counted.values()) else "popularity"

    def _unknown(self, items: Sequence[Identifier], some_known: bool = True) -> list[Identifier]:
        """Ids that the file does not have; where some must be known, none known is a mistake."""
        unknown = [item for item in items if self.file.ids.find(item) is None]
        if some_known and unknown and len(unknown) == len(items):
            raise no_item(self.item_ids, unknown[0])
        return unknown

    def _stored_history(self, user: Identifier | None) -> list[Identifier]:
        scorer = self.file.scorer
        if isinstance(scorer, FullScorer):
            assert self.file.user_ids is not None
            number = self.file.user_ids.find(user) if user is not None else None
            if number is None:
                raise UnknownUserError(f"no user {str(user)!r} in {self.path}{hint(self._all_users(), user)}")
            seen = scorer.filter.graph.items_of(number)
        else:
            seen = self.file.seen
        return [self.file.ids[int(index)] for index in seen]

    def _all_users(self) -> np.ndarray:
        ids = self.file.user_ids
        return np.array([] if ids is None else [ids[index] for index in range(self.file.profile.users)])


@contextmanager
def _asking() -> Iterator[None]:
    """Errors of the device package as ours, so that one `except SparserecError` covers both kinds of model."""
    try:
        yield
    except device.errors.UnknownUser as error:
        raise UnknownUserError(str(error)) from None
    except device.DeviceError as error:
        raise QuestionError(str(error)) from None
