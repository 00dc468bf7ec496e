"""A run small enough to be killed many times, and a process that dies where it is told to.

    python small_run.py FOLDER [POINT COUNT]      POINT: step, explore, write, phase
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np

from sparserec.data import Source, read_source
from sparserec.training.config import RunConfig
from sparserec.training.recipe import Recipe
from sparserec.training.run import train_run


def blocks(n_users: int = 90, n_items: int = 60, groups: int = 6, seed: int = 0) -> Source:
    """Users like most items of their own group: what is held out can be learnt."""
    rng = np.random.default_rng(seed)
    pairs = [
        (user, item)
        for user in range(n_users)
        for item in range(n_items)
        if (user % groups == item % groups and rng.random() < 0.8) or rng.random() < 0.01
    ]
    return read_source(pairs)


def small_config(**changes: object) -> RunConfig:
    recipe = Recipe(epochs=6, batch_size=100, validate_every=2)
    method_settings = {"explore_every": 1, "nmf_iterations": 5}
    values = {"data": "blocks", "dim": 24, "density": 0.25, "recipe": recipe, "method_settings": method_settings}
    return RunConfig(**{**values, "checkpoint_every": 2, "ks": (20,), **changes})  # type: ignore[arg-type]


def die_at(point: str, count: int) -> None:
    """Arrange for the process to be killed (SIGKILL) at the count-th visit of a point."""
    from sparserec import files
    from sparserec.table import SparseTable
    from sparserec.training import checkpoint, loop, tables
    from sparserec.training.step import Stepper

    left = [count]

    def reached() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(owner: object, name: str) -> None:
        original = getattr(owner, name)

        def wrapped(*args: object, **options: object) -> object:
            reached()
            return original(*args, **options)

        setattr(owner, name, wrapped)

    if point == "step":  # in the middle of a step: some blocks are updated, others are not
        before(SparseTable, "receive")
    elif point == "explore":
        before(SparseTable, "change_support")
    elif point == "write":  # half of a checkpoint or table is on disk under its temporary name
        original = checkpoint.save_file

        def half(arrays: object, path: Path, **options: object) -> None:
            original(arrays, path, **options)
            os.truncate(path, os.path.getsize(path) // 2)
            reached()
            original(arrays, path, **options)

        checkpoint.save_file = half
    elif point == "phase":  # the phase's table is written, the checkpoint that says so is not
        original_save = tables.save_table

        def after(path: Path, table: object) -> None:
            original_save(path, table)
            if path.name.startswith("phase-"):
                reached()

        loop.save_table = after
    else:
        raise SystemExit(f"unknown point {point}; files is {files}")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        die_at(sys.argv[2], int(sys.argv[3]))
    train_run(small_config(), folder, source=blocks(), resume=(folder / "config.json").exists())
