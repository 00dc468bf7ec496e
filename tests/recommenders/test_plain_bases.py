"""The rivals we are timed against must be the same models: two steps of each equal two of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import slow_bases as slow
import torch

from sparserec.data import Batch
from sparserec.graph import build_adjacency
from sparserec.recommenders import make_recommender
from sparserec.recommenders.step import Stepper
from sparserec.table import DenseTable, Shape

DIM, EDGES = 6, 12
TRAIN = slow.toy_interactions()


@pytest.fixture
def rivals(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import plain_bases

    return plain_bases


def pairs_of(rivals: Any) -> Any:
    return rivals.Pairs(
        TRAIN.users.astype(np.int64), TRAIN.items.astype(np.int64), TRAIN.n_users, TRAIN.n_items
    )


def compare(rival: Any, name: str, settings: dict[str, Any], batch: Batch, rate: float, *sent: int) -> None:
    """Two steps from the same table, on the first `sent` arrays of the batch."""
    base = make_recommender(name, settings)
    shape = Shape(TRAIN.n_users, TRAIN.n_items, DIM, DIM)
    ours = DenseTable(shape, [rival.table.detach().numpy().copy()])
    stepper = Stepper(base, build_adjacency(TRAIN, base.self_loops), ours, 0)
    arrays = [batch.users, batch.positives, batch.negatives[:, 0]]
    tensors = [torch.from_numpy(arrays[index].astype(np.int64)) for index in sent]
    for step in (1, 2):
        assert rival.step(*tensors) == pytest.approx(stepper.run(batch, step, rate), rel=1e-4)
    np.testing.assert_allclose(rival.table.detach().numpy(), ours.values[0], atol=2e-4)


def test_plain_xsimgcl(rivals: Any) -> None:
    torch.manual_seed(0)
    rival = rivals.PlainXSimGCL(pairs_of(rivals), DIM, noise=0.0)
    compare(rival, "xsimgcl", {"noise": 0.0}, slow.toy_batch(TRAIN, EDGES, 1, 1), 1e-3, 0, 1, 2)


def test_plain_mgdcf(rivals: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = slow.toy_batch(TRAIN, EDGES, 5, 1)
    torch.manual_seed(0)
    # a large decay: users without edges learn from it alone, and Adam's epsilon must stay small beside it in a mean too
    rival = rivals.PlainMGDCF(
        pairs_of(rivals), DIM, entry_dropout=0.0, output_dropout=0.0, negatives=5, decay=1.0
    )
    drawn = torch.from_numpy(batch.negatives.astype(np.int64))
    monkeypatch.setattr(rivals.torch, "randint", lambda *size: drawn)
    settings = {
        "entry_dropout": 0, "output_dropout": 0, "negatives": 5, "group_size": 1, "decay": 1.0, "decay_rows": "all",
    }  # fmt: skip
    compare(rival, "mgdcf", settings, batch, 1e-2, 0, 1)
