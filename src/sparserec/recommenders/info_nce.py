"""InfoNCE between two views of the same nodes: each row should be nearest to its own twin.

    loss = mean_i -log softmax_j( cos(left_i, right_j) / temperature )_i

All pairs are compared, but only a stretch of rows at a time: memory is one (stretch, n) matrix, never (n, n).
"""

from __future__ import annotations

import numpy as np
import torch

from sparserec.graph import Buffers

CHUNK_BYTES = 8 << 20
LARGEST_EXPONENT = 60.0
"""Cosines over a temperature are at most one over it: up to here sums of exponentials fit float32 as they are."""


def info_nce(
    left: np.ndarray,
    right: np.ndarray,
    temperature: float,
    chunk_bytes: int = CHUNK_BYTES,
    buffers: Buffers | None = None,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Mean loss over the rows, and its gradients on both views, each (n, dim). Scores are kept in `buffers`."""
    count, buffers = len(left), buffers or Buffers()
    rows, row_lengths = _normalise(left)
    twins, twin_lengths = _normalise(right)
    row_slopes, twin_slopes = torch.empty_like(rows), torch.zeros_like(twins)
    stretch, total = max(1, chunk_bytes // (count * left.itemsize)), 0.0
    for first in range(0, count, stretch):
        part, twin = rows[first : first + stretch], twins[first : first + stretch]
        scores = torch.from_numpy(buffers.array("scores", (len(part), count), left.dtype))
        torch.mm(part / temperature, twins.T, out=scores)
        own = scores.diagonal(first).clone()
        top: torch.Tensor | float = 0.0
        if 1.0 / temperature > LARGEST_EXPONENT:
            top = scores.amax(1, keepdim=True)
            scores.sub_(top)
        shares = scores.exp_()
        sums = shares.sum(1, keepdim=True)
        total += float((sums.log() + top).double().sum() - own.double().sum())
        torch.mm(shares, twins, out=row_slopes[first : first + stretch])
        row_slopes[first : first + stretch].div_(sums).sub_(twin)
        twin_slopes.addmm_(shares.T, part / sums)
        twin_slopes[first : first + stretch].sub_(part)
    weight = 1.0 / (temperature * count)
    return (
        total / count,
        _through_normalise(row_slopes.mul_(weight), rows, row_lengths),
        _through_normalise(twin_slopes.mul_(weight), twins, twin_lengths),
    )


def _normalise(view: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Unit rows and one over their lengths; a zero row stays zero."""
    vectors = torch.from_numpy(view)
    lengths = vectors.norm(dim=1, keepdim=True)
    inverse = torch.where(lengths > 0, 1.0 / lengths, 0.0)
    return vectors * inverse, inverse


def _through_normalise(slopes: torch.Tensor, unit: torch.Tensor, inverse: torch.Tensor) -> np.ndarray:
    """Gradient on the rows from that on the unit rows; none for a zero row, which has no direction to turn."""
    along = (slopes * unit).sum(1, keepdim=True)
    return slopes.addcmul_(unit, along, value=-1.0).mul_(inverse).numpy()
