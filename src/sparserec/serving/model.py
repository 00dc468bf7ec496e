"""A trained model to ask: recommend, explain, similar, evaluate. External ids in, external ids and titles out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import IdMap
from sparserec.device import Recommendation
from sparserec.errors import RunError
from sparserec.evaluation import Listing
from sparserec.export import ExportReport
from sparserec.recommenders import Vectors
from sparserec.runs import Record, measure_again, open_final, open_run
from sparserec.serving.answers import Basis, Explanation, Identifier, NamedItem, Recommendations
from sparserec.serving.any_model import AnyModel
from sparserec.serving.batch import write_all
from sparserec.serving.best_items import listing, rank, rows_of_listing
from sparserec.serving.evaluate_new import measure_new
from sparserec.serving.frames import Columns, html_table
from sparserec.serving.lookup import item_number, item_numbers, numbers_of, user_number
from sparserec.serving.questions import Past, Wanted, check_length, no_vector
from sparserec.serving.shipping import export_model, export_options
from sparserec.serving.titles import items_with, matching_titles

FILES = (".srec", ".html")
"""Names that are never meant for a run folder."""


class Model(AnyModel):
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
            f"Model({config.method} on {config.base}, {len(self._users):,} users, {self.n_items:,} items, "
            f"{self.run.table.parameters():,} parameters, {self.folder})"
        )

    @property
    def record(self) -> Record:
        """What the run wrote down: configuration, environment, memory, seconds, results."""
        return self.measured.record

    @property
    def user_ids(self) -> np.ndarray:
        """Ids of the users of the log.

        >>> sorted(model.user_ids.tolist())[:2]
        ['u00', 'u01']
        """
        return self._users.external()

    @property
    def item_ids(self) -> np.ndarray:
        return self._items.external()

    @property
    def item_vectors(self) -> np.ndarray:
        return self._vectors.items

    @property
    def _users(self) -> IdMap:
        return self.run.split.train.user_ids

    @property
    def _items(self) -> IdMap:
        return self.run.split.train.item_ids

    # -- questions ---------------------------------------------------------------------------------------------

    @property
    def n_items(self) -> int:
        return len(self._items)

    def _recommend(
        self, user: Identifier | None, history: Past | None, k: int, wanted: Wanted
    ) -> Recommendations:
        allowed, ignored = self._allowed(wanted)
        if user is not None:
            number = user_number(self._users, user)
            basis: Basis = "trained" if self._train_counts[number] else "popularity"
            vector, seen = self._vectors.users[number], rows_of_listing(self._seen, np.array([number]))
        else:
            liked, weights, known, unknown = self._known(history or Past([]))
            ignored = [*unknown, *ignored]
            basis = "history" if (weights > 0).any() else "popularity"
            vector, seen = self._folded(liked, weights), listing([known])
        items, scores = self._rank(vector[None], basis, k, seen if wanted.exclude_seen else None, allowed)
        return Recommendations(self._named(items[0], scores[0]), basis, tuple(ignored))

    def _known(self, history: Past) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[Any]]:
        """Items of a history that count, what for, all that are known, and the ids that are not."""
        known, unknown = item_numbers(self._items, history.items)
        if history.weights is None:
            return known, np.ones(len(known)), known, unknown
        weight_of: dict[int, float] = {}
        for number, weight in zip(numbers_of(self._items, history.items), history.weights):
            weight_of.setdefault(int(number), weight)
        weights = np.array([weight_of[int(number)] for number in known], np.float64)
        return known[weights != 0], weights[weights != 0], known, unknown

    def _folded(self, items: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return (self._vectors.folding.terms(items) * weights[:, None]).sum(axis=0).astype(np.float32)

    def _user_vector(self, user: Identifier | None, history: Past | None) -> np.ndarray:
        if user is not None:
            return self._vectors.users[user_number(self._users, user)]
        items, weights, _, _ = self._known(history or Past([]))
        if not (weights > 0).any():
            raise no_vector()
        return self._folded(items, weights)

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

        Returns the number of rows. Memory does not grow with the number of users. In a .csv file an apostrophe stands
        before ids and titles that a spreadsheet would take for formulas; a .parquet file has them as they are.

        >>> model.recommend_all(k=2, out=folder / "everybody.csv")
        96
        """
        check_length(k, len(self._items))
        allowed, _ = self._allowed(Wanted.of(allow, deny, exclude_seen))

        def some(users: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return self._rank_users(users, k, exclude_seen, allowed)

        return write_all(Path(out), some, self._users, self._items, self._titles, quiet=not progress)

    def _explain(self, user: Identifier | None, history: Past | None, item: Identifier) -> Explanation:
        target = item_number(self._items, item)
        unknown: list[Any] = []
        trained: float | None = None
        if user is not None:
            number = user_number(self._users, user)
            train = self.run.split.train
            liked = train.items[train.offsets()[number] : train.offsets()[number + 1]]
            weights = np.ones(len(liked))
            trained = float(self._vectors.users[number] @ self._vectors.items[target])
        else:
            liked, weights, _, unknown = self._known(history or Past([]))
        if not (weights > 0).any():
            score = float(self._popularity[target])
            return Explanation(*self._name(target), score, (), "popularity", None, tuple(unknown))
        parts = weights * (
            self._vectors.folding.terms(liked) @ self._vectors.items[target].astype(np.float64)
        )
        order = np.lexsort((np.arange(len(parts)), -parts))
        named = self._named(liked[order], parts[order])
        return Explanation(*self._name(target), float(parts.sum()), named, "history", trained, tuple(unknown))

    def _similar(self, item: Identifier, k: int) -> Recommendations:
        number = item_number(self._items, item)
        vectors = self._vectors.items
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.where(lengths > 0, lengths, 1)
        items, scores = rank(unit[number][None], unit, k, listing([np.array([number])]))
        return Recommendations(self._named(items[0], scores[0]), "trained")

    def _title_of(self, item: Identifier) -> str | None:
        return self._name(int(self._items.index_of([item])[0]))[1]

    def find(self, name: Identifier) -> list[NamedItem]:
        found = int(self._items.index_of([name])[0])
        places = [found] if found >= 0 else matching_titles(str(name), self._titles or ())
        return [NamedItem(*self._name(place)) for place in places]

    def evaluate(
        self, data: Any = None, *, again: bool = False, **reading: Any
    ) -> dict[str, dict[str, float]]:
        """Metrics on the test set, for the float, int8 and int4 table: those measured once, after training.

        `again=True` opens the test set once more; the run's record says when and how often that was done. With `data`
        (anything that `fit` reads, `reading` as there) the float table is measured on new interactions of users and
        items that it knows, those of the log left out.

        >>> later = [("u05", "i30"), ("u06", "i31"), ("u06", "never seen")]
        >>> {name: model.evaluate(later)["float"][name] for name in ("users", "pairs", "left_out")}
        {'users': 2, 'pairs': 2, 'left_out': 1}
        """
        if data is not None:
            return {"float": measure_new(self.run, self._vectors, data, reading)}
        return measure_again(self.measured) if again else self.record.test

    def export(
        self,
        path: Path | str,
        *,
        page: Path | str | bool | None = None,
        budget: str | int | None = None,
        page_title: str | None = None,
        page_color: str | None = None,
        metadata: Any = None,
        quiet: bool = True,
        **options: Any,
    ) -> ExportReport:
        """Write the file for a device and, with `page`, a self-contained HTML page (True: beside the file).

        `budget` is the largest size, such as "1MB". `options` are those of ExportOptions: `mode`, `min_users`,
        `titles`, `user`, `include_everyones_history`, `encoding={"kind": "codes", "keep": 16}`. The report says how
        large the file is and how good, measured on validation.

        >>> report = model.export(folder / "places.srec", page=True, budget="100kB")
        >>> report.bytes < 100_000 and (folder / "places.html").exists()
        True
        >>> sparserec.load(folder / "places.srec").n_items
        32
        """
        wanted = export_options(budget, options)
        final = None if self.run is self.measured else self.run
        about = page, page_title, page_color
        return export_model(self.measured, final, Path(path), wanted, about, metadata, quiet)

    def _repr_html_(self) -> str:
        return html_table(self._about(), f"{self.run.config.method} on {self.run.config.base}")

    def _about(self) -> Columns:
        rows = {
            "users": f"{len(self._users):,} users",
            "items": f"{self.n_items:,} items",
            "parameters": f"{self.run.table.parameters():,}",
            **{
                f"{name} on the test set": value
                for name, value in self.record.test.get("float", {}).items()
                if "." not in name and name.startswith(("recall@", "ndcg@"))
            },
            "folder": str(self.folder),
        }
        return {"": list(rows), " ": list(rows.values())}

    def save(self, folder: Path | str) -> Path:
        """Copy the run to a new folder, checkpoints left out; `sparserec.load` opens it.

        >>> sparserec.load(model.save(folder / "copy")).recommend("u05", k=2) == model.recommend("u05", k=2)
        True
        """
        folder = Path(folder)
        if folder.suffix in FILES:
            raise RunError(
                f"{folder}: the name of a file, and a run is a folder; `model.export({folder.name!r})` writes the "
                "file for a device"
            )
        if folder.exists() and any(folder.iterdir()):
            raise RunError(f"{folder}: exists and is not empty; give a new folder")
        temporary = folder.absolute().with_name(f".{folder.absolute().name}.{os.getpid()}.tmp")
        try:
            ignore = shutil.ignore_patterns(self.run.folder.work.name)
            shutil.copytree(self.folder, temporary, ignore=ignore)
            temporary.replace(folder)
        except OSError as error:
            raise RunError(f"{folder}: cannot write ({error}); is the disk full?") from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return folder

    # -- what questions need -----------------------------------------------------------------------------------

    @cached_property
    def _vectors(self) -> Vectors:
        return self.run.recommender.vectors(self.run.graph, self.run.table)

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
        counts = np.bincount(users, minlength=len(self._users))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), items[order]

    @property
    def _titles(self) -> list[str] | None:
        info = self.run.split.train.item_info
        return None if info is None else info.titles

    def _allowed(self, wanted: Wanted) -> tuple[np.ndarray | None, list[Any]]:
        """Items that may be recommended (None: all), and the ids that are not known."""
        if wanted.allow is None and not wanted.deny and wanted.tags is None:
            return None, []
        allowed = np.full(self.n_items, wanted.allow is None)
        known, unknown = item_numbers(self._items, wanted.allow or ())
        allowed[known] = True
        if wanted.tags is not None:
            allowed &= items_with(wanted.tags, self.run.split.train.item_info)
        hidden, also_unknown = item_numbers(self._items, wanted.deny, some_known=False)
        allowed[hidden] = False
        return np.flatnonzero(allowed).astype(np.int32), [*unknown, *also_unknown]

    def _rank(
        self, vectors: np.ndarray, basis: Basis, k: int, seen: Listing | None, allowed: np.ndarray | None
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
        numbers = np.array([user_number(self._users, user) for user in users], np.int32)
        items, scores = self._rank_users(numbers, k, wanted.exclude_seen, self._allowed(wanted)[0])
        ids = self._items.external(np.maximum(items, 0))
        return np.where(items >= 0, ids, ids.dtype.type(-1 if self._items.is_integer else "")), scores

    def _name(self, number: int) -> tuple[Identifier, str | None]:
        title = self._titles[number] if self._titles is not None else None
        return self._items.external([number])[0].item(), title

    def _named(self, items: np.ndarray, scores: np.ndarray) -> tuple[Recommendation, ...]:
        pairs = [(int(item), float(score)) for item, score in zip(items, scores) if item >= 0]
        return tuple(
            Recommendation(identifier, score, title)
            for (item, score) in pairs
            for identifier, title in [self._name(item)]
        )
