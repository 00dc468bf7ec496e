"""Batches of users, for losses that look at whole histories; a pure function of (seed, epoch, step) like `Sampler`."""

from __future__ import annotations

import numpy as np

from sparserec import streams
from sparserec.data.errors import SamplingError
from sparserec.data.interactions import Interactions

FEWEST_ITEMS = 2
"""A user with one item has nothing it could be predicted from."""


class UserSampler:
    """Every user with at least two train items once per epoch in random order; the last batch may be short."""

    def __init__(self, train: Interactions, batch_size: int, seed: int) -> None:
        self.batch_size, self.seed = batch_size, seed
        self._users = np.flatnonzero(train.user_counts() >= FEWEST_ITEMS).astype(np.int32)
        if len(self._users) == 0:
            raise SamplingError(
                "no user has two train items, so no item can be predicted from the others of its user; "
                "train another base than history, or bring a longer log"
            )
        self._epoch, self._order = -1, self._users

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self._users) // self.batch_size)

    def batch(self, epoch: int, step: int) -> np.ndarray:
        """User numbers of one step, int32; 0 <= step < steps_per_epoch."""
        if not 0 <= step < self.steps_per_epoch:
            raise SamplingError(f"step {step} is outside an epoch of {self.steps_per_epoch} steps")
        if epoch != self._epoch:
            stream = np.random.SeedSequence([streams.USER_ORDER, self.seed, epoch])
            self._order = np.random.Generator(np.random.Philox(stream)).permutation(self._users)
            self._epoch = epoch
        return self._order[step * self.batch_size : (step + 1) * self.batch_size]
