"""What a model answers: plain values with external ids, readable when printed and easy to turn into JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sparserec.device import Recommendation

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


@dataclass(frozen=True)
class Explanation:
    """Why an item scores as it does: one contribution per item of the history, largest first, adding up to `score`."""

    id: Identifier
    title: str | None
    score: float
    contributions: tuple[Recommendation, ...]
    """The score of each is what it adds."""
    basis: Basis
    trained_score: float | None = None
    """For a user the model was trained on: the score of the trained vector, which folding in only comes close to."""
    ignored: tuple[Identifier, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "id": self.id,
            "title": self.title,
            "score": self.score,
            "trained_score": self.trained_score,
            "basis": self.basis,
            "contributions": [_as_dict(part) for part in self.contributions],
            "ignored": list(self.ignored),
        }

    def __str__(self) -> str:
        head = f"{self.title or self.id}: {self.score:.4f}"
        return "\n".join([head] + [f"  {part.score:+9.4f}  {name_of(part)}" for part in self.contributions])


def name_of(item: Recommendation | NamedItem) -> str:
    """Title and id, or the id alone."""
    return f"{item.title} ({item.id})" if item.title and item.title != str(item.id) else str(item.id)


def _as_dict(item: Recommendation) -> dict[str, Any]:
    return {"id": item.id, "score": item.score, "title": item.title}
