"""What a device would see of a trained model: final and fold-in vectors, cut and quantised, and how good they are."""

from sparserec.vectors.encoding import DEFAULT, KINDS, EncodedVectors, Encoding, as_read, cut, encode
from sparserec.vectors.fold_in import fold_in_users, fold_taps, user_history
from sparserec.vectors.neighbours import EncodedLists, Neighbours
from sparserec.vectors.propagate import Vectors, make_vectors
from sparserec.vectors.quality import (
    default_export_quality,
    encoded_quality,
    made_quality,
    new_user_quality,
    popularity_quality,
    rank_quality,
    some_users,
)

__all__ = [
    "DEFAULT", "KINDS", "EncodedLists", "EncodedVectors", "Encoding", "Neighbours", "Vectors", "as_read", "cut", "default_export_quality", "encode", "encoded_quality",
    "fold_in_users", "fold_taps", "made_quality", "make_vectors", "new_user_quality", "popularity_quality", "rank_quality", "some_users",
    "user_history",
]  # fmt: skip
