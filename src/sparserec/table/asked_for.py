"""Gradients of inactive entries that a method has asked a sparse table for, until the next exploration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Candidates:
    """Rows whose inactive entries may be activated, and their gradient so far."""

    rows: np.ndarray  # int32, ascending; those that other processes hold too
    here: slice  # which of them are held here
    accumulated: np.ndarray  # float32 (rows held here, columns held here)
    cumulative: bool  # sum over steps, or the last step's gradient only

    @property
    def held_rows(self) -> np.ndarray:
        """Rows of `accumulated`."""
        return self.rows[self.here]


@dataclass
class Watched:
    """Inactive entries whose gradient in the next batch is asked for."""

    positions: np.ndarray  # int32, as those of the table
    bounds: np.ndarray
    gradient: np.ndarray  # float32, aligned with positions
