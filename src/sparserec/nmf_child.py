"""Child process of exploration/nmf.py: reads pairs, runs coordinate descent, writes the non-zeros. A line per
iteration.

It stands outside its package because importing that would load torch, which takes more memory than the factorisation.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from typing import Any

import numpy as np

Entries = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Rows, columns and values of entries."""
SWEEPS = 3
"""Passes of coordinate descent over users outside the sample, the items' factor being fixed."""
USERS_AT_ONCE = 50_000
MOST_OF_A_ROW = 0.25
"""Share of such a user's entries that is kept, the largest ones: a first support has no use for more."""


def start_factors(shape: tuple[int, int], pairs: int, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random factors of a (users, items) matrix with so many ones, at scikit-learn's scale for init="random"."""
    rng = np.random.default_rng(seed)
    scale = math.sqrt(pairs / (shape[0] * shape[1]) / rank)
    users = np.abs(scale * rng.standard_normal((shape[0], rank), np.float32)).astype(np.float32)
    items = np.abs(scale * rng.standard_normal((rank, shape[1]), np.float32)).astype(np.float32)
    return users, items


def iterate(matrix: Any, users: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One iteration of coordinate descent; many calls are the same descent as one call of many."""
    return _descend(matrix, items, W=users, max_iter=1)


def main(pairs_path: str, out_path: str, rank: int, iterations: int, seed: int, most_users: int) -> None:
    """Factorise and write `rows, columns, values, info` to an npz file.

    Where there are more than `most_users` users the items' factor comes from a sample of so many, and every user's row
    from a few passes with that factor fixed, a chunk of users at a time: nothing of (users, rank) is made.
    """
    import sklearn.decomposition  # noqa: F401  before the clock starts

    from sparserec.process import PeakMeter

    with PeakMeter() as meter:
        matrix = read_matrix(pairs_path)
        start, n_users = time.monotonic(), matrix.shape[0]
        sampled = n_users > most_users
        some = matrix
        if sampled:
            some = matrix[np.sort(np.random.default_rng(seed).permutation(n_users)[:most_users])]
        users, items = start_factors(some.shape, some.nnz, rank, seed)
        for _ in range(iterations):
            users, items = iterate(some, users, items)
            print(
                f"density {np.count_nonzero(users) / users.size:.3f} {np.count_nonzero(items) / items.size:.3f}",
                flush=True,
            )
        of_users = users_given_items(matrix, items) if sampled else non_zeros(users)
        of_items = non_zeros(items.T)
        found = {
            "rows": np.concatenate([of_users[0], of_items[0] + np.int32(n_users)]),
            "columns": np.concatenate([of_users[1], of_items[1]]),
            "values": np.concatenate([of_users[2], of_items[2]]),
        }
    info = {
        "seconds": time.monotonic() - start,
        "peak_bytes": meter.peak,
        "density_users": len(of_users[0]) / (n_users * rank),
        "density_items": len(of_items[0]) / items.size,
        "iterations": iterations,
    }
    with open(out_path, "wb") as file:
        np.savez(file, info=np.array(json.dumps(info)), **found)  # type: ignore[arg-type]


def read_matrix(path: str) -> Any:
    """Users by items with ones, as CSR; the pairs are sorted by user, then item, so they are its rows already."""
    import scipy.sparse

    with np.load(path, allow_pickle=False) as pairs:
        n_users, n_items = (int(size) for size in pairs["shape"])
        ends = np.cumsum(np.bincount(pairs["users"], minlength=n_users), dtype=np.int32)
        items = pairs["items"]
    ones, offsets = np.ones(len(items), np.float32), np.concatenate([np.zeros(1, np.int32), ends])
    return scipy.sparse.csr_matrix((ones, items, offsets), shape=(n_users, n_items))


def users_given_items(matrix: Any, items: np.ndarray) -> Entries:
    """The largest entries of the users' factor when that of the items is fixed."""
    found, most = [], max(1, int(MOST_OF_A_ROW * len(items)))
    for first in range(0, matrix.shape[0], USERS_AT_ONCE):
        chunk = _descend(matrix[first : first + USERS_AT_ONCE], items, update_H=False, max_iter=SWEEPS)[0]
        chunk[chunk < -np.partition(-chunk, most - 1, axis=1)[:, most - 1 : most]] = 0.0
        rows, columns, values = non_zeros(chunk)
        found.append((rows + np.int32(first), columns, values))
    rows, columns, values = (np.concatenate(part) for part in zip(*found))
    return rows, columns, values


def non_zeros(factor: np.ndarray) -> Entries:
    """The entries above 0."""
    rows, columns = np.nonzero(factor)
    return rows.astype(np.int32), columns.astype(np.int16), factor[rows, columns]


def _descend(matrix: Any, items: np.ndarray, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.decomposition import non_negative_factorization

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "maximum number of iterations reached" is the plan, not a problem
        users, items, _ = non_negative_factorization(
            matrix, H=items, init="custom", n_components=len(items), tol=0.0, solver="cd", **options
        )
    return users, items


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(word) for word in sys.argv[3:7]))
