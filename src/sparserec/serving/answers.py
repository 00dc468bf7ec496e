"""What a model answers: plain values with external ids, readable when printed and easy to turn into JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from sparserec.device import Recommendation
from sparserec.serving.frames import Columns, frame_of, html_table
from sparserec.visible import visible

Identifier = int | str
Basis = Literal["trained", "history", "popularity"]
BASIS_TEXT: dict[Basis, str] = {
    "trained": "from the vector trained for this user",
    "history": "folded in from the history",
    "popularity": "most popular items, because nothing is known of the user",
}


@dataclass(frozen=True)
class NamedItem:
    """An item and its title, where items have titles."""

    id: Identifier
    title: str | None


@dataclass(frozen=True)
class Recommendations:
    """Items, best first. Iterates over them; `arrays()` gives ids and scores as arrays instead."""

    items: tuple[Recommendation, ...]
    basis: Basis
    """Where the scores come from."""
    ignored: tuple[Identifier, ...] = ()
    """Ids of the question that this model does not know."""

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Recommendation]:
        return iter(self.items)

    def __getitem__(self, index: int) -> Recommendation:
        return self.items[index]

    @property
    def ids(self) -> list[Identifier]:
        return [item.id for item in self.items]

    @property
    def scores(self) -> list[float]:
        return [item.score for item in self.items]

    @property
    def titles(self) -> list[str | None]:
        return [item.title for item in self.items]

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """`ids, scores`, the pair that `implicit` returns."""
        return np.array(self.ids), np.array(self.scores, np.float32)

    def to_frame(self, library: str | None = None) -> Any:
        """Rank, item, title where there are titles, and score as a data frame: pandas, or the `library` named.

        >>> model.recommend("u05", k=2).to_frame("polars").shape
        (2, 4)
        """
        return frame_of(self._columns(), library)

    def _columns(self) -> Columns:
        titled = {"title": self.titles} if any(title is not None for title in self.titles) else {}
        return {"rank": range(1, len(self) + 1), "item": self.ids, **titled, "score": self.scores}

    def _repr_html_(self) -> str:
        return html_table(self._columns(), BASIS_TEXT[self.basis])

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "basis": self.basis,
            "items": [_as_dict(item) for item in self.items],
            "ignored": list(self.ignored),
        }

    def __str__(self) -> str:
        return "\n".join(
            f"{rank:3d}  {item.score:9.4f}  {name_of(item)}" for rank, item in enumerate(self.items, 1)
        )


class _Arrays(NamedTuple):
    ids: np.ndarray
    scores: np.ndarray


class ManyRecommendations(_Arrays):
    """`ids, scores`, a row for each user or history that was asked about: it unpacks as the pair of `implicit`."""

    kind: str
    """`user` or `history`: what a row is for."""
    who: list[Identifier]
    """The users, or the places of the histories."""

    def __new__(
        cls,
        ids: np.ndarray,
        scores: np.ndarray,
        kind: str,
        who: list[Identifier],
        title_of: Callable[[Identifier], str | None],
    ) -> ManyRecommendations:
        many = super().__new__(cls, ids, scores)
        many.kind, many.who, many._title_of = kind, who, title_of  # type: ignore[attr-defined]
        return many

    def to_frame(self, library: str | None = None) -> Any:
        """A row for each recommendation: who, rank, item, title where there are titles, score.

        >>> model.recommend(["u05", "u06"], k=2).to_frame()["user"].tolist()
        ['u05', 'u05', 'u06', 'u06']
        """
        return frame_of(self._columns(), library)

    def _columns(self) -> Columns:
        row, place = np.nonzero(self.scores > -np.inf)
        items = self.ids[row, place].tolist()
        titles = [self._title_of(item) for item in items]  # type: ignore[attr-defined]
        return {
            self.kind: [self.who[at] for at in row.tolist()],
            "rank": (place + 1).tolist(),
            "item": items,
            **({"title": titles} if any(title is not None for title in titles) else {}),
            "score": self.scores[row, place].tolist(),
        }

    def _repr_html_(self) -> str:
        return html_table(self._columns())

    def __repr__(self) -> str:
        return f"ManyRecommendations({len(self.who)} of {self.kind}, k = {self.ids.shape[1]})"


@dataclass(frozen=True)
class Explanation:
    """Why an item scores as it does: a contribution of each item of the history, largest first, which with the item's
    own `term` add up to `score`.
    """

    id: Identifier
    title: str | None
    score: float
    contributions: tuple[Recommendation, ...]
    """The score of each is what it adds."""
    basis: Basis
    trained_score: float | None = None
    """For a user the model was trained on: the score of the trained vector, which folding in only comes close to."""
    ignored: tuple[Identifier, ...] = ()
    term: float = 0.0
    """Of files that prefer popular items: what this one gets for that, whoever asks."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "id": self.id,
            "title": self.title,
            "score": self.score,
            "term": self.term,
            "trained_score": self.trained_score,
            "basis": self.basis,
            "contributions": [_as_dict(part) for part in self.contributions],
            "ignored": list(self.ignored),
        }

    def to_frame(self, library: str | None = None) -> Any:
        """What each item of the history adds, as a data frame."""
        return Recommendations(self.contributions, self.basis).to_frame(library)

    def _repr_html_(self) -> str:
        columns = Recommendations(self.contributions, self.basis)._columns()
        return html_table(columns, f"{self.title or self.id}: {self.score:.4f}")

    def __str__(self) -> str:
        head = f"{visible(str(self.title or self.id))}: {self.score:.4f}"
        lines = [head] + [f"  {part.score:+9.4f}  {name_of(part)}" for part in self.contributions]
        return "\n".join(lines + [f"  {self.term:+9.4f}  whoever asks"] * (self.term != 0.0))


def name_of(item: Recommendation | NamedItem) -> str:
    """Title and id, or the id alone, as they can be printed."""
    named = f"{item.title} ({item.id})" if item.title and item.title != str(item.id) else str(item.id)
    return visible(named)


def _as_dict(item: Recommendation) -> dict[str, Any]:
    return {"id": item.id, "score": item.score, "title": item.title}
