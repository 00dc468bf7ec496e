"""How good a model is: streaming full ranking, metrics, and whether a difference means anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.evaluation.metrics import (
        GROUPS,
        METRICS,
        Evaluation,
        Listed,
        coverage,
        evaluate,
        evaluate_scorer,
        per_user,
        popular_share,
        popular_tenth,
        popularity_thirds,
        some_users,
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
    from sparserec.evaluation.significance import (
        Comparison,
        Spread,
        UserValues,
        holm,
        paired,
        paired_by_id,
        seed_spread,
    )

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "metrics": (
            "GROUPS",
            "METRICS",
            "Evaluation",
            "Listed",
            "coverage",
            "evaluate",
            "evaluate_scorer",
            "per_user",
            "popular_share",
            "popular_tenth",
            "popularity_thirds",
            "some_users",
            "summarise",
        ),
        "ranking": ("NO_ITEM", "Listing", "Scorer", "UserVectors", "tile_shape", "top_items", "top_scored"),
        "significance": (
            "Comparison",
            "Spread",
            "UserValues",
            "holm",
            "paired",
            "paired_by_id",
            "seed_spread",
        ),
    },
)
