"""Every method with every base: it learns, holds its budget, and says what it costs.

New ones are covered by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from method_toy import CHANCE, LISTED, block_source, train_toy

from sparserec.encodings import evaluate_test
from sparserec.errors import SettingError
from sparserec.evaluation import Evaluation
from sparserec.exploration import allocate_entries
from sparserec.methods import METHODS, make_method
from sparserec.planning import Sizes, estimate_run
from sparserec.recommenders import RECOMMENDERS
from sparserec.runs.trained import measure_test, metrics_of, open_run
from sparserec.table import Table

WELL_ABOVE_CHANCE = {"lightgcn": 0.3, "mgdcf": 0.3, "xsimgcl": 0.3}
"""More than four times chance with a graph; without one a fixed random support learns little in 50 steps, and a
network of a thousand weights, which tells rows apart by their hashes alone, still less."""


@pytest.fixture(scope="session", autouse=True)
def one_factorisation(tmp_path_factory: pytest.TempPathFactory) -> object:
    """NMF runs once for all tests here, and leaves nothing behind."""
    patch = pytest.MonkeyPatch()
    patch.setenv("SPARSEREC_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.mark.parametrize("base", RECOMMENDERS)
@pytest.mark.parametrize("method", METHODS)
def test_learns_and_holds_its_budget(method: str, base: str, tmp_path: Path) -> None:
    finished = train_toy(tmp_path / "run", method, base)
    record, table = finished.record, finished.table
    for precision in ("float", "int8"):
        hits = record["test"][precision][f"recall@{LISTED}"]
        least = 1.5 * CHANCE if (method, base) == ("dhe", "mf") else WELL_ABOVE_CHANCE.get(base, 2 * CHANCE)
        assert hits > least, (precision, hits)

    shape = finished.prepared.context.shape()
    everything, budget = shape.n_rows * shape.dim, round(0.25 * shape.n_rows * shape.dim)
    assert record["parameters"] == table.parameters()
    if method == "dense":
        assert record["parameters"] == everything
    elif method in ("small_dense", "dhe"):  # whole columns, whole layers
        assert 0 <= budget - record["parameters"] < 2 * shape.n_rows
    else:
        assert record["parameters"] == budget
    assert record["bytes"]["int8"] > record["parameters"], "indices and scales are counted"

    # what the method declares of its phases, and its base of its steps, against the largest phase of the training
    ledger = record["memory"]["ledger"]
    sizes = Sizes.of_source(block_source(), "resplit")
    plan = estimate_run(finished.prepared.config, sizes, timed=False).memory["train"]
    assert sum(plan.get(role, 0) for role in ledger) == pytest.approx(sum(ledger.values()), rel=0.15), (
        plan,
        ledger,
    )

    state = sum(ledger[role] for role in ledger if role not in ("scratch", "rows", "graph"))
    assert state < 12 * everything or not finished.prepared.method.sparse_state, (
        "dense state must be declared"
    )
    per_epoch = finished.prepared.context.steps_per_epoch
    assert record["cost"] == pytest.approx(
        sum(phase["steps"] for phase in record["epochs"]) / (12 * per_epoch)
    )
    assert record["steps"] <= sum(phase["epochs"] for phase in record["epochs"]) * per_epoch
    assert (
        metrics_of(measure_test(open_run(tmp_path / "run").table, _test_of(tmp_path / "run")))
        == record["test"]
    )


def _test_of(folder: Path) -> Callable[[Table], Evaluation]:
    """Test results of a table as the reopened run measures it."""
    run = open_run(folder)
    return lambda table: evaluate_test(run.recommender, run.graph, table, run.split, run.config.ks)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("static", {"init": "nmf"}),
        ("static", {"init": "nmf", "nmf_iterations": 1}),  # more non-zeros than the budget
        ("dsl", {"mode": "described"}),
        ("rigl", {"scope": "tables"}),
        ("magnitude", {"scope": "joint", "fine_tune": 0.25}),
        ("sparserec", {"init": "uniform", "growth": "instantaneous"}),
    ],
)
def test_variants_hold_the_budget_too(method: str, settings: dict[str, Any], tmp_path: Path) -> None:
    record = train_toy(tmp_path / "run", method, density=0.3, method_settings=settings).record
    assert record["parameters"] == round(0.3 * 168 * 24)
    assert record["test"]["float"][f"recall@{LISTED}"] > 4 * CHANCE


@pytest.mark.parametrize("base", ["lightgcn", "history"])
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("sparserec", {"init": "rotated"}),
        ("sparserec", {"init": "uniform", "row_exponent": 0.5}),
        ("static", {"init": "rotated", "row_exponent": 0.3}),
        ("taper", {"exploring": {"init": "rotated"}}),
        ("sparserec", {"init": "rotated", "start_ratio": 2.0}),
        ("sparserec", {"init": "rotated", "start_ratio": 2.0, "row_exponent": 0.5}),
    ],
)
def test_first_supports_hold_the_budget(
    method: str, settings: dict[str, Any], base: str, tmp_path: Path
) -> None:
    finished = train_toy(tmp_path / "run", method, base, method_settings=settings)
    shape = finished.prepared.context.shape()
    assert finished.record["parameters"] == round(0.25 * shape.n_rows * shape.dim)
    assert finished.record["test"]["float"][f"recall@{LISTED}"] > 4 * CHANCE
    inner = settings.get("exploring", settings)
    names = [phase["name"] for phase in finished.record["epochs"]]
    assert names == (["rotate", "train"] if inner["init"] == "rotated" else ["train"])
    assert not make_method(method, settings).sparse_state or inner["init"] != "rotated"
    if base == "history" and "row_exponent" not in inner:
        assert set(finished.table.row_sizes()) == {6}, "rows stay even while they explore"
    elif base == "history":
        counts = finished.prepared.split.train.item_counts()
        sizes = allocate_entries(counts, finished.record["parameters"], shape.dim, inner["row_exponent"])
        assert finished.table.row_sizes().tolist() == sizes.tolist(), (
            "allocated by frequency, also after cuts"
        )


def test_taper_is_sparserec_that_begins_with_more(tmp_path: Path) -> None:
    """One computation under two names; the cuts of taper are its own settings."""
    wide = train_toy(tmp_path / "wide", "sparserec", method_settings={"init": "uniform", "start_ratio": 2.0})
    named = train_toy(tmp_path / "taper", "taper", method_settings={"exploring": {"init": "uniform"}})
    plain = train_toy(tmp_path / "plain", "sparserec", method_settings={"init": "uniform"})
    assert (wide.table.values == named.table.values).all()
    assert (wide.table.positions == named.table.positions).all()
    assert (
        len(wide.table.values) == len(plain.table.values) and (wide.table.values != plain.table.values).any()
    )
    with pytest.raises(SettingError, match="start_ratio: a setting of taper itself"):
        make_method("taper", {"exploring": {"start_ratio": 3.0}})


def test_even_rows_need_a_table_of_items(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="rows=even needs a base whose users have no rows"):
        train_toy(
            tmp_path / "run", "sparserec", "lightgcn", method_settings={"init": "uniform", "rows": "even"}
        )


def test_dense_state_is_in_the_ledger(tmp_path: Path) -> None:
    entries = 168 * 24
    pep = train_toy(tmp_path / "pep", "pep").record["memory"]["ledger"]
    assert (pep["values"], pep["thresholds"], pep["moments"]) == (4 * entries, 4 * entries, 16 * entries)
    dsl = train_toy(tmp_path / "dsl", "dsl").record["memory"]["ledger"]
    assert (dsl["values"], dsl["moments"], dsl["gradient"]) == (4 * entries, 8 * entries, 4 * entries)
    described = train_toy(tmp_path / "described", "dsl", method_settings={"mode": "described"}).record
    assert described["memory"]["ledger"]["accumulated"] >= 4 * entries, "the gradient is still dense"
    assert described["parameters"] == entries // 4
