"""The loss every base can be trained with: BPR plus L2 on the layer-0 rows of the batch.

It is LightGCN's own loss, matrix factorisation's, and what "loss = bpr" means for the others: their propagation, noise
and dropout stay, their own loss and regulariser do not.
"""

from __future__ import annotations

import numpy as np

from sparserec.recommenders.base import Loss, RowBatch
from sparserec.recommenders.losses import bpr


def plain_bpr(vectors: np.ndarray, rows: RowBatch, decay: float) -> Loss:
    """mean softplus(z_u.z_n - z_u.z_p) + decay/(2B) * sum |e|^2 over the rows of every triple."""
    triples = rows.users, rows.positives, rows.negatives[:, 0]
    value, gradient = bpr(vectors, *triples, rows.width, rows.gather)
    return Loss(value, [gradient], ego_decay=decay / len(rows))
