"""Presets are data, so they are checked against what they configure and against the published figures."""

from __future__ import annotations

import pytest

from sparserec.recommenders import PRESETS, RECOMMENDERS, make_recommender
from sparserec.training.config import Recipe, build_config

ALL = [(base, name) for base, presets in PRESETS.items() for name in presets]


def recipe_of(base: str, name: str) -> Recipe:
    return build_config({"base": base, "preset": name}).recipe


@pytest.mark.parametrize("base, name", ALL)
def test_every_preset_is_accepted_by_base_and_recipe(base: str, name: str) -> None:
    preset = PRESETS[base][name]
    assert set(preset) == {"dim", "base_settings", "recipe"}
    make_recommender(base, preset["base_settings"])
    recipe = recipe_of(base, name)
    if name.startswith("paper-"):
        assert (preset["dim"], recipe.batch_size, recipe.learning_rate) == (128, 8000, 0.01)


def test_every_base_has_the_papers_settings_for_both_data_sets() -> None:
    of_the_paper = [base for base in RECOMMENDERS if base != "history"]
    assert all({"paper-gowalla", "paper-yelp2018"} <= set(PRESETS[base]) for base in of_the_paper)


def test_learning_rates_fall_as_published() -> None:
    gowalla = recipe_of("mgdcf", "published-gowalla")
    assert gowalla.rate(1379, gowalla.epochs) == pytest.approx(1e-5, rel=0.01)
    paper = recipe_of("lightgcn", "paper-yelp2018")
    assert paper.rate(3, 500) == pytest.approx(0.01 * 0.99**2) and paper.rate(500, 500) == 5e-4
