"""Learning what is shipped: codes of an encoding with the loss that the vectors were trained with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparserec.data import Interactions
from sparserec.device import code_rows, encode_coded, encode_codes
from sparserec.progress import progress
from sparserec.recommenders import History
from sparserec.training import MoreSteps, learn_codes, learn_rows
from sparserec.vectors import (
    BOOK_BITS,
    EncodedVectors,
    Encoding,
    Vectors,
    dealt,
    has_unit_rows,
    product_codes,
)

ROW_STEPS, CODE_STEPS = 120, 60
"""An epoch of Gowalla, and half of one: more steps gained next to nothing there (docs/log.md)."""

Learnt = Callable[[np.ndarray], EncodedVectors]
"""What goes into a file that knows some items only."""


def learn_encoding(
    vectors: Vectors, encoding: Encoding, base: History, train: Interactions, quiet: bool
) -> Learnt:
    """Learn on all items; a file may leave some of them out afterwards. Rows have their entries dealt first."""
    steps = CODE_STEPS if encoding.kind == "codes" else ROW_STEPS
    more = MoreSteps(base, vectors.graph, train, steps)
    with progress(f"learning {encoding.label}", steps, quiet) as bar:
        if encoding.kind == "codes":
            codes = learn_codes(vectors.items, product_codes(vectors.items, encoding.keep), more, bar)
            return lambda items: EncodedVectors(
                encode_codes(codes.code[items], codes.book, BOOK_BITS), (), codes.axes
            )
        short = dealt(vectors.items, encoding.keep, train.item_counts())
        rows = learn_rows(code_rows(short, encoding.bits), more, bar)
        unit = has_unit_rows(vectors.items)
        return lambda items: EncodedVectors(encode_coded(rows.take(items), encoding.bits, unit=unit), ())
