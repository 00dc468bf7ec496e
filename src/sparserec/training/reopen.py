"""A finished run read back from its folder; the data set itself is not needed."""

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
from sparserec.shipping.vectors import propagate_all
from sparserec.table import Table
from sparserec.training.config import RunConfig
from sparserec.training.store import load_split
from sparserec.training.tables import load_table


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
