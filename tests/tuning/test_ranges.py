"""Every range that stands beside a setting: it holds the default, and a training listens to it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tune_toy import toy_log

from sparserec.methods import METHODS
from sparserec.recommenders import RECOMMENDERS
from sparserec.training import Loop, RunConfig, build_config, prepare_run
from sparserec.training.config import Recipe
from sparserec.tuning import Searched, search_space, with_values

SHORT: dict[str, dict[str, Any]] = {
    "pep": {"threshold_rate": 0.5},
    "cerp": {"threshold_rate": 0.5},
    "taper": {"init": "uniform"},  # a factorisation would be filling up for most of so few steps
}


def config_of(base: str, method: str) -> RunConfig:
    values: dict[str, Any] = {
        "data": "toy", "base": base, "method": method, "dim": 8, "density": 0.25, "ks": (5,),
        "recipe": {"epochs": 4, "batch_size": 100}, "method_settings": SHORT.get(method, {}),
    }  # fmt: skip
    return build_config(values)


def cases() -> list[tuple[str, str, Searched]]:
    """Settings of recipe and bases on a dense table, those of methods on LightGCN."""
    found = [
        (base, "dense", one)
        for base in RECOMMENDERS
        for one in search_space(config_of(base, "dense"))
        if not one.path.startswith("recipe.") or base in ("lightgcn", "history")
    ]
    for method in METHODS:
        space = search_space(config_of("lightgcn", method))
        found += [("lightgcn", method, one) for one in space if one.path.startswith("method_settings.")]
    return found


CASES = cases()


@cache
def trained(config: str, folder: Path) -> bytes:
    prepared = prepare_run(RunConfig.model_validate_json(config), toy_log())
    table = Loop(prepared, folder, emit=lambda event: None).run()
    return np.asarray(prepared.recommender.outputs(prepared.graph, table)).tobytes()


@pytest.mark.parametrize(("base", "method", "one"), CASES, ids=[f"{b}-{m}-{one.path}" for b, m, one in CASES])
def test_a_training_listens_to_what_is_searched(
    base: str, method: str, one: Searched, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config, folder = config_of(base, method), tmp_path_factory.getbasetemp() / "ranges" / f"{base}-{method}"
    if base == "history":  # else short trainings would choose it, longer than this one
        config = with_values(config, {"base_settings.temperature": 0.2})
    far = one.low if one.default is not None and one.high - one.default < one.default - one.low else one.high
    tried = with_values(config, {one.path: int(far) if one.whole else far})
    assert not tried.open_test
    before = trained(config.model_dump_json(), folder)
    assert trained(tried.model_dump_json(), folder) != before


def test_every_range_holds_its_default_or_waits_for_the_second_trial() -> None:
    without = {"base_settings.temperature", "base_settings.length_exponent"}
    assert {one.path for base, _, one in CASES if base == "history" and one.default is None} == without
    assert all(one.starts_at_default for _, _, one in CASES if one.default is not None)


def test_what_is_given_stands() -> None:
    config = config_of("lightgcn", "sparserec")
    paths = {one.path for one in search_space(config)}
    assert {"recipe.learning_rate", "base_settings.decay", "method_settings.drop_fraction"} <= paths
    assert {one.path for one in search_space(config, {"base_settings.decay"})} == paths - {
        "base_settings.decay"
    }


def test_a_rate_of_its_own_and_a_fall_that_is_not_used_are_left_out() -> None:
    dhe = {one.path for one in search_space(config_of("lightgcn", "dhe"))}
    assert "method_settings.learning_rate" in dhe and "recipe.learning_rate" not in dhe
    history = {one.path for one in search_space(config_of("history", "dense"))}
    assert "recipe.final_learning_rate" in history and "recipe.rate_falls_by" not in history


def test_a_range_is_around_what_the_run_has() -> None:
    rate = next(
        one for one in search_space(config_of("mgdcf", "dense")) if one.path == "recipe.learning_rate"
    )
    assert (rate.low, rate.default, rate.high, rate.log) == (0.03, 0.24, 1.92, True)
    assert set(Recipe.search_ranges()) == {"learning_rate", "final_learning_rate", "rate_falls_by"}
