"""Lengths and rates of trainings, and which recipe a base has where none is named."""

from __future__ import annotations

import pytest

from sparserec.training.config import EarlyStop, Recipe, build_config, merge


def test_a_small_log_has_as_many_epochs_as_its_steps_ask_for() -> None:
    recipe = Recipe(epochs=8, least_steps=800)
    assert recipe.length(117) == 8  # 936 steps
    assert recipe.length(40) == 20
    assert recipe.length(33) == 25  # 24 would be 792
    assert Recipe(epochs=8).length(1) == 8


def test_rates_fall_with_epochs_or_with_steps() -> None:
    stairs = Recipe(epochs=3, learning_rate=0.04, final_learning_rate=0.01)
    assert [stairs.rate_at(step, 2, 3) for step in range(6)] == pytest.approx(
        [0.04, 0.04, 0.02, 0.02, 0.01, 0.01]
    )
    smooth = stairs.model_copy(update={"rate_falls": "steps"})
    rates = [smooth.rate_at(step, 2, 3) for step in range(6)]
    assert rates[0] == 0.04 and rates[-1] == pytest.approx(0.01)
    assert [rates[i + 1] / rates[i] for i in range(5)] == pytest.approx([0.25**0.2] * 5)
    assert smooth.rate_at(0, 2, 3, first=0.08) == 0.08


def test_forms_of_the_fall_hand_worked() -> None:
    """Five epochs from .4 to .1: the middle is the geometric mean, the mean, and the cosine's half."""
    ends: dict = {"learning_rate": 0.4, "final_learning_rate": 0.1}
    rates = {
        form: [Recipe(**ends, rate_fall=form).rate(epoch, 5) for epoch in (1, 2, 3, 5)]
        for form in ("geometric", "linear", "cosine")
    }
    assert rates["geometric"] == pytest.approx([0.4, 0.4 * 0.25**0.25, 0.2, 0.1])
    assert rates["linear"] == pytest.approx([0.4, 0.325, 0.25, 0.1])
    assert rates["cosine"] == pytest.approx([0.4, 0.1 + 0.15 * (1 + 0.5**0.5), 0.25, 0.1])


def test_a_fall_by_a_factor_follows_the_first_rate() -> None:
    recipe = Recipe(learning_rate=0.12, final_learning_rate=None, rate_falls_by=4)
    assert [recipe.rate(epoch, 3) for epoch in (1, 2, 3)] == pytest.approx([0.12, 0.06, 0.03])
    assert recipe.rate(3, 3, first=0.4) == pytest.approx(0.1), (
        "a phase that begins at another rate ends at another"
    )
    named = recipe.model_copy(update={"final_learning_rate": 0.06})
    assert named.rate(3, 3) == 0.06, "a last rate that is named wins"


def test_recipes_of_before_keep_their_meaning() -> None:
    graph = {"base": "lightgcn"}
    new = build_config(graph).recipe
    assert (new.batch_size, new.learning_rate, new.rate(30, 30)) == (32000, 0.12, pytest.approx(0.03))
    assert build_config({"base": "mgdcf"}).recipe.learning_rate == 0.24
    assert build_config({"base": "mgdcf", "recipe": {"learning_rate": 0.1}}).recipe.learning_rate == 0.1
    assert build_config({"base": "mgdcf", "recipe": "fall-100"}).recipe.learning_rate == 0.08
    old = build_config({**graph, "recipe": "fall-100"}).recipe
    assert (old.batch_size, old.learning_rate, old.rate(30, 30)) == (8000, 0.08, pytest.approx(8e-4))
    assert build_config({**graph, "recipe": "paper-rate"}).recipe.rate(30, 30) == pytest.approx(8e-4)
    paper = build_config({**graph, "recipe": "paper"}).recipe
    assert (paper.batch_size, paper.rate(2, 500)) == (8000, pytest.approx(0.01 * 0.995))
    published = build_config({**graph, "preset": "published-gowalla"}).recipe
    assert published.rate(1000, 1000) == 1e-3


def test_patience_counts_once_it_has_begun_and_from_the_last_best() -> None:
    stop = EarlyStop()
    seen = [(1, 0.5, False), (2, 0.4, False), (3, 0.4, True), (4, 0.3, True), (5, 0.6, True), (6, 0.5, True)]
    waited = []
    for epoch, score, counts in seen:
        stop.see(epoch, score, counts)
        waited.append(stop.waited)
    assert waited == [0, 0, 1, 2, 0, 1] and stop.best_epoch == 5


def test_base_history_has_a_recipe_of_its_own() -> None:
    plain, history = (build_config({"base": base}).recipe for base in ("lightgcn", "history"))
    assert plain.least_steps == 300
    assert history.epochs < plain.epochs and history.least_steps > 0 and history.rate_falls == "steps"
    assert build_config({"base": "history", "recipe": "paper"}).recipe.epochs == 500
    asked = build_config({"base": "history", "recipe": {"epochs": 2}}).recipe
    assert (asked.epochs, asked.least_steps, asked.learning_rate) == (2, 0, history.learning_rate)


def test_the_base_of_those_who_name_none() -> None:
    assert build_config({}).base == build_config({"recipe": {"epochs": 3}}).base == "history"
    assert build_config({}).recipe == build_config({"base": "history"}).recipe
    graph: list[dict] = [
        {"recipe": "paper"},
        {"recipe": {"preset": "paper-rate"}},
        {"preset": "paper-gowalla"},
    ]
    assert {build_config(one).base for one in [*graph, {"like": "paper"}]} == {"lightgcn"}
    assert build_config({}, user_rows=True).base == "lightgcn"
    assert build_config({"base": "mf"}, user_rows=True).base == "mf"


def test_who_says_how_long_or_in_which_batches_gets_that() -> None:
    graph = {"base": "lightgcn"}
    assert build_config(graph).recipe.least_steps == 300
    for given in ({"epochs": 3}, {"batch_size": 5000}, {"preset": "paper"}, {"preset": "paper-rate"}):
        assert build_config({**graph, "recipe": given}).recipe.least_steps == 0
    assert build_config({"base": "history", "recipe": {"batch_size": 5000}}).recipe.least_steps == 800
    assert build_config({"preset": "published-gowalla", "base": "mgdcf"}).recipe.least_steps == 0


def test_a_named_recipe_keeps_its_name_under_other_settings() -> None:
    """As a search of rates puts them on top of `recipe = "paper-rate"` in a queue file."""
    merged = merge({"base": "lightgcn", "recipe": "paper"}, {"recipe": {"learning_rate": 0.5}})
    assert merged["recipe"] == {"preset": "paper", "learning_rate": 0.5}
    config = build_config(merged)
    assert (config.recipe.epochs, config.recipe.learning_rate) == (500, 0.5)
    assert merge({"recipe": "paper"}, {"recipe": "default"})["recipe"] == "default"
