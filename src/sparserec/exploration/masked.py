"""One exploration of a dense table under a mask, over users and items as one table, as DSL's released code does it."""

from __future__ import annotations

import math

import numpy as np

from sparserec.exploration.prune_and_regrow import Exploration
from sparserec.exploration.select import take_largest
from sparserec.table import MaskedTable


def prune_and_regrow_masked(table: MaskedTable, drop_fraction: float) -> Exploration:
    """Drop ceil(fraction * active) entries of smallest magnitude, activate as many by the last batch's gradient.

    Entries dropped just now may come back and then keep their value. Moments are not touched.
    """
    shape, before = table.shape, table.support()
    rows, everywhere = np.arange(shape.n_rows, dtype=np.int32), (0, shape.n_rows)
    active = sum(map(len, before))
    dropped = math.ceil(drop_fraction * active)
    scores = np.abs(table.dense.matrix())
    scores[~np.concatenate(table.active, axis=1)] = -1.0
    kept = take_largest(scores, rows, everywhere, shape.blocks, active - dropped)
    np.abs(np.concatenate(table.gradient, axis=1), out=scores)
    for (start, width), positions in zip(shape.blocks, kept):
        scores[positions // width, start + positions % width] = -1.0
    grown = take_largest(scores, rows, everywhere, shape.blocks, dropped)
    again = sum(len(np.intersect1d(old, new, assume_unique=True)) for old, new in zip(before, grown))
    table.set_active([np.concatenate(pair) for pair in zip(kept, grown)])
    of_users = sum(int((new < shape.n_users * width).sum()) for new, (_, width) in zip(grown, shape.blocks))
    return Exploration(dropped, sum(map(len, grown)), of_users, again, table.parameters())
