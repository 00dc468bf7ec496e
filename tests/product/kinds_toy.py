"""Users of kind 0..3 who like items of the same kind: small enough to train in a second, clear enough to learn."""

import numpy as np

N_USERS, N_ITEMS, KINDS = 48, 32, 4


def small_pairs() -> list[tuple[str, str]]:
    """Mostly items of one's own kind, and a few others."""
    rng = np.random.default_rng(0)
    return [
        (f"u{user:02d}", f"i{item:02d}")
        for user in range(N_USERS)
        for item in range(N_ITEMS)
        if rng.random() < (0.9 if user % KINDS == item % KINDS else 0.04)
    ]
