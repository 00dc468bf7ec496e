"""A run small enough to be killed many times, and a process that dies where it is told to.

python small_run.py FOLDER      trains into the folder, or goes on where it was left
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np

from sparserec.data import Source, read_source
from sparserec.runs.train import train_run
from sparserec.runs.warm_start import open_warm_start
from sparserec.table import SparseTable
from sparserec.training import checkpoint, loop
from sparserec.training.config import Recipe, RunConfig


def block_pairs(n_users: int, n_items: int, groups: int, seed: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    return [
        (user, item)
        for user in range(n_users)
        for item in range(n_items)
        if (user % groups == item % groups and rng.random() < 0.8) or rng.random() < 0.01
    ]


def blocks(n_users: int = 90, n_items: int = 60, groups: int = 6, seed: int = 0) -> Source:
    """Users like most items of their own group: what is held out can be learnt."""
    return read_source(block_pairs(n_users, n_items, groups, seed))


def train_smaller(folder: Path, **changes: object) -> None:
    """A run on the log of `blocks()` before its last users, items and some other pairs were there."""
    pairs = [(user, item) for user, item in block_pairs(90, 60, 6, 0) if user < 80 and item < 54]
    train_run(small_config(**changes), folder, source=read_source(pairs[::2] + pairs[1::4]))


def small_config(**changes: object) -> RunConfig:
    recipe = Recipe(epochs=6, batch_size=100, validate_every=2, explore_every=1)
    method_settings = {"nmf_iterations": 5}
    values = {
        "data": "blocks",
        "base": "lightgcn",
        "dim": 24,
        "density": 0.25,
        "recipe": recipe,
        "method_settings": method_settings,
    }
    return RunConfig(**{**values, "checkpoint_every": 2, "ks": (20,), **changes})  # type: ignore[arg-type]


class Countdown:
    """Kills the process (SIGKILL) at the count-th visit."""

    def __init__(self, count: int) -> None:
        self.left = count

    def reached(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, owner: object, name: str) -> None:
        original = getattr(owner, name)

        def wrapped(*args: object, **options: object) -> object:
            self.reached()
            return original(*args, **options)

        setattr(owner, name, wrapped)


def die_in_a_step(countdown: Countdown) -> None:
    """Some blocks are updated, others are not."""
    countdown.before(SparseTable, "receive")


def die_in_an_exploration(countdown: Countdown) -> None:
    countdown.before(SparseTable, "change_support")


def die_while_writing(countdown: Countdown) -> None:
    """Half of a checkpoint or table is on disk under its temporary name."""
    original = checkpoint.save_file

    def half(arrays: object, path: Path, **options: object) -> None:
        original(arrays, path, **options)
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        countdown.reached()
        path.write_bytes(whole)

    checkpoint.save_file = half


def die_after_a_phase(countdown: Countdown) -> None:
    """The phase's table is written, the checkpoint that says so is not."""
    original = loop.save_table

    def after(path: Path, table: object) -> None:
        original(path, table)
        if path.name.startswith("phase-"):
            countdown.reached()

    loop.save_table = after


POINTS = {
    "step": die_in_a_step,
    "explore": die_in_an_exploration,
    "write": die_while_writing,
    "phase": die_after_a_phase,
}


def train_or_continue(folder: Path, old: Path | None = None) -> None:
    """Train into the folder, or go on where it was left; with `old`, from the run there."""
    warm = open_warm_start(old) if old is not None else None
    train_run(small_config(), folder, source=blocks(), resume=(folder / "config.json").exists(), start=warm)


def train_and_die(point: str, count: int, folder: Path, old: Path | None = None) -> None:
    """The same in a process that is killed at the count-th visit of the point."""
    POINTS[point](Countdown(count))
    train_or_continue(folder, old)


if __name__ == "__main__":
    train_or_continue(Path(sys.argv[1]))
