"""The file that `sparserec train log.csv` ends in, beside tuned RP3beta, EASE and ALS of the same log, user by user.

    python benchmarks/default_file.py [LOG ...] [--out results/default_file.jsonl]

Logs are the built-in city, some of its people, and `films`: ratings of 943 people who see many of the city's places and
rate what is to their taste higher, of which 4 and 5 count. Rivals have their whole search on validation and any number
of bytes, as float; the file has 1 MB and is asked as an app asks it. A log with a row already is left out: the test
part is opened once.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from sparserec import device, fit
from sparserec.classics import CLASSICS, histories, search
from sparserec.data import Interactions, Split, make_world, world
from sparserec.evaluation import evaluate_scorer, paired, per_user
from sparserec.runs import open_run

SCORE = "ndcg@20"
FILM_PEOPLE, FEWEST_FILMS, SURE = 943, 20, 0.7
"""Ratings follow how much a place is to somebody's taste by so much; the rest is chance."""
RIDGE, ROUNDS = 5.0, 12
"""Of ALS."""
Pairs = list[tuple[str, str]]


def city(people: int) -> Pairs:
    """Visits of so many people of the city, drawn at random."""
    train = make_world().train
    chosen = np.random.default_rng(0).permutation(train.n_users)[:people]
    kept = train.select(np.isin(train.users, chosen))
    return list(zip(kept.user_ids.external(kept.users).tolist(), kept.item_ids.external(kept.items).tolist()))


def films() -> Pairs:
    """What people gave 4 or 5 of 5: the better two fifths of what they saw, by taste and by chance."""
    rng = np.random.Generator(np.random.PCG64(0))
    places, pairs = world._make_places(rng), []
    for person in range(FILM_PEOPLE):
        appeal = world._appeal(rng, places)
        count = int(FEWEST_FILMS + 60 / (rng.random() + 0.2))
        draws = rng.random(len(appeal))
        seen = np.argsort(draws / ((1 - draws) * appeal**0.6), kind="stable")[:count]
        taste = np.argsort(np.argsort(appeal[seen])) / count
        rating = np.ceil(5 * np.argsort(np.argsort(SURE * taste + (1 - SURE) * rng.random(count))) / count)
        pairs += [(f"u{person}", f"p{item}") for item in seen[rating >= 4]]
    return pairs


LOGS: dict[str, Callable[[], Pairs]] = {
    "city": lambda: city(3000),
    "1,000 people of the city": lambda: city(1000),
    "300 people of the city": lambda: city(300),
    "films": films,
}


def of_file(path: Path, split: Split) -> np.ndarray:
    """NDCG@20 of every test user, asked of the reader with their train items; what else they have is hidden."""
    model, train, test = device.load(path), split.train, split.test
    users = np.flatnonzero(np.diff(test.offsets())).astype(np.int32)
    names = train.item_ids.external()
    hidden = [histories(part) for part in split.known_at_test]
    own, top = histories(train), np.full((len(users), 20), -1, np.int32)
    for place, user in enumerate(users):
        exclude = np.concatenate([part[user].indices for part in hidden]) if hidden else np.empty(0, int)
        known = names[own[user].indices].tolist()
        found = [one.id for one in model.recommend(history=known, exclude=names[exclude].tolist(), k=20)]
        top[place, : len(found)] = train.item_ids.index_of(found)
    return per_user(top, test.offsets(), test.items, users, 20)["ndcg"]


Scorer = Callable[[np.ndarray], np.ndarray]


def rivals(split: Split) -> Iterator[tuple[str, dict[str, Any], Scorer]]:
    """Name, settings that validation chose, and scores of all items by user."""
    history = histories(split.train)
    for name in ("rp3beta", "ease"):

        def score(settings: Any) -> float:
            return measured(settings.fit(split.train).scorer(history), split, split.valid).mean()

        best = search(CLASSICS[name](), score)[0].settings
        yield name, best.model_dump(), best.fit(split.train).scorer(history)
    tried = []
    for factors, weight in product((32, 64), (5.0, 20.0, 60.0)):
        users, items = als(history, factors, weight)

        def scores(ids: np.ndarray, users: np.ndarray = users, items: np.ndarray = items) -> np.ndarray:
            return users[ids] @ items.T

        settings = {"factors": factors, "weight": weight}
        tried.append((measured(scores, split, split.valid).mean(), settings, scores))
    _, settings, scorer = max(tried, key=lambda one: one[0])
    yield "als", settings, scorer


def als(history: scipy.sparse.csr_matrix, factors: int, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Hu, Koren and Volinsky (ICDM 2008): what is there counts 1 + weight, what is not 1."""
    rng = np.random.default_rng(0)
    items = rng.normal(0, 0.1, (history.shape[1], factors))
    users = np.empty((history.shape[0], factors))
    for _ in range(ROUNDS):
        for rows, others, of_rows in ((users, items, history), (items, users, history.T.tocsr())):
            whole = others.T @ others + RIDGE * np.eye(factors)
            for row in range(len(rows)):
                own = others[of_rows.indices[of_rows.indptr[row] : of_rows.indptr[row + 1]]]
                rows[row] = np.linalg.solve(whole + weight * own.T @ own, (1 + weight) * own.sum(axis=0))
    return users.astype(np.float32), items.astype(np.float32)


def measured(scorer: Scorer, split: Split, truth: Interactions) -> np.ndarray:
    known = split.known_at_test if truth is split.test else ()
    return evaluate_scorer(scorer, split.train, truth, known).per_user[SCORE]


def compare(name: str) -> dict[str, Any]:
    """One row: the file, the float model it is from, and every rival with its paired difference."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        fit(LOGS[name](), folder=path, threads=1, quiet=True)
        run = open_run(path)
        split, shipped = run.split, run.record.shipped
        ours = of_file(run.folder.device_file, split)
        row: dict[str, Any] = {
            "log": name, "users": split.n_users, "items": split.n_items, "train": len(split.train),
            "file": shipped["why"].partition(":")[0], "bytes": shipped["bytes"], "test": float(ours.mean()),
            "float": run.record.test["float"][SCORE], "tried": shipped["what"], "rivals": {},
        }  # fmt: skip
        for rival, settings, scorer in rivals(split):
            theirs = measured(scorer, split, split.test)
            found = paired(ours, theirs)
            row["rivals"][rival] = {
                "settings": settings, "test": float(theirs.mean()), "difference": found.difference,
                "low": found.low, "high": found.high,
            }  # fmt: skip
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logs", nargs="*", choices=[[], *LOGS], help="all where none is named")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parents[1] / "results" / "default_file.jsonl"
    )
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    for name in options.logs or LOGS:
        if name not in {row["log"] for row in rows}:
            rows.append(compare(name))
            options.out.write_text("".join(json.dumps(row) + "\n" for row in rows))
            print(json.dumps(rows[-1], indent=1), file=sys.stderr)
    print("| log | file | " + " | ".join(rows[0]["rivals"]) + " |\n|---|---|---|---|---|")
    for row in rows:
        against = [
            f"{one['test']:.4f}, {one['difference']:+.4f} ({one['low']:+.4f} to {one['high']:+.4f})"
            for one in row["rivals"].values()
        ]
        file = f"{row['test']:.4f}, {row['file']}, {row['bytes'] / 1000:.0f} kB"
        print(f"| {row['log']}, {row['train']:,} train rows | {file} | {' | '.join(against)} |")


if __name__ == "__main__":
    main()
