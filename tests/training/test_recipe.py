"""What the recipe says reaches the training: rates, decay, patience, and which table is kept."""

from __future__ import annotations

import numpy as np
import pytest

from sparserec.data import Batch, Interactions
from sparserec.graph import build_adjacency
from sparserec.recommenders import make_recommender
from sparserec.table import DenseTable, Shape
from sparserec.training.recipe import RECIPES, EarlyStop, Recipe
from sparserec.training.step import Stepper

TRAIN = Interactions.from_pairs([0, 0, 1], [0, 1, 1])  # two users, two items


def stepper_of(blocks: list[np.ndarray], weight_decay: float = 0.0) -> Stepper:
    """Matrix factorisation of the given rows, without the base's own decay."""
    shape = Shape(2, 2, sum(block.shape[1] for block in blocks), blocks[0].shape[1])
    table = DenseTable(shape, [block.astype(np.float32) for block in blocks])
    base = make_recommender("mf", {"decay": 0.0})
    return Stepper(base, build_adjacency(TRAIN), table, 0, weight_decay=weight_decay)


def batch() -> Batch:
    return Batch(np.array([0], np.int32), np.array([0], np.int32), np.array([[1]], np.int32))


def test_the_rate_falls_geometrically_to_its_last_value() -> None:
    recipe = Recipe(epochs=5, learning_rate=0.16, final_learning_rate=0.01)
    assert [recipe.rate(epoch, 5) for epoch in range(1, 6)] == pytest.approx([0.16, 0.08, 0.04, 0.02, 0.01])
    assert recipe.rate(1, 5, 0.02) == 0.02 and recipe.rate(3, 5, 0.005) == 0.005, "never up to the last value"
    paper = Recipe.parse(RECIPES["paper"])
    assert paper.rate(1, 500) == 0.01 and paper.rate(2, 500) == pytest.approx(0.00995)
    assert (paper.explore_every, Recipe().explore_every) == (5, None)


def test_weight_decay_is_adams_own_on_every_entry() -> None:
    """Rows outside the batch, which have no other gradient, shrink by the learning rate; without it they stay."""
    rows = np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.5], [1.0, 1.0]])
    for decay, moved in ((0.0, 0.0), (1e-4, 0.01)):
        stepper = stepper_of([rows], decay)
        loss = stepper.run(batch(), 1, 0.01)
        outside = stepper.table.values[0][1]  # type: ignore[attr-defined]
        np.testing.assert_allclose(outside, [3.0 - moved, -4.0 + moved], atol=1e-6)
        penalty = 0.5 * decay * float((rows**2).sum())
        assert loss == pytest.approx(np.log1p(np.exp(3.0 - 1.5)) + penalty)


def test_a_step_sums_scores_by_the_blocks_of_its_table() -> None:
    """(2^24 - 2^24) + (1 + 1) in blocks of two; from the left with all four, 2^24 + 1 would have lost the one."""
    user = np.array([[2.0**24, -(2.0**24), 1.0, 1.0]])
    rows = np.concatenate([user, np.zeros((1, 4)), np.ones((1, 4)), np.zeros((1, 4))])
    loss = stepper_of([rows[:, :2], rows[:, 2:]]).run(batch(), 1, 0.01)
    assert loss == np.log1p(np.exp(-2.0))
    rows = rows[:, [0, 2, 1, 3]]  # 2^24 + 1, then -2^24 + 1: one is lost in the first block
    assert stepper_of([rows[:, :2], rows[:, 2:]]).run(batch(), 1, 0.01) == np.log1p(np.exp(-1.0))


def test_patience_counts_only_when_it_may_and_a_new_size_begins_anew() -> None:
    early = EarlyStop()
    assert early.see(1, 0.5, False, 10) and not early.see(2, 0.4, False, 10) and early.waited == 0
    assert not early.see(3, 0.4, True, 10) and early.waited == 1
    assert early.see(4, 0.3, True, 8), "a table of another size: its own best, though lower"
    assert (early.best_score, early.best_epoch, early.waited) == (0.3, 4, 0)
