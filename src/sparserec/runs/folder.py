"""A run folder read back: all of it, or only what it says about itself; an error names what is wrong.

The data set itself is not needed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import Split
from sparserec.errors import RunError
from sparserec.graph import Adjacency
from sparserec.recommenders import Recommender, graph_of, make_recommender
from sparserec.runs.stored_split import load_split
from sparserec.table import Table
from sparserec.training.checkpoint import load_table
from sparserec.training.config import RunConfig
from sparserec.vectors.propagate import propagate_all

CONFIG, RECORD, DATA = "config.json", "record.json", "data.safetensors"


@dataclass(frozen=True)
class Trained:
    """Everything that scoring, exporting or continuing needs."""

    config: RunConfig
    split: Split
    graph: Adjacency
    recommender: Recommender
    table: Table
    record: dict[str, Any]

    def vectors(self) -> np.ndarray:
        """Output vectors of all nodes, users first, shape (nodes, dim)."""
        return propagate_all(self.recommender, self.graph, self.table)


def reopen(folder: Path) -> Trained:
    """Read a finished run; an unfinished or damaged folder is a RunError that says what is missing."""
    folder = Path(folder)
    for name in ("config.json", "data.safetensors", "model.safetensors", "record.json"):
        if not (folder / name).exists():
            state = (
                "an unfinished run (continue it with train --resume)"
                if (folder / "config.json").exists()
                else "not a run folder"
            )
            raise RunError(f"{folder}: {name} is missing, so this is {state}")
    try:
        config = RunConfig.parse(
            json.loads((folder / "config.json").read_text(encoding="utf-8")), str(folder / "config.json")
        )
        record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise RunError(
            f"{folder}: config.json or record.json is not JSON ({error}); the folder is damaged"
        ) from None
    split = load_split(folder / "data.safetensors")
    recommender = make_recommender(config.base, config.base_settings)
    graph = graph_of(recommender, split.train)
    return Trained(config, split, graph, recommender, load_table(folder / "model.safetensors"), record)


def read_run(folder: Path) -> Trained:
    """A finished run, its parts checked to belong together."""
    read_config(folder)
    read_record(folder)
    try:
        run = reopen(folder)
    except KeyError as error:
        raise RunError(f"{folder}: {error} is missing; the run folder is damaged, train again") from None
    expected = run.split.n_items + (run.split.n_users if run.recommender.user_rows else 0)
    rows = run.table.shape.n_rows
    if rows != expected or run.split.hash != run.record.get("split", {}).get("hash"):
        raise RunError(
            f"{folder}: the table ({rows:,} rows), the data ({expected:,} rows to have) and the record are not of "
            "the same run; the folder is damaged, train again"
        )
    return run


def read_config(folder: Path) -> RunConfig:
    """The configuration a run was started with."""
    if not folder.exists():
        raise RunError(f"{folder}: no such run; `sparserec runs` lists those in a folder")
    if not (folder / CONFIG).is_file():
        raise RunError(f"{folder}: not a run folder (it has no {CONFIG}); `sparserec runs` lists runs")
    return RunConfig.parse(_read_json(folder / CONFIG), str(folder / CONFIG))


def read_record(folder: Path) -> dict[str, Any]:
    """What a finished run wrote down about itself."""
    if not (folder / RECORD).is_file():
        raise RunError(
            f"{folder}: this run is not finished (it has no {RECORD}); "
            f"continue it with `sparserec train --resume --run {folder}` and the settings it was started with"
        )
    return _read_json(folder / RECORD)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: damaged, not valid JSON ({error}); train again") from None
    if not isinstance(values, dict):
        raise RunError(f"{path}: damaged, expected a JSON object; train again")
    return values
