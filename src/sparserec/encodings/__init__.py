"""How items are written into a file, one kind of encoding in each module, and how good vectors and files are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.encodings.base import (
        SHOWN,
        EncodedVectors,
        Encoding,
        Kind,
        VectorKind,
        stored_name,
    )
    from sparserec.encodings.lists import Encoded, EncodedLists, top_of_lists
    from sparserec.encodings.material import Chosen, Learnt, Material, encode
    from sparserec.encodings.quality import (
        FileQuality,
        PerUser,
        evaluate_part,
        evaluate_test,
        popularity_quality,
        rank_quality,
    )
    from sparserec.encodings.registry import ENCODINGS, all_encodings, find_encoding, learnable

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
