"""A small log with three tastes, and runs trained on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sparserec.data import read_source
from sparserec.export import ExportOptions
from sparserec.runs.train import train_run
from sparserec.runs.trained import Trained, open_run
from sparserec.training.config import Recipe, RunConfig

N_USERS, N_ITEMS = 60, 45


def city(text_ids: bool) -> object:
    rng = np.random.default_rng(1)
    pairs = [(u, i) for u in range(N_USERS) for i in range(N_ITEMS) if u % 3 == i % 3 and rng.random() < 0.7]
    pairs += [(i % N_USERS, i) for i in range(N_ITEMS)]
    return read_source([(f"user {u}", f"place {i}") for u, i in pairs] if text_ids else pairs)


def train(
    folder: Path,
    base: str,
    base_settings: dict | None = None,
    text_ids: bool = False,
    method: str = "sparserec",
) -> Trained:
    settings = {"nmf_iterations": 3} if method == "sparserec" else {}
    config = RunConfig(
        base=base, base_settings=base_settings or {}, method=method, method_settings=settings, dim=16, density=0.3,
        recipe=Recipe(epochs=2, batch_size=200, validate_every=1),
    )  # fmt: skip
    train_run(config, folder, source=city(text_ids))
    return open_run(folder)


def full_options(**changes: object) -> ExportOptions:
    return ExportOptions(mode="full", include_everyones_history=True, **changes)  # type: ignore[arg-type]
