"""Smaller batches on a small log: steps that a recipe asks for at least come from them before they come from epochs."""

from __future__ import annotations

from sparserec.planning.sizes import Sizes
from sparserec.recommenders import make_recommender
from sparserec.training import RunConfig

SMALLEST = 1000
"""Edges of a step: no fewer were tried."""


def settle_batches(config: RunConfig, sizes: Sizes) -> tuple[RunConfig, str | None]:
    """The configuration with batches so small that its epochs have the least steps of the recipe, and a word about it.

    On a log of 24,000 edges 300 steps of small batches were as good as 435 of large ones in more epochs, in a quarter
    of the time (docs/log.md). A base whose users have no rows draws users and has a rule of its own.
    """
    recipe = config.recipe
    if not recipe.least_steps or not make_recommender(config.base, config.base_settings).user_rows:
        return config, None
    wanted = max(SMALLEST, sizes.train * recipe.epochs // recipe.least_steps)
    if wanted >= recipe.batch_size:
        return config, None
    note = (
        f"a small log: batches of {wanted:,} instead of {recipe.batch_size:,}, for {recipe.least_steps} steps at least "
        f"(`recipe.batch_size={recipe.batch_size}` keeps them)"
    )
    return config.model_copy(update={"recipe": recipe.model_copy(update={"batch_size": wanted})}), note
