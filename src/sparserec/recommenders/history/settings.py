"""Settings of base `history`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sparserec.settings import Between, Settings

TEMPERATURE = 0.2
"""Where none is given and none is chosen."""


class HistorySettings(Settings):
    temperature: Annotated[float | None, Between(0.05, 4.0, log=True)] = Field(None, gt=0)
    """Scores are divided by it, times the mean length of items' vectors, before the softmax; None: chosen on
    validation by short trainings, .2 without validation.
    """
    item_exponent: Annotated[float, Between(0.0, 0.5)] = Field(0.1, ge=0, le=1)
    """Weight of an item in a history: its number of users to minus this. The graph's normalisation would be .5."""
    length_exponent: Annotated[float | None, Between(0.0, 0.5)] = Field(None, ge=0, le=1)
    """Length of an item's vector: its number of users to this power; longer ones are recommended sooner. None: chosen
    on validation where the temperature is, else 0.
    """
    user_exponent: Annotated[float, Between(0.0, 1.0)] = Field(0.5, ge=0, le=1)
    """Weight of a user in the loss: the size of their history to this power. 0: users weigh the same, 1: pairs do."""
    history_dropout: Annotated[float, Between(0.0, 0.5)] = Field(0.0, ge=0, lt=1)
    """Share of a history left out of the user's vector in a training step; it is still to be predicted."""
    users_per_batch: int | None = Field(None, ge=1)
    """Users of a training step; None: 256, fewer where that would leave an epoch with fewer than 40 steps."""
    largest_softmax: int = Field(100_000_000, ge=1)
    """Items times users of a batch up to which the softmax runs over all items; beyond it over a sample of that size.
    """

    def batch_of(self, n_users: int) -> int:
        """Users of a training step where there are so many of them."""
        return self.users_per_batch or min(256, max(32, n_users // 40))
