"""Child process of exploration/nmf.py: reads pairs, runs coordinate descent, writes the non-zeros. A line per
iteration.

It stands outside its room because importing the room would load torch, which takes more memory than the factorisation.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from typing import Any

import numpy as np


def start_factors(shape: tuple[int, int], pairs: int, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random factors of a (users, items) matrix with so many ones, at scikit-learn's scale for init="random"."""
    rng = np.random.default_rng(seed)
    scale = math.sqrt(pairs / (shape[0] * shape[1]) / rank)
    users = np.abs(scale * rng.standard_normal((shape[0], rank), np.float32)).astype(np.float32)
    items = np.abs(scale * rng.standard_normal((rank, shape[1]), np.float32)).astype(np.float32)
    return users, items


def iterate(matrix: Any, users: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One iteration of coordinate descent; many calls are the same descent as one call of many."""
    from sklearn.decomposition import non_negative_factorization

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "maximum number of iterations reached" is the plan, not a problem
        users, items, _ = non_negative_factorization(
            matrix,
            W=users,
            H=items,
            init="custom",
            n_components=users.shape[1],
            max_iter=1,
            tol=0.0,
            solver="cd",
        )
    return users, items


def main(pairs_path: str, out_path: str, rank: int, iterations: int, seed: int) -> None:
    """Factorise and write `rows, columns, values, info` to an npz file."""
    import scipy.sparse
    import sklearn.decomposition  # noqa: F401  before the clock starts

    from sparserec.memory import PeakMeter, resident_bytes

    with np.load(pairs_path, allow_pickle=False) as pairs:
        shape = int(pairs["shape"][0]), int(pairs["shape"][1])
        ones = np.ones(len(pairs["users"]), np.float32)
        matrix = scipy.sparse.csr_matrix((ones, (pairs["users"], pairs["items"])), shape=shape)
    start, before = time.monotonic(), resident_bytes()
    users, items = start_factors(shape, len(ones), rank, seed)
    with PeakMeter() as meter:
        for _ in range(iterations):
            users, items = iterate(matrix, users, items)
            print(
                f"density {np.count_nonzero(users) / users.size:.3f} {np.count_nonzero(items) / items.size:.3f}",
                flush=True,
            )
    info = {
        "seconds": time.monotonic() - start,
        "peak_bytes": meter.peak - before,
        "density_users": np.count_nonzero(users) / users.size,
        "density_items": np.count_nonzero(items) / items.size,
        "iterations": iterations,
    }
    user_rows, user_columns = np.nonzero(users)
    item_rows, item_columns = np.nonzero(items.T)
    with open(out_path, "wb") as file:
        np.savez(
            file,
            rows=np.concatenate([user_rows, item_rows + shape[0]]).astype(np.int32),
            columns=np.concatenate([user_columns, item_columns]).astype(np.int16),
            values=np.concatenate([users[user_rows, user_columns], items.T[item_rows, item_columns]]),
            info=np.array(json.dumps(info)),
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
