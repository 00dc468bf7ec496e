"""A small world with an obvious answer: users like the items of their own block and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sparserec.data import Interactions
from sparserec.data.columns import ReadReport, Source
from sparserec.methods import Context
from sparserec.runs.train import Finished, Input, train_run
from sparserec.table import InitialValues, Shape
from sparserec.training.config import RunConfig

BLOCKS, USERS, ITEMS = 6, 16, 12  # users and items of each block
LISTED = 5
CHANCE = LISTED / (BLOCKS * ITEMS)
BASE_SETTINGS: dict[str, dict[str, Any]] = {
    "xsimgcl": {
        "contrast_weight": 0.05
    },  # at .2 it pushes the users of a block apart, who are all alike here
    "history": {"users_per_batch": 16, "temperature": 0.2},  # as many steps as the others have
}

METHOD_SETTINGS: dict[str, dict[str, Any]] = {
    "bet": {"probes": 6, "probe_share": 0.1, "actions": 10, "retrained": 2},
    "ciess": {"episodes": 2, "episode_steps": 3, "probe_share": 0.1, "updates": 1, "retrained": 2},
    "dhe": {"learning_rate": 0.02},  # sixty steps are few for a network
}


def block_source(seed: int = 0) -> Source:
    """Every user has three quarters of the items of their block; the split withholds some of those."""
    rng = np.random.default_rng(seed)
    pairs = [
        (user, block * ITEMS + item)
        for block in range(BLOCKS)
        for user in range(block * USERS, (block + 1) * USERS)
        for item in rng.permutation(ITEMS)[: ITEMS * 3 // 4]
    ]
    users, items = np.array(pairs).T
    return Source(Interactions.from_pairs(users, items), None, None, ReadReport("toy"))


def config_of(method: str, base: str = "lightgcn", **changes: Any) -> RunConfig:
    """A short training on the toy."""
    values: dict[str, Any] = {
        "method": method,
        "base": base,
        "base_settings": BASE_SETTINGS.get(base, {}),
        "method_settings": METHOD_SETTINGS.get(method, {}),
        "dim": 24,
        "density": 0.25,
        "ks": (LISTED,),
        "checkpoint_every": 4,
        "recipe": {"epochs": 12, "batch_size": 150, "learning_rate": 0.1, "final_learning_rate": 0.02},
    }
    return RunConfig.parse(values | changes)


def train_toy(folder: Path, method: str, base: str = "lightgcn", **changes: Any) -> Finished:
    """Train a method on the toy into a folder, through the entrance that `sparserec train` uses."""
    config = config_of(method, base, **changes)
    return train_run(config, folder, Input(block_source()))


def small_context(shape: Shape, density: float, **changes: Any) -> Context:
    """A context without data behind it, for one call of a method."""
    users, items = np.divmod(np.arange(shape.n_users * shape.n_items), shape.n_items)
    values: dict[str, Any] = {
        "train": Interactions.from_pairs(users, items), "dim": shape.dim, "density": density, "epochs": 10,
        "steps_per_epoch": 10, "seed": 1, "initial": lambda dim: InitialValues(1, "normal", 0.1, 0.1), "factors": None,
    }  # fmt: skip
    return Context(**(values | changes))
