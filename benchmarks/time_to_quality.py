"""Seconds of training until a validation score is reached: our recipes and bases beside what people use.

    python benchmarks/time_to_quality.py scores --data-dir DATA [--only textbook]  # rivals: hours, busy or not
    python benchmarks/time_to_quality.py clock --data-dir DATA [--only lightgcn]   # minutes, on a quiet one

Gowalla, `resplit`, seed 0, all users, NDCG@20 on the validation part after every epoch; the test set stays closed.
Only the seconds of updates count, and what comes before the first one (factorisation, temperature) stands in a column
of its own. Ours are trained whole under the clock. A rival takes an hour, most of it in the choice of its settings, the
best of four by a tenth of its whole length: so `scores` counts the passes it needs, which is the same on any machine,
and `clock` times single passes of what was chosen. The textbook implementation computes what our dense table does (a
test compares them), so its passes are those of our dense training, with the batch and the rates that were found for it.
`implicit` is no dependency of ours: install it first, or its rows are left out with a word. Lines are added to
benchmarks/time_to_quality.jsonl, and the table is made of them.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch

from measure import benchmark_lock, origin  # first: it sets how threads wait
from sparserec.data import Sampler, Split, resolve, split_interactions
from sparserec.evaluation import evaluate
from sparserec.process import use_threads
from sparserec.runs.folder import RunFolder
from sparserec.runs.train import Input, train_run
from sparserec.training import build_config
from textbook import Textbook

LINES = Path(__file__).with_name("time_to_quality.jsonl")
BARS = (0.085, 0.0905)
Point = tuple[float, float]
"""Seconds of updates so far, and the validation score."""
Curve = Iterator[Point]

SPARSE = {"data": "gowalla", "method": "sparserec", "density": 0.125, "open_test": False}
OURS: dict[str, dict[str, Any]] = {
    "lightgcn, fall-100": {"base": "lightgcn", "recipe": {"preset": "fall-100", "epochs": 10}},
    "lightgcn": {"base": "lightgcn", "recipe": {"epochs": 10}},
    "mgdcf": {"base": "mgdcf", "recipe": {"epochs": 10}},
    "xsimgcl": {"base": "xsimgcl", "recipe": {"epochs": 10}},
    "history": {"base": "history"},
}


def score(split: Split, users: torch.Tensor, items: torch.Tensor) -> float:
    """Validation NDCG@20 of all users."""
    found = evaluate(
        lambda ids: users[torch.from_numpy(ids).long()],
        items.contiguous(),
        split.train,
        split.valid,
        ks=(20,),
    )
    return found.metrics["ndcg@20"]


def ours(settings: dict[str, Any], data_dir: str) -> tuple[list[Point], float]:
    """The curve of one training, and the seconds before its first update; nothing is taken from a cache."""
    recipe = {**settings.get("recipe", {}), "validate_every": 1}
    config = build_config({**SPARSE, **settings, "recipe": recipe})
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SPARSEREC_CACHE"] = f"{folder}/cache"
        finished = train_run(config, Path(folder) / "run", Input("gowalla", data_dir))
        events = [one for one in RunFolder(finished.folder).read_events() if one["event"] == "epoch"]
    curve = [(one["seconds"], one["valid"]["ndcg@20"]) for one in events if "valid" in one]
    return curve, finished.record.seconds.prepare


def textbook(split: Split, rate: float, batch: int) -> Curve:
    """Epoch after epoch of the textbook implementation, batches from our sampler."""
    train, spent, step = split.train, 0.0, 0
    torch.manual_seed(0)
    users, items = train.users.astype(np.int64), train.items.astype(np.int64)
    model = Textbook(train.n_users, train.n_items, users, items, 128, 3, lr=rate, decay=1e-4)
    sampler = Sampler(train, batch, 0)
    for epoch in range(1000):
        began = time.perf_counter()
        for step in range(sampler.steps_per_epoch):
            drawn = sampler.batch(epoch, step)
            parts = drawn.users, drawn.positives, drawn.negatives[:, 0]
            model.step(*(torch.from_numpy(part.astype(np.int64)) for part in parts))
        spent += time.perf_counter() - began
        yield spent, score(split, *model.vectors())


def implicit_model(split: Split, kind: str, **settings: Any) -> Curve:
    """Iteration after iteration of a model of `implicit`, which goes on from the factors it has."""
    from implicit.als import AlternatingLeastSquares
    from implicit.bpr import BayesianPersonalizedRanking

    made = {"als": AlternatingLeastSquares, "bpr": BayesianPersonalizedRanking}[kind]
    model = made(factors=128, iterations=1, random_state=0, **settings)
    train, spent = split.train, 0.0
    values, shape = np.ones(len(train), np.float32), (train.n_users, train.n_items)
    pairs = scipy.sparse.csr_matrix((values, (train.users, train.items)), shape)
    while True:
        began = time.perf_counter()
        model.fit(pairs, show_progress=False)
        spent += time.perf_counter() - began
        yield spent, score(split, torch.from_numpy(model.user_factors), torch.from_numpy(model.item_factors))


Setting = dict[str, Any]
RIVALS: dict[str, tuple[Callable[..., Curve], list[Setting], int, int]] = {
    "textbook": (textbook, [{"rate": 0.06, "batch": 32000}], 0, 0),
    "implicit ALS": (
        lambda split, **one: implicit_model(split, "als", **one),
        [{"regularization": ridge, "alpha": alpha} for ridge in (0.1, 10.0) for alpha in (5.0, 20.0)],
        3, 15,
    ),
    "implicit BPR": (
        lambda split, **one: implicit_model(split, "bpr", **one),
        [{"learning_rate": rate, "regularization": decay} for rate in (0.03, 0.1) for decay in (0.003, 0.01)],
        10, 100,
    ),
}  # fmt: skip
"""How to train, settings to choose from, passes of a try and of a whole training."""
SAME_AS_TEXTBOOK = {"base": "lightgcn", "method": "dense", "recipe": {"epochs": 10, "learning_rate": 0.06}}


def scores_of(name: str, split: Split, data_dir: str) -> dict[str, Any]:
    """Scores after every pass of the best of its settings, until the higher bar or its length is reached."""
    train, settings, short, length = RIVALS[name]
    if name == "textbook":
        curve, _ = ours(SAME_AS_TEXTBOOK, data_dir)
        return {"settings": settings[0], "scores": [found for _, found in curve]}
    tried = [list(islice(train(split, **one), short))[-1][1] for one in settings]
    print(name, dict(zip(map(str, settings), tried)), flush=True)
    best, scores = settings[int(np.argmax(tried))], []
    for _, found in islice(train(split, **best), length):
        scores.append(found)
        print(f"{name} {len(scores)} {found:.4f}", flush=True)
        if found >= BARS[-1]:
            break
    return {"settings": best, "tried": dict(zip(map(str, settings), tried)), "scores": scores}


def clocked(name: str, split: Split, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """The curve of a rival: the scores that are there, at the pace of two passes here, the first not counted."""
    known = next((one for one in reversed(lines) if one["name"] == name and "scores" in one), None)
    if known is None:
        raise SystemExit(f"{name}: no scores yet; `scores --only '{name}'` first")
    (first, _), (second, _) = islice(RIVALS[name][0](split, **known["settings"]), 2)
    pace = second - first
    curve = [(pace * passes, found) for passes, found in enumerate(known["scores"], 1)]
    return {"settings": known["settings"], "before": 0.0, "curve": curve}


def whole(name: str, data_dir: str) -> dict[str, Any]:
    """One of ours under the clock."""
    curve, before = ours(OURS[name], data_dir)
    return {"settings": OURS[name], "before": before, "curve": curve}


def seconds_to(curve: list[Point], bar: float) -> float | None:
    """Seconds of the first point at or above the bar."""
    return next((seconds for seconds, found in curve if found >= bar), None)


def table(lines: list[dict[str, Any]]) -> str:
    """One row a training, with how many times faster than the textbook it is where both reached the bar."""
    last = {line["name"]: line for line in lines if "curve" in line}
    slow = last.get("textbook")
    rows = ["| | " + " | ".join(f"to {bar:g}, s | times" for bar in BARS) + " | before, s | best | all, s |"]
    rows.append("|---" * (2 * len(BARS) + 4) + "|")
    for name, line in last.items():
        cells = []
        for bar in BARS:
            own = seconds_to(line["curve"], bar)
            theirs = None if slow is None else seconds_to(slow["curve"], bar)
            cells += [
                "never" if own is None else f"{own:.0f}",
                f"{theirs / own:.1f}" if own and theirs else "-",
            ]
        best, whole = max(found for _, found in line["curve"]), line["curve"][-1][0]
        rows.append(f"| {name} | {' | '.join(cells)} | {line['before']:.0f} | {best:.4f} | {whole:.0f} |")
    return "\n".join(rows)


def read_lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LINES.read_text("utf-8").splitlines()] if LINES.exists() else []


def add_line(name: str, found: dict[str, Any]) -> None:
    with LINES.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, **found, **origin()}) + "\n")


def there(names: list[str]) -> Iterator[str]:
    """Those that can be trained here."""
    for name in names:
        if name.startswith("implicit") and find_spec("implicit") is None:
            print(f"{name} is left out: `pip install implicit` first")
        else:
            yield name


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["scores", "clock", "table"])
    parser.add_argument("--data-dir")
    parser.add_argument("--only", nargs="*", default=None, help="names of trainings")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    use_threads(options.threads)
    if options.what != "table":
        split = split_interactions(resolve("gowalla", options.data_dir), "resplit", 0)
    if options.what == "scores":
        for name in there(list(RIVALS) if options.only is None else options.only):
            add_line(name, scores_of(name, split, options.data_dir))
    if options.what == "clock":
        with benchmark_lock():
            for name in there([*OURS, *RIVALS] if options.only is None else options.only):
                found = whole(name, options.data_dir) if name in OURS else clocked(name, split, read_lines())
                add_line(name, found)
    print(table(read_lines()))


if __name__ == "__main__":
    main()
