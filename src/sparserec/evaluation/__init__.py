"""How good a model is: streaming full ranking, metrics, and whether a difference means anything."""

from sparserec.evaluation.evaluation import Evaluation, evaluate, evaluate_scorer
from sparserec.evaluation.metrics import (
    GROUPS,
    METRICS,
    Listed,
    coverage,
    per_user,
    popularity_thirds,
    summarise,
)
from sparserec.evaluation.ranking import (
    NO_ITEM,
    Listing,
    Scorer,
    UserVectors,
    tile_shape,
    top_items,
    top_scored,
)
from sparserec.evaluation.significance import Comparison, Spread, compare, holm, paired, seed_spread

__all__ = [
    "GROUPS",
    "METRICS",
    "NO_ITEM",
    "Comparison",
    "Evaluation",
    "Listed",
    "Listing",
    "Scorer",
    "Spread",
    "UserVectors",
    "compare",
    "coverage",
    "evaluate",
    "evaluate_scorer",
    "holm",
    "paired",
    "per_user",
    "popularity_thirds",
    "seed_spread",
    "summarise",
    "tile_shape",
    "top_items",
    "top_scored",
]
