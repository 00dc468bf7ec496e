"""The way from data to a run: what is read is given back once it is split."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparserec.data import Source
from sparserec.runs.train import Input, train_run
from sparserec.table import Table
from sparserec.training.config import RunConfig
from sparserec.training.loop import Loop

CONFIG = RunConfig.parse(
    {
        "base": "lightgcn",
        "method": "static",
        "dim": 8,
        "ks": (5,),
        "recipe": {"epochs": 1, "batch_size": 200},
    }
)


@pytest.mark.parametrize("protocol", ["resplit", "new-users"])
def test_the_source_does_not_live_while_training(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = np.argwhere(np.random.default_rng(0).random((60, 40)) < 0.3)
    held: list[weakref.ref] = []
    alive: list[bool] = []
    read, run = Input.read, Loop.run

    def watched(self: Input, options: dict[str, Any]) -> Source:
        source = read(self, options)
        held.extend([weakref.ref(source), weakref.ref(source.train.users)])
        return source

    def looking(self: Loop, resume: bool = False) -> Table:
        gc.collect()
        alive.extend(one() is not None for one in held)
        return run(self, resume)

    monkeypatch.setattr(Input, "read", watched)
    monkeypatch.setattr(Loop, "run", looking)
    config = CONFIG.model_copy(update={"protocol": protocol})
    finished = train_run(config, tmp_path / "run", Input(pairs.tolist()))
    assert alive == [False, False]
    assert finished.record["data"]["interactions"] == len(pairs)
