"""What a table weighs on disk and what the device codec does to its values. The codec itself lives in device/."""

from __future__ import annotations

import numpy as np

SCALE_BYTES = 2  # one float16 per row


def quantise_matrix(matrix: np.ndarray, bits: int) -> np.ndarray:
    """Values after a round trip through the device codec."""
    from sparserec.device import fake_quantise

    return fake_quantise(matrix, bits)


def quantise_entries(values: np.ndarray, rows: np.ndarray, n_rows: int, bits: int) -> np.ndarray:
    """The same for flat entries of a sparse table."""
    from sparserec.device import fake_quantise_flat

    return fake_quantise_flat(values, rows, n_rows, bits)


def sparse_bytes(row_sizes: np.ndarray, dim: int, bits: int) -> int:
    """Codes, scales and the cheaper of bitmask and column indices, as the device file stores them."""
    entries, n_rows = int(row_sizes.sum()), len(row_sizes)
    index_bytes = 1 if dim <= 256 else 2
    mask = n_rows * -(-dim // 8)
    indices = entries * index_bytes + n_rows * index_bytes  # plus a count per row
    return -(-entries * bits // 8) + min(mask, indices) + n_rows * SCALE_BYTES


def dense_bytes(n_rows: int, dim: int, bits: int) -> int:
    """Codes and scales of a dense table."""
    return -(-n_rows * dim * bits // 8) + n_rows * SCALE_BYTES


def byte_matched_dim(n_rows: int, dim: int, density: float, bits: int = 8) -> int:
    """The largest dense dimension that is no bigger on disk than a sparse table of this density."""
    entries = round(density * n_rows * dim)
    even = np.full(n_rows, entries // n_rows)
    even[: entries - int(even.sum())] += 1
    budget = sparse_bytes(even, dim, bits) - n_rows * SCALE_BYTES
    return max(1, budget * 8 // (bits * n_rows))
