"""How items are written into a file: one kind of encoding in each module, and what tables are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.encodings.base import DEFAULT, EncodedVectors, Encoding, Kind, VectorKind
    from sparserec.encodings.lists import EncodedLists, top_of_lists
    from sparserec.encodings.material import Chosen, Learnt, Material, as_read, encode
    from sparserec.encodings.registry import ENCODINGS, all_encodings, find_encoding, learnable

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "base": ("DEFAULT", "EncodedVectors", "Encoding", "Kind", "VectorKind"),
        "lists": ("EncodedLists", "top_of_lists"),
        "material": ("Chosen", "Learnt", "Material", "as_read", "encode"),
        "registry": ("ENCODINGS", "all_encodings", "find_encoding", "learnable"),
    },
)
