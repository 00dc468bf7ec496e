"""Bytes of a plan worked out by hand from the sizes, role by role, and against the arrays that they stand for."""

from __future__ import annotations

import pytest

from sparserec.planning import memory_plan as plan
from sparserec.planning.memory_plan import Sizes
from sparserec.planning.timing import synthetic_train
from sparserec.recommenders import make_recommender
from sparserec.recommenders.lightgcn import LightGCN, LightGCNSettings
from sparserec.table import Held
from sparserec.training.config import RunConfig

SIZES = Sizes(700, 400, 6000, 2500, id_bytes=1000)
"""1,100 nodes, 8,500 interactions."""
CONFIG = RunConfig.parse({"base": "lightgcn", "dim": 24, "recipe": {"epochs": 4, "batch_size": 500}})
SPARSE = Held("sparse", 24, {"values": 1000, "positions": 2000})
LIGHTGCN = LightGCN(LightGCNSettings())
CODE = (24 + 100) * 1024 * 1024


def test_interactions() -> None:
    """8 bytes a pair, 8 more with a time; ids three times; 16 bytes a node."""
    assert plan.interactions_held(SIZES, 1) == 8 * 8500 + 3000 + 17600 == 88_600
    assert plan.interactions_held(SIZES, 2) == 156_600
    timed = Sizes(700, 400, 6000, 2500, timed=True, id_bytes=1000)
    assert plan.interactions_held(timed, 2) == 292_600


@pytest.mark.parametrize(
    ("base", "settings"),
    [("lightgcn", {}), ("history", {"temperature": 0.1}), ("mgdcf", {"self_loops": True})],
)
def test_the_graph_is_as_large_as_its_arrays(base: str, settings: dict) -> None:
    made = make_recommender(base, settings)
    train = synthetic_train(700, 400, 6000)
    graph = made.graph(train)
    arrays = graph.offsets.nbytes + graph.neighbours.nbytes + graph.weights.nbytes
    assert made.graph_bytes(plan.step_sizes(CONFIG, Sizes(700, 400, len(train)))) == arrays


def test_the_factorisation() -> None:
    """112 MB for the process, 28 bytes a pair, two copies of 1,100 x 16 numbers and 26 bytes for .13 of them."""
    factors = 4 * 1100 * 16
    assert plan.nmf_bytes(SIZES, 16) == 112 * 1024 * 1024 + 168_000 + 2 * factors + 59_488 == 117_808_800


def test_the_beginning() -> None:
    ledger = plan.init_bytes(CONFIG, SIZES, 100_404, 156_600, nmf=50)
    assert ledger == {
        "interactions": 156_600,
        "graph": 100_404,
        "sorting": 144_000,  # 24 a pair
        "libraries": 100 * 1024 * 1024,
        "factors": 137_280,  # 40 bytes for .13 of 1,100 x 24
    }
    assert "factors" not in plan.init_bytes(CONFIG, SIZES, 100_404, 156_600, nmf=0)


def test_a_step_over_edges() -> None:
    sizes = plan.step_sizes(CONFIG, SIZES, SPARSE)
    rows = LIGHTGCN.batch_rows(sizes)
    assert 700 < rows < 900
    assert LIGHTGCN.step_bytes(sizes) == {
        "scratch": 4 * 2 * 1100 * 24,  # two float32 buffers of all nodes
        "rows": 4 * 2 * rows * 24,  # outputs and their gradients
        "loss": 4 * 3 * 500 * 24,  # three gathered rows of each edge
    }


def test_training() -> None:
    ledger = plan.train_bytes(CONFIG, SIZES, LIGHTGCN, SPARSE, 100_404, 88_600)
    passing = LIGHTGCN.step_bytes(plan.step_sizes(CONFIG, SIZES, SPARSE))
    scratch = passing.pop("scratch")
    assert ledger == {
        "values": 1000,
        "positions": 2000,
        **passing,
        "scratch": scratch,
        "graph": 100_404,
        "interactions": 88_600,
        "batches": 24_000 + 8_800 + 32_000,  # 4 a pair, 8 a node, 64 an edge of the batch
        "checkpoint": 3000,
        "allocator": sum(passing.values()),
        "code and libraries": CODE,
    }


def test_evaluating() -> None:
    """700 users ranked in tiles of 512 x 400 scores."""
    assert plan.score_bytes(SIZES, 24) == 4 * 512 * (400 + 24 + 21) == 911_360
    ledger = plan.evaluate_bytes(SIZES, LIGHTGCN, SPARSE, 100_404, 88_600)
    assert ledger == {
        "values": 1000,
        "positions": 2000,
        "quantised": 20_000,
        "vectors": 105_600,  # float32 of 1,100 x 24
        "fold-in": 0,
        "allocator": 105_600,
        "scratch": 4 * 105_600,
        "scores": 911_360 + 84_000,
        "graph": 100_404,
        "interactions": 88_600,
        "batches": 24_000 + 8_800,
        "code and libraries": CODE,
    }
    dense = Held("dense", 24, {"values": 1000})
    assert plan.evaluate_bytes(SIZES, LIGHTGCN, dense, 0, 0)["quantised"] == 7000
    held_out = Sizes(700, 400, 6000, 2500, new_users=100)
    assert plan.evaluate_bytes(held_out, LIGHTGCN, SPARSE, 0, 0)["fold-in"] == 4 * (1100 + 700) * 24
