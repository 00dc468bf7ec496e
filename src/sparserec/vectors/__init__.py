"""What a device would see of a trained model: final and fold-in vectors, cut and quantised, and how good they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.lazy import lazy_names

if TYPE_CHECKING:
    from sparserec.vectors.codebooks import ProductCodes, nearest_entries, product_codes
    from sparserec.vectors.encoding import (
        BOOK_BITS,
        DEFAULT,
        KINDS,
        LEARNABLE,
        OF_LOG,
        EncodedVectors,
        Encoding,
        as_read,
        cut,
        dealt,
        encode,
        has_unit_rows,
    )
    from sparserec.vectors.lists_of_log import ListsOfLog, choose_lists
    from sparserec.vectors.neighbours import EncodedLists, Neighbours
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
        default_export_quality,
        encoded_quality,
        evaluate_part,
        evaluate_test,
        folded_users,
        made_quality,
        new_user_quality,
        popularity_quality,
        rank_quality,
        score_spread,
        some_users,
    )
    from sparserec.vectors.weights_of_log import MOST_ITEMS, WeightsOfLog, choose_weights

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "codebooks": ("ProductCodes", "nearest_entries", "product_codes"),
        "encoding": (
            "BOOK_BITS",
            "DEFAULT",
            "KINDS",
            "LEARNABLE",
            "OF_LOG",
            "EncodedVectors",
            "Encoding",
            "as_read",
            "cut",
            "dealt",
            "encode",
            "has_unit_rows",
        ),
        "lists_of_log": ("ListsOfLog", "choose_lists"),
        "neighbours": ("EncodedLists", "Neighbours"),
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
            "default_export_quality",
            "encoded_quality",
            "evaluate_part",
            "evaluate_test",
            "folded_users",
            "score_spread",
            "made_quality",
            "new_user_quality",
            "popularity_quality",
            "rank_quality",
            "some_users",
        ),
        "weights_of_log": ("MOST_ITEMS", "WeightsOfLog", "choose_weights"),
    },
)
