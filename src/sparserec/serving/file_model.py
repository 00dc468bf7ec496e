"""An exported model file behind the same questions as a run folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sparserec import device
from sparserec.device import FileError, FullScorer
from sparserec.errors import RunError
from sparserec.serving.answers import Basis, Explanation, Identifier, NamedItem, Recommendations
from sparserec.serving.asked import AskedModel, Wanted
from sparserec.serving.lookup import hint, no_item
from sparserec.serving.questions import QuestionError, UnknownUserError
from sparserec.serving.titles import matching_titles


class FileModel(AskedModel):
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

    def _recommend(
        self, user: Identifier | None, history: Sequence[Identifier] | None, k: int, wanted: Wanted
    ) -> Recommendations:
        asked = (*self._unknown(history or ()), *self._unknown(wanted.allow or ()))
        ignored = (*asked, *self._unknown(wanted.deny, some_known=False))
        with _asking():
            items = self.file.recommend(
                user, history, k, exclude_seen=wanted.exclude_seen, allow=wanted.allow, deny=wanted.deny
            )
        return Recommendations(tuple(items), self._basis(history), ignored)

    def _recommend_many(
        self, users: list[Identifier], k: int, wanted: Wanted
    ) -> tuple[np.ndarray, np.ndarray]:
        found = [self._recommend(user, None, k, wanted) for user in users]
        blank: Identifier = -1 if isinstance(self.file.ids[0], int) else ""
        ids = np.array([one.ids + [blank] * (k - len(one)) for one in found])
        scores = np.array([one.scores + [-np.inf] * (k - len(one)) for one in found], np.float32)
        return ids, scores

    def _explain(
        self, user: Identifier | None, history: Sequence[Identifier] | None, item: Identifier
    ) -> Explanation:
        if self.file.ids.find(item) is None:
            raise no_item(self._all_ids(), item)
        with _asking():
            items = self._stored_history(user) if history is None else list(history)
            found = self.file.explain(items, item)
        parts = tuple(sorted(found.contributions, key=lambda part: -part.score))
        titles = self.file.titles
        title = None if titles is None else titles[self.file.ids.find(item)]  # type: ignore[index]
        ignored = tuple(self._unknown(items))
        return Explanation(found.id, title, found.score, parts, self._basis(items), None, ignored)

    def _similar(self, item: Identifier, k: int) -> Recommendations:
        if self.file.ids.find(item) is None:
            raise no_item(self._all_ids(), item)
        return Recommendations(tuple(self.file.similar(item, k)), "trained")

    def find(self, name: Identifier) -> list[NamedItem]:
        ids, titles = self.file.ids, self.file.titles
        known = [] if titles is None else [titles[place] for place in range(len(titles))]
        found = ids.find(name)
        places = [found] if found is not None else matching_titles(str(name), known)
        return [NamedItem(ids[place], known[place] if known else None) for place in places]

    def _basis(self, history: Sequence[Identifier] | None) -> Basis:
        return "trained" if history is None else "history" if len(history) else "popularity"

    def _unknown(self, items: Sequence[Identifier], some_known: bool = True) -> list[Identifier]:
        """Ids that the file does not have; where some must be known, none known is a mistake."""
        unknown = [item for item in items if self.file.ids.find(item) is None]
        if some_known and unknown and len(unknown) == len(items):
            raise no_item(self._all_ids(), unknown[0])
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

    def _all_ids(self) -> np.ndarray:
        return np.array([self.file.ids[index] for index in range(self.file.profile.items)])

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
