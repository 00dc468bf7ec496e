"""Initial values of a table: a pure function of (seed, row, column), so that a rewind needs no stored copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparserec import streams
from sparserec.counter import key_of, normal_at, uniform_at


@dataclass(frozen=True)
class InitialValues:
    """Random values per position; `user_scale` and `item_scale` are a standard deviation or a bound."""

    seed: int
    shape: Literal["normal", "uniform"]
    user_scale: float
    item_scale: float

    def at(self, rows: np.ndarray, columns: np.ndarray, n_users: int) -> np.ndarray:
        """float32 values at the given positions of the stacked table (users first)."""
        draw = normal_at if self.shape == "normal" else uniform_at
        values = draw(key_of(self.seed, streams.INITIAL), rows, columns, 1.0)
        values *= np.where(rows < n_users, np.float32(self.user_scale), np.float32(self.item_scale))
        return values
