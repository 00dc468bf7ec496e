"""The curve of bytes against quality that is in the repository, and its figure."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from alternatives import draw, some_users
from sparserec.data import make_world

ROOT = Path(__file__).parents[2]


def test_all_runs_of_the_curve_were_asked_the_same_users() -> None:
    rows = [json.loads(line) for line in (ROOT / "results" / "device_curve.jsonl").read_text().splitlines()]
    popular = {round(row["trained"]["ndcg@20"], 6) for row in rows if row["file"] == "popularity"}
    kinds = defaultdict(set)
    for row in rows:
        kinds[row["run"]].add(row["kind"])
    assert len(popular) == 1, "popularity knows no model: it can differ only where the users do"
    assert len(kinds) >= 3 and all(found == {"level", "ours", "onnx", "faiss"} for found in kinds.values())


def test_figure_is_drawn(tmp_path: Path, drawing: None) -> None:
    rows = [json.loads(line) for line in (ROOT / "results" / "device_curve.jsonl").read_text().splitlines()]
    draw(rows, tmp_path / "figures" / "curve.png")
    assert (tmp_path / "figures" / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_users_are_drawn_by_name() -> None:
    """Renumbering, which some methods do, changes nobody who is asked."""
    train = make_world().train
    rng = np.random.default_rng(3)
    renumbered = train.relabel(rng.permutation(train.n_users), rng.permutation(train.n_items))
    first, second = (
        set(part.user_ids.external(part.users))
        for part in (some_users(train, 40), some_users(renumbered, 40))
    )
    assert first == second and len(first) == 40
    assert len(some_users(train, 10**9)) == len(train)
