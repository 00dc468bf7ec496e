"""Final and fold-in vectors of a trained model, and how good they are: as float numbers, and as a file has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.vectors.propagate import (
        FoldIn,
        Vectors,
        fold_taps,
        make_vectors,
        propagate_all,
        scaled_rows,
        user_history,
    )
    from sparserec.vectors.quality import (
        PerUser,
        encoded_quality,
        evaluate_part,
        evaluate_test,
        folded_users,
        made_quality,
        new_user_quality,
        popularity_quality,
        rank_quality,
        some_users,
    )

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "propagate": (
            "FoldIn",
            "Vectors",
            "fold_taps",
            "make_vectors",
            "propagate_all",
            "scaled_rows",
            "user_history",
        ),
        "quality": (
            "PerUser",
            "encoded_quality",
            "evaluate_part",
            "evaluate_test",
            "folded_users",
            "made_quality",
            "new_user_quality",
            "popularity_quality",
            "rank_quality",
            "some_users",
        ),
    },
)
