"""A trained model to ask: recommend, explain, similar, evaluate. External ids in, external ids and titles out."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import IdMap
from sparserec.device import Recommendation
from sparserec.errors import RunError
from sparserec.evaluation import Listing
from sparserec.runs import Record, measure_again, open_final, open_run
from sparserec.serving.answers import Basis, Explanation, Identifier, NamedItem, Recommendations
from sparserec.serving.asked import AskedModel, Wanted
from sparserec.serving.batch import write_all
from sparserec.serving.lookup import item_number, item_numbers, user_number
from sparserec.serving.questions import check_length
from sparserec.serving.ranking import listing, rank, rows_of_listing
from sparserec.serving.titles import matching_titles
from sparserec.vectors import Vectors, make_vectors


class Model(AskedModel):
    """A finished run, opened. Vectors are computed at the first question that needs them.

    A run that was trained once more on everything answers with that model; its figures are those of the measured one.
    """

    def __init__(self, folder: Path | str, temporary: object = None) -> None:
        self.folder = Path(folder)
        self.measured = open_run(self.folder)
        self.run = open_final(self.folder) or self.measured
        self._temporary = temporary  # a folder that lives as long as the model

    def __repr__(self) -> str:
        config = self.run.config
        return (
            f"Model({config.method} on {config.base}, {len(self.user_ids):,} users, {len(self.item_ids):,} items, "
            f"{self.run.table.parameters():,} parameters, {self.folder})"
        )

    @property
    def record(self) -> Record:
        """What the run wrote down: configuration, environment, memory, seconds, results."""
        return self.measured.record

    @property
    def user_ids(self) -> IdMap:
        return self.run.split.train.user_ids

    @property
    def item_ids(self) -> IdMap:
        return self.run.split.train.item_ids

    # -- questions ---------------------------------------------------------------------------------------------

    @property
    def n_items(self) -> int:
        return len(self.item_ids)

    def _recommend(
        self, user: Identifier | None, history: Sequence[Identifier] | None, k: int, wanted: Wanted
    ) -> Recommendations:
        allowed, ignored = self._allowed(wanted)
        if user is not None:
            number = user_number(self.user_ids, user)
            basis: Basis = "trained" if self._train_counts[number] else "popularity"
            vector, seen = self._vectors.users[number], rows_of_listing(self._seen, np.array([number]))
        else:
            known, unknown = item_numbers(self.item_ids, history or ())
            ignored = [*unknown, *ignored]
            basis = "history" if len(known) else "popularity"
            vector, seen = self._vectors.folding.vector(known), listing([known])
        items, scores = self._rank(vector[None], basis, k, seen if wanted.exclude_seen else None, allowed)
        return Recommendations(self._named(items[0], scores[0]), basis, tuple(ignored))

    def recommend_all(
        self,
        k: int = 20,
        out: Path | str = "recommendations.parquet",
        progress: bool = False,
        exclude_seen: bool = True,
        allow: Iterable[Identifier] | None = None,
        deny: Iterable[Identifier] | None = None,
    ) -> int:
        """Write the k best items of every user to a .csv or .parquet file (user, rank, item, score, title).

        Returns the number of rows. Memory does not grow with the number of users.
        """
        check_length(k, len(self.item_ids))
        allowed, _ = self._allowed(Wanted.of(allow, deny, exclude_seen))

        def some(users: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return self._rank_users(users, k, exclude_seen, allowed)

        return write_all(Path(out), some, self.user_ids, self.item_ids, self._titles, quiet=not progress)

    def _explain(
        self, user: Identifier | None, history: Sequence[Identifier] | None, item: Identifier
    ) -> Explanation:
        target = item_number(self.item_ids, item)
        unknown: list[Any] = []
        trained: float | None = None
        if user is not None:
            number = user_number(self.user_ids, user)
            train = self.run.split.train
            known = train.items[train.offsets()[number] : train.offsets()[number + 1]]
            trained = float(self._vectors.users[number] @ self._vectors.items[target])
        else:
            known, unknown = item_numbers(self.item_ids, history or ())
        if len(known) == 0:
            score = float(self._popularity[target])
            return Explanation(*self._name(target), score, (), "popularity", None, tuple(unknown))
        parts = self._vectors.folding.terms(known) @ self._vectors.items[target].astype(np.float64)
        order = np.lexsort((np.arange(len(parts)), -parts))
        named = self._named(known[order], parts[order])
        return Explanation(*self._name(target), float(parts.sum()), named, "history", trained, tuple(unknown))

    def _similar(self, item: Identifier, k: int) -> Recommendations:
        number = item_number(self.item_ids, item)
        vectors = self._vectors.items
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.where(lengths > 0, lengths, 1)
        items, scores = rank(unit[number][None], unit, k, listing([np.array([number])]))
        return Recommendations(self._named(items[0], scores[0]), "trained")

    def find(self, name: Identifier) -> list[NamedItem]:
        found = int(self.item_ids.index_of([name])[0])
        places = [found] if found >= 0 else matching_titles(str(name), self._titles or ())
        return [NamedItem(*self._name(place)) for place in places]

    def evaluate(self, again: bool = False) -> dict[str, dict[str, float]]:
        """Metrics on the test set, for the float, int8 and int4 table: those measured once, after training.

        `again=True` opens the test set once more; the run's record says when and how often that was done.
        """
        return measure_again(self.measured) if again else self.record.test

    def save(self, folder: Path | str) -> Path:
        """Copy the run to a new folder, checkpoints left out; `sparserec.load` opens it."""
        folder = Path(folder)
        if folder.exists() and any(folder.iterdir()):
            raise RunError(f"{folder}: exists and is not empty; give a new folder")
        try:
            ignore = shutil.ignore_patterns(self.run.folder.work.name)
            shutil.copytree(self.folder, folder, ignore=ignore, dirs_exist_ok=True)
        except OSError as error:
            raise RunError(f"{folder}: cannot write ({error}); is the disk full?") from error
        return folder

    # -- what questions need -----------------------------------------------------------------------------------

    @cached_property
    def _vectors(self) -> Vectors:
        return make_vectors(self.run.recommender, self.run.graph, self.run.table)

    @cached_property
    def _popularity(self) -> np.ndarray:
        """Train interactions of each item: the score where nothing is known of a user."""
        return self.run.split.train.item_counts().astype(np.float32)

    @cached_property
    def _train_counts(self) -> np.ndarray:
        return self.run.split.train.user_counts()

    @cached_property
    def _seen(self) -> Listing:
        """All that the log holds of each user, whatever part it was put in."""
        split = self.run.split
        parts = (split.train, split.test, *split.known_at_test)
        users, items = (
            np.concatenate([getattr(part, side) for part in parts]) for side in ("users", "items")
        )
        order = np.lexsort((items, users))
        counts = np.bincount(users, minlength=len(self.user_ids))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), items[order]

    @property
    def _titles(self) -> list[str] | None:
        info = self.run.split.train.item_info
        return None if info is None else info.titles

    def _allowed(self, wanted: Wanted) -> tuple[np.ndarray | None, list[Any]]:
        """Items that may be recommended (None: all), and the ids that are not known."""
        if wanted.allow is None and not wanted.deny:
            return None, []
        allowed = np.full(self.n_items, wanted.allow is None)
        known, unknown = item_numbers(self.item_ids, wanted.allow or ())
        allowed[known] = True
        hidden, also_unknown = item_numbers(self.item_ids, wanted.deny, some_known=False)
        allowed[hidden] = False
        return np.flatnonzero(allowed).astype(np.int32), [*unknown, *also_unknown]

    def _rank(
        self,
        vectors: np.ndarray,
        basis: Basis,
        k: int,
        seen: Listing | None,
        allowed: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        if basis == "popularity":
            ones = np.ones((len(vectors), 1), np.float32)
            return rank(ones, self._popularity[:, None], k, seen, allowed)
        return rank(vectors, self._vectors.items, k, seen, allowed)

    def _rank_users(
        self, users: np.ndarray, k: int, exclude_seen: bool, allowed: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """`_rank` for users of the log; those without train interactions get what is popular."""
        items, scores = np.empty((len(users), k), np.int32), np.empty((len(users), k), np.float32)
        trained = self._train_counts[users] > 0
        for basis, chosen in (("trained", trained), ("popularity", ~trained)):
            some = users[chosen]
            seen = rows_of_listing(self._seen, some) if exclude_seen else None
            items[chosen], scores[chosen] = self._rank(self._vectors.users[some], basis, k, seen, allowed)  # type: ignore[arg-type]
        return items, scores

    def _recommend_many(
        self, users: list[Identifier], k: int, wanted: Wanted
    ) -> tuple[np.ndarray, np.ndarray]:
        numbers = np.array([user_number(self.user_ids, user) for user in users], np.int32)
        items, scores = self._rank_users(numbers, k, wanted.exclude_seen, self._allowed(wanted)[0])
        ids = self.item_ids.external(np.maximum(items, 0))
        return np.where(items >= 0, ids, ids.dtype.type(-1 if self.item_ids.is_integer else "")), scores

    def _name(self, number: int) -> tuple[Identifier, str | None]:
        title = self._titles[number] if self._titles is not None else None
        return self.item_ids.external([number])[0].item(), title

    def _named(self, items: np.ndarray, scores: np.ndarray) -> tuple[Recommendation, ...]:
        pairs = [(int(item), float(score)) for item, score in zip(items, scores) if item >= 0]
        return tuple(
            Recommendation(identifier, score, title)
            for (item, score) in pairs
            for identifier, title in [self._name(item)]
        )
